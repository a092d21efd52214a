// timeline-list.js is the timeline as a list, for those who do not see or do not use the picture.
import {el, button, show, announce} from './dom.js';
import {duration, waited} from './timeline-shape.js';

const PAGE = 100;

// list returns the list in a node; draw(n) shows the page around a position.
export function list(root, app, shape) {
  let page = null, drawn = '', sorted = null;
  const what = el('select', {aria: {label: 'What to list'}, on: {change: () => { page = null; draw(app.moment?.n ?? 0); }}},
    el('option', {value: 'spans', text: 'What lasted, and pauses'}), el('option', {value: 'events', text: 'Every event'}));
  const place = el('span', {class: 'dim'});
  const earlier = button('Earlier', () => turn(-1)), later = button('Later', () => turn(1));
  const body = el('ol', {class: 'plain tl-rows'});
  root.append(el('div', {class: 'tl-pages'}, what, earlier, later, place), body);

  function turn(by) {
    page += by;
    draw(app.moment?.n ?? 0, true);
    announce(place.textContent);
  }

  // lasting returns spans and pauses in order.
  function lasting() {
    if (sorted?.length !== shape.length) {
      const list = [...shape.spans.map(span => ({n: span.from, span})), ...shape.pauses.map(pause => ({n: pause.from, pause}))].sort((a, b) => a.n - b.n);
      sorted = {length: shape.length, list};
    }
    return sorted.list;
  }

  async function draw(n, turned = false) {
    const events = what.value === 'events', all = events ? null : lasting(), length = events ? shape.length : all.length;
    const pages = Math.max(1, Math.ceil(length / PAGE));
    if (!turned) page = Math.floor((events ? Math.max(0, n - 1) : Math.max(0, all.findLastIndex(item => item.n <= n))) / PAGE);
    page = Math.max(0, Math.min(page, pages - 1));
    const from = page * PAGE, to = Math.min(length, from + PAGE), mine = drawn = `${what.value} ${page} ${n} ${length}`;
    place.textContent = length ? `${(from + 1).toLocaleString('en')} to ${to.toLocaleString('en')} of ${length.toLocaleString('en')}` : 'nothing yet';
    [earlier.disabled, later.disabled] = [page === 0, page === pages - 1];
    const items = events ? (await app.source.rows(from + 1, to)).map(row => event(row)) : all.slice(from, to).map(item => item.span ? span(item.span) : pause(item.pause));
    if (mine !== drawn) return;
    const focused = body.contains(document.activeElement) ? document.activeElement.dataset.n : null;
    body.replaceChildren(...items.map(({n: at, texts}) => el('li', {}, el('button', {
      type: 'button', class: 'tl-item', data: {n: at}, aria: {current: at === n ? 'true' : null}, on: {click: () => app.go(at)},
    }, texts))));
    const current = body.querySelector('[aria-current]');
    current?.scrollIntoView({block: 'nearest'});
    if (focused) (body.querySelector(`[data-n="${focused}"]`) ?? current)?.focus();
  }

  const owner = i => i === 0 ? 'agent' : show(shape.lanes[i].name || shape.lanes[i].id, 40);
  const time = n => shape.clock ? duration(shape.axes.time.data[n]) : '';
  const cell = (name, text) => el('span', {class: 'tl-' + name, text});

  function event(row) {
    return {n: row.n, texts: [cell('n', row.n), cell('at', time(row.n)), cell('who', owner(shape.lane.data[row.n])), cell('what', show(row.type, 60)), el('span', {class: 'said tl-said', dir: 'auto', text: show(row.said ?? '', 120)})]};
  }

  function span(s) {
    const end = shape.end(s), times = shape.axes.time.data;
    const long = shape.clock ? `, ${duration(times[end] - times[s.from])}` : '';
    return {n: s.from, texts: [cell('n', s.from), cell('at', time(s.from)), cell('who', owner(s.lane)), cell('what', s.kind),
      el('span', {class: 'tl-said', text: `${show(s.label || s.id, 80)}: ${s.status || 'open'}, until event ${end}${long}`})]};
  }

  function pause(p) {
    return {n: p.from, texts: [cell('n', p.from), cell('at', time(p.from)), cell('who', owner(p.lane)), cell('what', 'pause'), el('span', {class: 'tl-said', text: show(waited(p), 160)})]};
  }

  return {draw};
}
