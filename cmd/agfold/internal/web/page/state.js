// state.js is the shared state at the event at hand: a tree with what changed, the patch, and a search.
import {el, button, show} from './dom.js';
import {keys} from './patch.js';
import {at, changes, escaped, find} from './state-diff.js';
import {Tree, preview} from './state-tree.js';

const MOST = 100; // operations and finds that are listed
const OPENED = 12; // operations that open the tree by themselves
const STATEFUL = new Set(['STATE_SNAPSHOT', 'STATE_DELTA', 'RUN_STARTED', 'END']);

export function mount(root, app) {
  const tree = new Tree(app);
  const search = el('input', {type: 'search', placeholder: 'Search keys and values  (/)', 'data-search': true, spellcheck: 'false', aria: {label: 'Search in the state'}});
  const found = el('div', {class: 'st-found', hidden: true});
  const follow = el('input', {type: 'checkbox', checked: true});
  const now = el('details', {class: 'st-patch', open: true}), since = el('details', {class: 'st-patch'});
  const tools = el('div', {class: 'st-tools'}, search,
    el('label', {class: 'st-follow'}, follow, ' open what changes'),
    button('Mark here', () => app.setMark(app.moment?.n ?? 0), {title: 'Also show what changes from here on (m)'}),
    button('◂', () => seekTo(-1), {title: 'The last change of the state before ([)', aria: {label: 'The last change of the state before'}}),
    button('▸', () => seekTo(1), {title: 'The next change of the state (])', aria: {label: 'The next change of the state'}}));
  root.append(el('div', {class: 'st'}, tools, found, now, since, tree.node));
  let shown = null, asked = 0, marked = null, waiting = 0, live = null;

  async function seekTo(direction) {
    const n = await seek(direction);
    if (n !== null) app.go(n);
  }

  // seek returns the nearest position in a direction at which the state changed, null if there is none.
  async function seek(direction) {
    const {source} = app;
    for (let n = (app.moment?.n ?? 0) + direction; n >= 1 && n <= source.length;) {
      const edge = direction > 0 ? Math.min(source.length, n + 511) : Math.max(1, n - 511);
      const rows = await source.rows(Math.min(n, edge), Math.max(n, edge));
      for (const row of direction > 0 ? rows : rows.toReversed()) {
        if (STATEFUL.has(row.type) && (await source.changes(row.n - 1, row.n))[0].some(({path}) => inState(path))) return row.n;
      }
      n = edge + direction;
    }
    return null;
  }

  async function draw(moment) {
    shown = moment;
    const mine = ++asked;
    const mark = Math.min(app.mark, app.source.length);
    if (!marked || marked.n !== mark || marked.source !== app.source) {
      const view = await app.source.view(mark);
      if (mine !== asked) return;
      marked = {n: mark, source: app.source, state: view.state};
    }
    const state = moment.view.state, before = older(moment);
    const past = mark === 0 || mark === moment.n ? state : marked.state; // nothing is marked since the beginning
    tree.update(state, before, past, mark);
    const ops = moment.row ? moment.ops.filter(({path}) => inState(path)).map(op => ({...op, path: op.path.slice('/state'.length)})) : null;
    const list = ops ?? changes(before, state, MOST).list;
    patch(now, moment.row ? 'This event' : 'The last change', list, 0, before, state);
    since.hidden = past === state;
    const title = `Since event ${mark.toLocaleString('en')}`;
    if (since.hidden) since.replaceChildren();
    else if (since.open) {
      const {list: all, more} = changes(past, state, MOST);
      patch(since, title, all, more, past, state);
    } else since.replaceChildren(el('summary', {text: title}));
    if (follow.checked && list.length > 0 && list.length <= OPENED) {
      for (const {path} of list) tree.reveal(keys(path), false);
      const first = tree.reveal(keys(list[0].path), false);
      if (!root.contains(document.activeElement)) first.row.scrollIntoView({block: 'nearest'});
    }
  }

  // older returns the state before the event at hand. Of a conversation that goes on it is the one before the last change.
  function older({view, before, row}) {
    if (row || !before) return before ? before.state : view.state;
    if (live?.source !== app.source) live = {source: app.source, now: before.state, before: before.state};
    if (view.state !== live.now) live = {source: app.source, now: view.state, before: live.now};
    return live.before;
  }

  // patch lists operations; each goes to its place in the tree.
  function patch(node, title, list, more, old, state) {
    const summary = el('summary', {text: `${title}: ${list.length + more === 0 ? 'nothing changed' : `${(list.length + more).toLocaleString('en')} ${list.length + more === 1 ? 'change' : 'changes'}`}`});
    const lines = list.slice(0, MOST).map(op => el('li', {}, el('button', {type: 'button', class: `st-op op-${op.op}`, title: show(op.path || '(the whole state)', 400), on: {click: () => tree.reveal(keys(op.path))}},
      el('b', {text: {add: '+', remove: '−', replace: '=', append: '…'}[op.op] ?? op.op, aria: {label: op.op}}), ' ', el('code', {text: show(op.path || '(the whole state)', 120)}), ' ',
      op.op === 'remove' ? null : el('span', {class: 'said', dir: 'auto', text: preview(op.value, 80)}))));
    const rest = more + Math.max(0, list.length - MOST);
    node.replaceChildren(summary, el('ul', {class: 'plain'}, lines, rest ? el('li', {class: 'dim', text: `and ${rest.toLocaleString('en')} more`}) : null));
    if (list.length) node.append(button('Copy the patch', () => app.copy(JSON.stringify(changes(old, state, Infinity).list.map(({op, path, value}) => ({op, path, value})), null, 2), 'patch'), {class: 'quiet st-copy'}));
  }

  function look() {
    const text = search.value.trim();
    found.hidden = text === '';
    if (!text || !shown) return found.replaceChildren();
    const paths = find(shown.view.state, text, MOST + 1);
    found.replaceChildren(
      el('p', {class: 'dim', role: 'status', text: paths.length === 0 ? 'nothing found' : paths.length > MOST ? `the first ${MOST} places` : `${paths.length} ${paths.length === 1 ? 'place' : 'places'}`}),
      el('ul', {class: 'plain'}, paths.slice(0, MOST).map(path => el('li', {}, el('button', {type: 'button', class: 'st-op', on: {click: () => tree.reveal(path)}},
        el('code', {text: show(path.map(key => '/' + escaped(key)).join(''), 160)}), ' ', el('span', {class: 'said dim', dir: 'auto', text: preview(at(shown.view.state, path), 60)}))))));
  }

  since.addEventListener('toggle', () => { if (since.open && shown) draw(shown); });
  search.addEventListener('input', () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
  search.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    look();
    found.querySelector('button')?.click();
  });
  app.onMark?.(() => { if (shown && root.offsetParent) draw(app.moment); });
  return {show: draw, seek};
}

const inState = path => path === '' || path === '/state' || path.startsWith('/state/');
