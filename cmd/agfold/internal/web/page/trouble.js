// trouble.js lists what went wrong: rejections, failures, warnings, and what the linter found, each with its rule and a way
// to the event.
import {el, button, show} from './dom.js';

const KINDS = [['rejected', 'rejected'], ['failed', 'failed'], ['cut', 'cut off'], ['damaged', 'damaged'], ['warning', 'warnings'], ['lint', 'lint']];
const NAMES = {rejected: 'rejected', failed: 'failed', cut: 'cut off', damaged: 'damaged', warning: 'warning', error: 'lint: error', finding: 'lint: warning', note: 'lint: note'};
const MOST = 300; // entries that are shown at once

export function mount(root, app) {
  const status = el('p', {class: 'dim', role: 'status', text: 'looking…'});
  const filters = el('div', {class: 'tr-filters', role: 'group', aria: {label: 'Show'}});
  const search = el('input', {type: 'search', placeholder: 'Search  (/)', 'data-search': true, spellcheck: 'false', aria: {label: 'Search in the list'}, on: {input: () => draw()}});
  const list = el('ol', {class: 'plain tr-list'});
  root.append(el('div', {class: 'tr'}, el('div', {class: 'tr-tools'}, filters, search), status, list));
  let source = null, all = [], data = null, asked = 0, at = -1, shown = MOST;
  const off = new Set();

  // load asks for the list anew, when the log has grown.
  async function load(moment) {
    const key = `${app.source.id} ${app.source.length} ${app.source.done}`;
    if (source === key) return;
    source = key;
    const mine = ++asked;
    try {
      const got = await app.source.trouble();
      if (mine !== asked) return;
      data = got;
      all = entries(got);
      draw();
      mark(moment.n);
    } catch (error) {
      source = null;
      status.textContent = show(error.message, 300);
    }
  }

  function draw() {
    const counts = {};
    for (const entry of all) counts[entry.group] = (counts[entry.group] ?? 0) + 1;
    filters.replaceChildren(...KINDS.filter(([kind]) => counts[kind]).map(([kind, label]) => button(`${label} ${counts[kind]}`, () => {
      if (!off.delete(kind)) off.add(kind);
      shown = MOST;
      draw();
      filters.querySelector(`[data-kind=${kind}]`)?.focus();
    }, {class: `tr-${kind}`, data: {kind}, aria: {pressed: String(!off.has(kind))}})));
    const wanted = search.value.trim().toLowerCase();
    const some = all.filter(entry => !off.has(entry.group) && (!wanted || entry.words.includes(wanted)));
    status.textContent = all.length === 0 ? app.source.done ? 'Nothing went wrong, and the linter found nothing.' : 'Nothing so far.'
      : `${some.length} of ${all.length}${data.more ? `, and ${data.more.toLocaleString('en')} more that are not listed` : ''}`;
    list.replaceChildren(...some.slice(0, shown).map(item), some.length > shown ? el('li', {}, button('Show more', () => { shown += MOST; draw(); })) : '');
    at = -1;
    if (app.moment) mark(app.moment.n);
  }

  function item(entry) {
    const rule = entry.rule ? data.rules[entry.rule] : null, check = entry.code ? data.checks[entry.code] : null;
    const where = entry.n > 0 ? button(`event ${entry.n.toLocaleString('en')}`, () => app.go(entry.n), {class: 'tr-go', title: 'Go to the event'}) : el('span', {class: 'dim', text: 'the whole stream'});
    const more = [];
    if (rule) more.push(el('p', {}, el('b', {text: entry.rule}), ' ', rule.text), rule.advice ? el('p', {}, el('b', {text: 'Instead '}), rule.advice) : null);
    if (check) more.push(el('p', {}, el('b', {text: 'Why it hurts '}), check.why), el('p', {}, el('b', {text: 'Instead '}), check.mend));
    return el('li', {class: `tr-item tr-${entry.kind}`, data: {n: entry.n}},
      el('div', {class: 'tr-head'}, el('span', {class: `chip tr-chip tr-${entry.kind}`, text: NAMES[entry.kind] ?? entry.kind}),
        entry.rule || entry.code ? el('code', {text: show(entry.rule || entry.code, 40)}) : null, where),
      el('p', {class: 'tr-text'}, el('span', {class: 'said', dir: 'auto', text: show(entry.text, 700)}), entry.more ? el('span', {class: 'dim', text: ` and ${entry.more.toLocaleString('en')} more like it`}) : null),
      entry.type || entry.path ? el('p', {class: 'dim tr-place'}, el('code', {text: show([entry.type, entry.path].filter(Boolean).join(' · '), 300)})) : null,
      more.length ? el('details', {open: entry.kind === 'rejected'}, el('summary', {text: rule ? 'The rule' : 'Why, and what instead'}), more) : null);
  }

  // mark shows which entries are about the position, and brings the last one up to it into view.
  function mark(n) {
    if (n === at) return;
    at = n;
    let last = null;
    for (const node of list.children) {
      const here = Number(node.dataset.n) === n && n > 0;
      node.classList.toggle('tr-here', here);
      if (here) last ??= node;
    }
    if (last && !list.contains(document.activeElement)) last.scrollIntoView({block: 'nearest'});
  }

  return {
    async show(moment) {
      mark(moment.n);
      await load(moment);
    },
    // seek returns the nearest position in a direction at which something is wrong.
    async seek(direction) {
      const n = app.moment?.n ?? 0, places = all.filter(e => e.n > 0 && !off.has(e.group)).map(e => e.n);
      const there = places.filter(p => direction > 0 ? p > n : p < n);
      return there.length ? direction > 0 ? there.reduce((a, b) => Math.min(a, b)) : there.reduce((a, b) => Math.max(a, b)) : null;
    },
  };
}

// entries puts problems and findings into one list, in the order of the events.
function entries({problems, findings}) {
  const all = [
    ...problems.map(p => ({...p, group: p.kind})),
    ...findings.map(({id, level, ...f}) => ({...f, kind: level === 'warning' ? 'finding' : level, group: 'lint', path: id})),
  ];
  for (const e of all) e.words = [e.kind, e.rule, e.code, e.type, e.path, e.text].filter(Boolean).join(' ').toLowerCase();
  return all.sort((a, b) => (a.n || Infinity) - (b.n || Infinity));
}
