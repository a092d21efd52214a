// row.js is a message of the conversation: its text, its media, and the cards of its calls.
import {el, button, show} from './dom.js';
import {Markdown} from './markdown.js';
import {Card} from './card.js';
import {media} from './media.js';

const NAMES = {user: 'You', assistant: 'Assistant', system: 'System', developer: 'Developer', reasoning: 'Reasoning', activity: 'Activity', tool: 'Result'};
const MOST = 20_000; // characters of a value that are shown

// Row keeps the node of a message, and changes in it what has changed.
export class Row {
  constructor(role, context) {
    [this.role, this.context, this.cards, this.texts] = [role, context, [], []];
    this.owner = el('span', {class: 'chip owner', hidden: true});
    this.status = el('span', {class: 'chip', hidden: true});
    this.head = el('div', {class: 'who'}, el('b', {text: Object.hasOwn(NAMES, role) ? NAMES[role] : show(role, 30)}), this.owner, this.status);
    this.body = el('div', {class: 'body'});
    this.calls = el('div', {class: 'calls'});
    this.node = el('li', {class: 'msg', data: {role: show(role, 30)}}, this.head);
    if (role === 'reasoning' || role === 'system' || role === 'developer') {
      this.summary = el('summary', {});
      this.node.append(el('details', {}, this.summary, this.body));
    } else this.node.append(this.body, this.calls);
    if (role === 'user' && context.app.live) {
      this.edit = button('Edit', () => this.startEdit(), {class: 'edit quiet', title: 'Change this message and run again from here'});
      this.head.append(this.edit);
    }
  }

  update(message, results, view, changed, moment) {
    this.node.classList.toggle('changed', changed !== null && !moment.following);
    if (this.edit) this.edit.hidden = !moment.following || !['idle', 'waiting'].includes(view.phase);
    const calls = message.toolCalls ?? [];
    const same = message === this.message && calls.every((c, i) => results.get(c.id) === this.cards[i]?.result && this.context.pending.has(c.id) === this.cards[i]?.pending);
    if (!same) this.draw(message, calls, results);
    const tail = !moment.following && changed?.find(c => c.at.startsWith('/content'));
    if (tail) highlight(this.body, tail.value.length);
  }

  draw(message, calls, results) {
    this.message = message;
    this.node.dataset.status = message.status;
    this.node.dataset.id = show(message.id, 80);
    const owner = message.subagentRunId;
    this.owner.hidden = owner === undefined;
    if (owner !== undefined) this.owner.textContent = show(this.context.names.get(owner) || owner, 40);
    this.status.hidden = message.status !== 'cut';
    this.status.textContent = 'cut off';
    if (message.role === 'activity') this.activity(message);
    else this.content(message);
    if (this.summary) {
      const n = this.body.textContent.length;
      this.summary.textContent = message.status === 'streaming' ? `thinking… ${n.toLocaleString('en')} characters` : n ? `${n.toLocaleString('en')} characters` : message.encryptedValue ? 'encrypted' : 'empty';
    }
    calls.forEach((call, i) => {
      this.cards[i] ??= new Card(this.context);
      this.cards[i].update(call, results.get(call.id), this.context.pending.has(call.id));
      if (this.cards[i].node.parentNode !== this.calls) this.calls.append(this.cards[i].node);
    });
    for (const card of this.cards.splice(calls.length)) card.node.remove();
  }

  // content shows text and parts. A part that stays keeps its node.
  content({role, content}) {
    const parts = typeof content === 'string' ? [{type: 'text', text: content}] : Array.isArray(content) ? content : [];
    parts.forEach((part, i) => {
      let old = this.texts[i];
      if (old && (old.type !== part.type || part.type !== 'text' && old.part !== part)) {
        const at = old.node;
        old = null;
        this.texts[i] = this.part(part, role);
        at.replaceWith(this.texts[i].node);
      } else if (!old) {
        this.texts[i] = this.part(part, role);
        this.body.append(this.texts[i].node);
      }
      this.texts[i].part = part;
      if (part.type !== 'text') return;
      if (this.texts[i].markdown) this.texts[i].markdown.set(part.text);
      else this.texts[i].node.textContent = part.text;
    });
    for (const {node} of this.texts.splice(parts.length)) node.remove();
  }

  part(part, role) {
    if (part.type !== 'text') return {type: part.type, node: media(part)};
    const node = el('div', {class: role === 'user' ? 'plain-text' : 'prose', dir: 'auto'});
    return {type: 'text', node, markdown: role === 'user' ? null : new Markdown(node)};
  }

  activity({activityType, content}) {
    const text = JSON.stringify(content, null, 2) ?? '';
    this.body.replaceChildren(el('div', {class: 'card'}, el('div', {class: 'card-head'}, el('b', {text: show(activityType, 80)})),
      el('pre', {dir: 'auto', tabindex: 0, text: text.length > MOST ? text.slice(0, MOST) + '…' : text})));
  }

  // startEdit lets the user change the message; what follows it goes.
  startEdit() {
    const {app, problem} = this.context;
    const old = typeof this.message.content === 'string' ? this.message.content : (this.message.content ?? []).filter(p => p.type === 'text').map(p => p.text).join('\n');
    const field = el('textarea', {rows: Math.min(10, old.split('\n').length + 1), aria: {label: 'The message'}});
    field.value = old;
    const end = () => { form.remove(); this.body.hidden = false; this.edit.hidden = false; };
    const send = async event => {
      event.preventDefault();
      try {
        await app.live.edit(this.message.id, field.value);
        end();
      } catch (error) { problem(error); }
    };
    const form = el('form', {class: 'edit-form', on: {submit: send}}, field, el('div', {}, el('button', {text: 'Run again from here'}), ' ', button('Cancel', end)));
    this.body.hidden = this.edit.hidden = true;
    this.node.append(form);
    field.focus();
  }
}

// highlight marks the last characters of a node.
function highlight(node, count) {
  if (!globalThis.Highlight || !count) return;
  const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  let last = null;
  for (let at = node; (at = at.lastChild);) last = at;
  if (last?.nodeType !== Node.TEXT_NODE) return;
  const range = new Range();
  range.setEnd(last, last.length);
  walker.currentNode = last;
  for (let at = last, left = count; at; at = walker.previousNode()) {
    range.setStart(at, Math.max(0, at.length - left));
    if ((left -= at.length) <= 0) break;
  }
  CSS.highlights.set('delta', new Highlight(range));
}
