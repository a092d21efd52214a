// eventpane.js shows the event at hand: as it came, as it was delivered, and what it changed.
import {el, button, show} from './dom.js';

const MOST = 20_000; // characters of a text that are shown at first

export function mount(root, app) {
  const body = el('div', {class: 'ev'});
  root.append(body);
  let shown = -1, asked = 0;
  return {
    async show(moment) {
      if (moment.n === shown && !moment.following) return;
      shown = moment.n;
      if (moment.n === 0) return body.replaceChildren(el('p', {class: 'dim', text: 'Before the first event.'}));
      const mine = ++asked;
      const n = moment.n, source = app.source;
      const [event, row, ops] = await Promise.all([source.event(n), source.row(n), source.changes(n - 1, n).then(([ops]) => ops)]);
      if (mine !== asked || source !== app.source) return;
      draw(body, app, {event, row, ops});
    },
  };
}

function draw(body, app, {event, row, ops}) {
  const facts = [['type', row.type], ['owner', row.owner], ['id', row.id], ['event', row.ordinal], ['line', row.line], ['run', row.run],
    ['time', row.at === undefined ? undefined : `${(row.at / 1000).toFixed(3)} s`]].filter(([, v]) => v !== undefined && v !== '');
  body.replaceChildren(el('div', {},
    el('h2', {text: show(row.type, 80)}),
    el('dl', {class: 'facts'}, facts.map(([k, v]) => [el('dt', {text: k}), el('dd', {text: show(String(v))})])),
    row.nothing ? el('p', {class: 'warn', text: 'Nothing was delivered for this event.'}) : null,
    ...(event.warnings ?? []).map(w => el('p', {class: 'warn', text: `${show(w.rule, 40)}: ${show(w.text, 500)}`})),
    part('What it changed', ops.length ? ops.map(opLine) : [el('p', {class: 'dim', text: 'nothing'})]),
    event.delivered ? part('As it was delivered', [text(JSON.stringify(event.delivered, null, 2), app)]) : null,
    part('As it came', [text(event.raw, app), event.cut ? el('p', {class: 'dim', text: `${event.cut.toLocaleString('en')} more bytes are not shown`}) : null]),
  ));
}

const part = (title, nodes) => el('section', {}, el('h3', {text: title}), nodes);

function opLine({op, path, value}) {
  const text = op === 'append' ? value : value === undefined ? '' : JSON.stringify(value);
  return el('div', {class: `op op-${op}`}, el('b', {text: {add: '+', append: '…', replace: '=', remove: '−'}[op] ?? op}), ' ',
    el('code', {text: show(path, 300)}), ' ', el('span', {class: 'said', dir: 'auto', text: show(text, 400)}));
}

// text shows a text as it is; a long one in part, with a button for the rest.
export function text(whole, app) {
  const pre = el('pre', {dir: 'auto', tabindex: 0, text: whole.length > MOST ? whole.slice(0, MOST) : whole});
  return el('div', {class: 'text'}, pre,
    button('Copy', () => app.copy(whole), {class: 'copy'}),
    whole.length > MOST ? button(`Show all ${whole.length.toLocaleString('en')} characters`, event => { pre.textContent = whole; event.target.remove(); }) : null);
}
