// conversation.js is the pane with the conversation: messages as rows, of which a window is drawn.
import {el, button, show, announce} from './dom.js';
import {Row} from './row.js';
import {mountAsk} from './ask.js';
import {mountComposer} from './composer.js';

const WINDOW = 120; // rows that are drawn at once
const MORE = 100;

export function mount(root, app) {
  const rows = new Map(); // key -> Row
  const earlier = button('', () => { from = Math.max(0, from - MORE); redraw(); }, {class: 'more'});
  const later = button('', () => { to += MORE; redraw(); }, {class: 'more'});
  const list = el('ol', {class: 'messages', aria: {label: 'Messages'}}), scroller = el('div', {class: 'scroller', tabindex: -1}, earlier, list, later);
  const ask = mountAsk(app), composer = mountComposer(app, problem);
  scroller.append(ask.root);
  root.append(scroller, composer.root);
  let from = 0, to = 0, moment = null, shown = [], stick = true, writing = '';

  scroller.addEventListener('scroll', () => { stick = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40; }, {passive: true});
  const context = {app, problem, edit: null};

  function problem(error) { composer.problem(error); }

  // visible are the messages that have a row: a result is in the card of its call.
  function visible(view) {
    const results = new Map(), calls = new Set();
    for (const m of view.messages) {
      if (m.role === 'tool') results.set(m.toolCallId, m);
      else if (m.toolCalls) for (const c of m.toolCalls) calls.add(c.id);
    }
    const all = [];
    view.messages.forEach((message, i) => {
      if (message.role === 'tool' && calls.has(message.toolCallId)) return;
      all.push({message, i, key: `${message.role === 'activity' || message.role === 'reasoning' ? message.role : 'm'}:${message.id}`});
    });
    return {all, results};
  }

  function redraw() { draw(moment, false); }

  function draw(now, move) {
    const before = moment?.view;
    moment = now;
    const {view, ops} = now, {all, results} = visible(view);
    const focus = move ? focusOf(all, results, view, ops, now) : -1;
    if (move && focus >= 0 && (focus < from || focus >= to || to - from < WINDOW)) {
      to = Math.min(all.length, Math.max(focus + WINDOW / 2, WINDOW));
      from = Math.max(0, to - WINDOW);
    }
    if (now.following && stick) [from, to] = [Math.max(0, all.length - WINDOW), all.length];
    to = Math.min(Math.max(to, from + WINDOW), all.length);
    from = Math.max(0, Math.min(from, to - 1));
    const changed = changedMessages(ops);
    context.names = new Map((view.subagents ?? []).map(s => [s.subagentRunId, s.name]));
    context.pending = new Set(view.pendingToolCallIds ?? []);
    const drawn = new Set();
    shown = all.slice(from, to);
    let at = list.firstChild;
    for (const {message, i, key: base} of shown) {
      let key = base;
      for (let k = 2; drawn.has(key); k++) key = `${base}#${k}`;
      drawn.add(key);
      let row = rows.get(key);
      if (!row) rows.set(key, row = new Row(message.role, context));
      row.update(message, results, view, changed.get(i) ?? (message.toolCalls?.some(c => changed.has(indexOfResult(view, changed, c.id))) ? [] : null), now);
      if (row.node !== at) list.insertBefore(row.node, at); else at = at.nextSibling;
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
    for (const key of rows.keys()) if (!drawn.has(key)) rows.delete(key);
    earlier.hidden = from === 0;
    earlier.textContent = `${from.toLocaleString('en')} earlier`;
    later.hidden = to >= all.length;
    later.textContent = `${(all.length - to).toLocaleString('en')} later`;
    ask.update(now);
    composer.update(now);
    if (move && !now.following && focus >= 0) rowAt(focus - from)?.scrollIntoView({block: 'nearest'});
    else if (stick && now.following) scroller.scrollTop = scroller.scrollHeight;
    if (before && now.following) speak(view);
  }

  const rowAt = i => list.children[i];

  // focusOf is the row that an event changed, or the last one.
  function focusOf(all, results, view, ops, now) {
    if (now.following || !ops.length) return now.following ? all.length - 1 : -1;
    for (const [i] of changedMessages(ops)) {
      let k = all.findIndex(r => r.i === i);
      if (k < 0) k = all.findIndex(r => r.message.toolCalls?.some(c => c.id === view.messages[i]?.toolCallId));
      if (k >= 0) return k;
    }
    return all.length && to === 0 ? all.length - 1 : -1;
  }

  // speak tells a screen reader what was said, once it is complete.
  function speak(view) {
    const last = view.messages.at(-1), id = last ? last.id + last.status : '';
    if (last?.role === 'assistant' && last.status === 'complete' && typeof last.content === 'string' && writing && writing !== id) announce(last.content.slice(0, 2000));
    writing = id;
  }

  return {
    show(now) { draw(now, true); },
    online(live) { composer.online(live); },
    // select scrolls to a message or a call and marks it for a moment.
    select(kind, id) {
      if (!moment) return;
      const {all} = visible(moment.view);
      const at = all.findIndex(({message: m, key}) => kind === 'call' ? m.toolCalls?.some(c => c.id === id) : m.id === id || key === id || `${m.role}:${m.id}` === id);
      if (at < 0) return announce(`${show(id, 40)} is not there at this event`);
      stick = false;
      if (at < from || at >= to) [from, to] = [Math.max(0, at - WINDOW / 2), at + WINDOW / 2];
      draw(moment, false);
      const node = rowAt(at - from);
      node.scrollIntoView({block: 'center'});
      node.classList.add('selected');
      setTimeout(() => node.classList.remove('selected'), 2000);
    },
  };
}

// changedMessages returns which messages operations change, by place, with the texts that were appended.
function changedMessages(ops) {
  const changed = new Map();
  for (const {op, path, value} of ops) {
    const found = /^\/messages\/(\d+)(.*)$/.exec(path);
    if (!found || op === 'remove') continue;
    const i = Number(found[1]);
    if (!changed.has(i)) changed.set(i, []);
    if (op === 'append') changed.get(i).push({at: found[2], value});
  }
  return changed;
}

// indexOfResult returns the place of the changed message that is the result of a call, -1 if none is.
function indexOfResult(view, changed, id) {
  for (const i of changed.keys()) if (view.messages[i]?.role === 'tool' && view.messages[i].toolCallId === id) return i;
  return -1;
}
