// compare.js shows how two recordings differ: where their events part, and both threads side by side.
import {el, button, show, announce} from './dom.js';
import {differing, marked} from './compare-words.js';

const SECTIONS = ['runs', 'messages', 'calls', 'state', 'usage', 'metadata', 'subagents', 'interrupts'];
const MOST = 200; // rows that are shown at once
const AROUND = 1; // messages shown before and after one that differs
const count = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`;

export function mount(root, app) {
  const body = el('div', {class: 'cmp'});
  root.append(body);
  if (app.exported) {
    body.append(el('p', {class: 'dim', text: 'This file holds one recording.'}));
    return {show() {}};
  }
  const choose = label => el('select', {aria: {label}, on: {change: () => run()}});
  const [a, b] = [choose('Recording A'), choose('Recording B')];
  const exact = el('input', {type: 'checkbox', on: {change: () => run()}});
  const parts = SECTIONS.map(name => el('label', {class: 'cmp-part'}, el('input', {type: 'checkbox', value: name, checked: true, on: {change: () => run()}}), ' ' + name));
  const result = el('div', {class: 'cmp-result', aria: {live: 'off'}});
  let asked = 0, drawn = '';

  body.append(
    el('div', {class: 'cmp-choose'}, el('label', {}, el('b', {class: 'cmp-a', text: 'A'}), ' ', a), button('⇄', swap, {title: 'Swap A and B', aria: {label: 'Swap A and B'}}), el('label', {}, el('b', {class: 'cmp-b', text: 'B'}), ' ', b)),
    el('details', {class: 'cmp-options'}, el('summary', {text: 'What counts'}), el('div', {class: 'cmp-parts'}, parts, el('label', {class: 'cmp-part'}, exact, ' ids as they are'))),
    result);

  function swap() {
    [a.value, b.value] = [b.value, a.value];
    run();
  }

  // fill lists the recordings.
  function fill() {
    const {logs, id} = app.source;
    for (const select of [a, b]) select.replaceChildren(...logs.map((log, i) => el('option', {value: log.id, text: show(log.mode === 'live' ? `${log.name} · conversation ${i + 1}` : log.name, 60)})));
    const other = logs.find(log => log.id !== id);
    a.value = id;
    if (other) b.value = other.id;
    [a.value, b.value] = logs.findIndex(l => l.id === a.value) <= logs.findIndex(l => l.id === b.value) ? [a.value, b.value] : [b.value, a.value];
    return other !== undefined;
  }

  async function run() {
    const mine = ++asked;
    const options = {ignore: parts.map(label => label.firstChild).filter(box => !box.checked).map(box => box.value)};
    if (exact.checked) options.ids = 'exact';
    result.replaceChildren(el('p', {class: 'dim', text: 'comparing…'}));
    try {
      const got = await app.source.compare(a.value, b.value, options);
      if (mine !== asked) return;
      draw(result, got, app);
      announce(verdict(got));
    } catch (error) {
      if (mine === asked) result.replaceChildren(el('p', {class: 'bad', text: show(error.message, 300)}), button('Try again', run));
    }
  }

  return {
    show() {
      const key = app.source.logs.map(log => log.id).join(' ') + ' ' + app.source.id;
      if (drawn === key) return;
      drawn = key;
      if (fill()) run();
      else result.replaceChildren(el('p', {class: 'dim', text: 'There is one recording. To compare two, open both: agfold web A B.'}));
    },
  };
}

const verdict = c => c.same ? 'No difference' : `${count(c.differences.length + c.more, 'difference')}`;

function draw(root, c, app) {
  root.replaceChildren(
    el('p', {class: c.same ? 'cmp-verdict good' : 'cmp-verdict', role: 'status'}, el('b', {text: verdict(c)}), c.same ? ', but for made-up ids and how texts were split' : ''),
    c.divergence ? parted(c, app) : c.why ? el('p', {class: 'dim', text: show(c.why, 300)}) : '',
    el('h3', {text: 'Runs'}), runs(c, app),
    el('h3', {text: 'Messages'}), rows(c),
    ...others(c));
}

// goTo is a button that shows a position of one of the two.
function goTo(app, side, n, label = `event ${n.toLocaleString('en')}`) {
  return button(label, () => app.source.id === side.id ? app.go(n) : app.openLog(side.id, n), {class: 'cmp-go', title: show(`Go there in ${side.name}`, 100)});
}

function parted({divergence: d, a, b}, app) {
  const [inA, inB] = pair(d.inA, d.inB);
  const side = (name, s, n, value) => el('div', {class: 'cmp-cell'}, el('div', {class: 'cmp-who'}, el('b', {class: `cmp-${name}`, text: name.toUpperCase()}), n ? goTo(app, s, n) : el('span', {class: 'dim', text: 'has ended'})), value);
  return el('section', {class: 'cmp-parted'},
    el('h3', {text: `The events part in run ${d.run}, at ${show(d.type, 60)} ${show(d.path, 100)}`}),
    el('div', {class: 'cmp-pair'}, side('a', a, d.a, inA), side('b', b, d.b, inB)));
}

// pair returns two values, with what differs marked; one that is not there is a dash.
function pair(a, b) {
  const [x, y] = a && b ? differing(a.text, b.text) : [a ? [[a.text, true]] : null, b ? [[b.text, true]] : null];
  const value = (e, pieces, tag) => e ? el('div', {class: 'cmp-value'}, e.before ? '…' : '', marked(pieces, tag), e.after ? '…' : '') : el('div', {class: 'dim', text: '—'});
  return [value(a, x, 'del'), value(b, y, 'ins')];
}

function runs(c, app) {
  const cell = (run, side) => run ? el('td', {}, el('span', {class: `chip ${show(run.status, 20)}`, text: run.status}), ' ', el('code', {text: show(run.id, 40)}), ' ', run.from ? goTo(app, side, run.from, `from ${run.from.toLocaleString('en')}`) : '') : el('td', {class: 'dim', text: '—'});
  return el('table', {class: 'cmp-runs'}, el('thead', {}, el('tr', {}, el('th', {text: ''}), el('th', {scope: 'col', text: 'A'}), el('th', {scope: 'col', text: 'B'}))),
    el('tbody', {}, c.runs.slice(0, MOST).map((r, i) => el('tr', {class: r.d ? 'cmp-differs' : ''}, el('th', {scope: 'row', text: i + 1}), cell(r.a, c.a), cell(r.b, c.b)))));
}

// rows shows the messages side by side. Those that are the same are folded, but for the neighbors of those that are not.
function rows(c) {
  const list = el('ol', {class: 'plain cmp-rows'});
  const near = c.rows.map(() => false);
  c.rows.forEach((row, i) => { if (row.d) for (let k = Math.max(0, i - AROUND); k <= Math.min(near.length - 1, i + AROUND); k++) near[k] = true; });
  let at = 0;
  const more = most => {
    let made = 0;
    for (; at < c.rows.length && made < most; made++) {
      if (near[at]) {
        list.append(row(c.rows[at++], c));
        continue;
      }
      const from = at;
      while (at < c.rows.length && !near[at]) at++;
      list.append(same(c.rows.slice(from, at), c));
    }
    if (at < c.rows.length) list.append(el('li', {}, button('Show more messages', event => { event.target.parentNode.remove(); more(MOST); })));
  };
  more(MOST);
  return list;
}

// same stands for messages that are the same.
function same(some, c) {
  return el('li', {class: 'cmp-same'}, button(some.length === 1 ? '1 message is the same' : `${some.length.toLocaleString('en')} messages are the same`, event => {
    const item = event.target.closest('li'), rest = some.slice(MOST);
    item.replaceWith(...some.slice(0, MOST).map(r => row(r, c)), ...rest.length ? [same(rest, c)] : []);
  }, {class: 'quiet'}));
}

function row(r, c) {
  const {inA, inB} = r;
  const [textA, textB] = inA && inB ? differing(inA.text, inB.text) : [inA && [[inA.text, true]], inB && [[inB.text, true]]];
  const calls = k => [inA?.calls?.[k], inB?.calls?.[k]];
  const argsOf = Array.from({length: Math.max(inA?.calls?.length ?? 0, inB?.calls?.length ?? 0)}, (_, k) => {
    const [x, y] = calls(k);
    return x && y ? differing(x.args, y.args) : [x && [[x.args, true]], y && [[y.args, true]]];
  });
  const cell = (m, place, name, text, tag, which) => m
    ? el('div', {class: 'cmp-cell'}, el('div', {class: 'cmp-who'}, el('b', {class: `cmp-${name}`, text: name.toUpperCase()}), el('span', {text: show(m.role, 20)}), el('span', {class: 'dim', text: `message ${place + 1}`}), m.owner ? el('span', {class: 'chip', text: show(m.owner, 40)}) : null),
      el('div', {class: 'cmp-text'}, marked(text, tag), m.more ? el('span', {class: 'dim', text: ` … ${m.more.toLocaleString('en')} more bytes`}) : ''),
      (m.calls ?? []).map((call, k) => el('div', {class: 'cmp-call'}, el('code', {text: show(call.name, 60)}), ' ', el('code', {}, marked(argsOf[k][which] ?? [], tag)), call.more ? ' …' : '')))
    : el('div', {class: 'cmp-cell cmp-none dim', text: `only in ${name === 'a' ? 'B' : 'A'}`});
  const about = (r.d ?? []).map(i => c.differences[i]).filter(d => !/\/(content|arguments|activityType|name)$/.test(d.pathA || d.pathB) && d.pathA !== '' && d.pathB !== '');
  return el('li', {class: r.d ? 'cmp-row cmp-differs' : 'cmp-row'},
    el('div', {class: 'cmp-pair'}, cell(inA, r.a, 'a', textA, 'del', 0), cell(inB, r.b, 'b', textB, 'ins', 1)),
    about.map(d => line(d)));
}

// line shows one difference: its path and what is there on both sides.
function line(d) {
  const [a, b] = pair(d.a, d.b);
  return el('div', {class: 'cmp-line'}, el('code', {class: 'cmp-path', text: show(d.pathA || d.pathB, 200)}), el('div', {class: 'cmp-pair'}, a, b));
}

// others lists what differs besides messages.
function others(c) {
  const inRows = new Set(c.rows.flatMap(r => r.d ?? []));
  const rest = c.differences.filter((_, i) => !inRows.has(i));
  if (rest.length === 0) return [];
  const groups = Map.groupBy ? Map.groupBy(rest, d => d.where) : rest.reduce((m, d) => m.set(d.where, [...m.get(d.where) ?? [], d]), new Map());
  return [el('h3', {text: 'And besides'}), ...[...groups].map(([where, list]) => el('section', {class: 'cmp-other'}, el('h4', {text: show(where, 80)}), list.slice(0, MOST).map(line),
    list.length > MOST ? el('p', {class: 'dim', text: `and ${list.length - MOST} more`}) : null)),
    c.more ? el('p', {class: 'dim', text: `and ${count(c.more, 'more difference')}`}) : ''];
}
