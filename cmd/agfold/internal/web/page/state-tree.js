// state-tree.js is a tree of a JSON value. Only what is open is in the page, and long lists open in parts. It marks how the
// value differs from two older ones: the one before the event at hand, and the one at the mark.
import {el, show} from './dom.js';
import {aligned, equal, escaped} from './state-diff.js';

const PART = 100; // elements that are shown at once
const PREVIEW = 120; // characters
const none = undefined;
const isNode = v => typeof v === 'object' && v !== null;

// preview returns a value in one line.
export function preview(value, most = PREVIEW) {
  if (Array.isArray(value)) return `[${value.length.toLocaleString('en')}]`;
  if (isNode(value)) {
    const keys = Object.keys(value);
    const brief = v => isNode(v) ? Array.isArray(v) ? v.length ? '[…]' : '[]' : '{…}' : typeof v === 'string' ? JSON.stringify(v.length > 16 ? v.slice(0, 15) + '…' : v) : String(v);
    return show(`{${keys.slice(0, 5).map(key => `${key}: ${brief(value[key])}`).join(', ')}${keys.length > 5 ? ', …' : ''}}`, most);
  }
  if (typeof value === 'string') return show(JSON.stringify(value.length > most ? value.slice(0, most) + '…' : value), most + 4);
  return String(value);
}

// kind says how a value differs from an older one: '', 'added', 'removed', 'changed', or 'inside' if something in it does.
function kind(old, value) {
  if (equal(old, value)) return '';
  if (old === none) return 'added';
  if (value === none) return 'removed';
  return isNode(old) && isNode(value) && Array.isArray(old) === Array.isArray(value) ? 'inside' : 'changed';
}

// Tree is the whole tree. app is for copying; source says what value it shows.
export class Tree {
  constructor(app) {
    this.app = app;
    this.root = new Item(this, null, 'state', []);
    this.root.open = true;
    this.node = el('ul', {class: 'st-tree plain', role: 'tree', aria: {label: 'State'}, on: {keydown: e => this.key(e), click: e => this.click(e)}}, this.root.node);
    this.items = new WeakMap([[this.root.node, this.root]]);
    this.focused = this.root;
    this.root.node.tabIndex = 0;
  }

  // update shows a value, what it was before, and what it was at the position mark.
  update(value, before, since, mark) {
    if (mark !== this.mark) this.root.drawn = false;
    this.mark = mark;
    this.root.update(value, before, since);
  }

  // reveal opens what is around a place and goes there; it returns its item, or the nearest one around it.
  reveal(keys, focus = true) {
    let item = this.root;
    for (const key of keys) {
      item.setOpen(true);
      const next = item.child(key);
      if (!next) break;
      item = next;
    }
    if (focus) {
      this.focus(item);
      item.node.scrollIntoView({block: 'nearest'});
    }
    return item;
  }

  focus(item) {
    this.focused.node.tabIndex = -1;
    this.focused = item;
    item.node.tabIndex = 0;
    item.node.focus({preventScroll: true});
    item.row.scrollIntoView({block: 'nearest'});
  }

  of(target) { return this.items.get(target.closest('[role=treeitem]')); }

  click(event) {
    const item = this.of(event.target);
    if (!item) return;
    const act = event.target.closest('[data-act]')?.dataset.act;
    if (act === 'path') this.app.copy(item.pointer(), 'path');
    else if (act === 'value') this.app.copy(JSON.stringify(item.value, null, 2), 'value');
    else if (event.target.closest('.st-row')) {
      this.focus(item);
      item.setOpen(!item.open);
    }
  }

  key(event) {
    const item = this.of(event.target);
    if (!item || event.ctrlKey || event.altKey || event.metaKey || event.target !== item.node) return;
    const rows = () => [...this.node.querySelectorAll('[role=treeitem]')].filter(node => node.offsetParent);
    const move = by => { const all = rows(), to = this.items.get(all[all.indexOf(item.node) + by]); if (to) this.focus(to); };
    const act = {
      ArrowDown: () => move(1), ArrowUp: () => move(-1),
      ArrowRight: () => item.open ? move(1) : item.setOpen(true),
      ArrowLeft: () => item.open ? item.setOpen(false) : item.parent && this.focus(item.parent),
      Enter: () => item.setOpen(!item.open), ' ': () => item.setOpen(!item.open),
      Home: () => this.focus(this.root), End: () => this.focus(this.items.get(rows().at(-1))),
      c: () => this.app.copy(item.pointer(), 'path'),
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

// Item is a place in the tree: a value, or a part of a long list (with range, and the path of the list).
class Item {
  constructor(tree, parent, key, path, range = null) {
    Object.assign(this, {tree, parent, key, path, range, open: false, children: null, value: none, before: none, since: none});
    this.twist = el('span', {class: 'st-twist', aria: {hidden: 'true'}});
    this.name = el('span', {class: 'st-key', text: range ? '' : show(String(key), 80)});
    this.text = el('span', {class: 'st-value'});
    this.mark = el('span', {class: 'st-mark'});
    const copies = range ? null : el('span', {class: 'st-copies'},
      el('button', {type: 'button', class: 'quiet', tabindex: -1, text: 'path', title: 'Copy the path (c)', data: {act: 'path'}}),
      el('button', {type: 'button', class: 'quiet', tabindex: -1, text: 'value', title: 'Copy the value', data: {act: 'value'}}));
    this.row = el('div', {class: 'st-row'}, this.twist, this.name, this.text, this.mark, copies);
    this.row.style.paddingInlineStart = `${Math.min(path.length + (range ? 1 : 0), 12) * 14}px`;
    this.node = el('li', {role: 'treeitem', tabindex: -1}, this.row);
    tree.items?.set(this.node, this);
  }

  pointer() { return this.path.map(key => '/' + escaped(key)).join(''); }

  get long() { return !isNode(this.value) && typeof this.value === 'string' && this.value.length > PREVIEW; }
  get opens() { return isNode(this.shown) || this.long; }
  get shown() { return this.value === none ? this.before === none ? this.since : this.before : this.value; } // of a removed value the old one

  // update shows a value and how it differs from the older two.
  update(value, before, since) {
    if (this.drawn && value === this.value && before === this.before && since === this.since) return;
    Object.assign(this, {value, before, since, drawn: true});
    if (!this.range) this.draw();
    if (this.open) this.fill();
    else if (this.children) this.empty();
    this.twist.textContent = this.opens ? this.open ? '▾' : '▸' : '';
    if (this.opens) this.node.setAttribute('aria-expanded', this.open);
    else this.node.removeAttribute('aria-expanded');
  }

  draw() {
    const {value, before, since, shown} = this, now = kind(before, value), past = kind(since, value);
    this.row.className = `st-row${now ? ' st-now-' + now : ''}${past ? ' st-since-' + past : ''}`;
    const type = shown === null ? 'null' : Array.isArray(shown) ? 'array' : typeof shown;
    this.text.className = `st-value st-${type}`;
    if (now === 'changed' && !isNode(before)) this.text.replaceChildren(el('del', {text: preview(before, 60)}), ' ', el('ins', {text: preview(shown)}));
    else this.text.textContent = preview(shown);
    const words = [now && now !== 'inside' ? now : '', past && past !== 'inside' && past !== now ? `${past} since event ${this.tree.mark.toLocaleString('en')}` : ''].filter(Boolean).join(', ');
    this.mark.textContent = words;
  }

  setOpen(open) {
    if (!this.opens || open === this.open) return;
    this.open = open;
    this.drawn = false;
    this.update(this.value, this.before, this.since);
  }

  empty() {
    this.group?.remove();
    this.group = this.children = null;
  }

  // fill makes and updates the children that are shown.
  fill() {
    if (this.long && !isNode(this.shown)) {
      this.empty();
      this.children = new Map();
      const text = this.value.length > 20_000 ? this.value.slice(0, 20_000) + '…' : this.value;
      this.node.append(this.group = el('div', {class: 'st-long'}, el('pre', {dir: 'auto', text})));
      return;
    }
    if (!this.opens) return this.empty();
    if (!this.group || this.group.tagName !== 'UL') {
      this.group?.remove();
      this.children = new Map();
      this.node.append(this.group = el('ul', {class: 'plain', role: 'group'}));
    }
    const wanted = this.wanted();
    let at = this.group.firstChild;
    for (const {id, key, range, value, before, since} of wanted) {
      let child = this.children.get(id);
      if (!child) this.children.set(id, child = range ? new Item(this.tree, this, '', this.path, range) : new Item(this.tree, this, key, [...this.path, key]));
      if (range) child.range = range;
      if (child.node !== at) this.group.insertBefore(child.node, at);
      else at = at.nextSibling;
      if (range) child.part(range);
      child.update(value, before, since);
    }
    const ids = new Set(wanted.map(w => w.id));
    for (const [id, child] of this.children) {
      if (ids.has(id)) continue;
      if (child.node.contains(document.activeElement)) this.tree.focus(this);
      else if (this.tree.focused === child) [this.tree.focused, this.node.tabIndex] = [this, 0];
      child.node.remove();
      this.children.delete(id);
    }
  }

  // part shows which elements a part of a list holds, and how many of them changed.
  part({entries, from, to, isList}) {
    const changed = entries.reduce((n, e) => n + (kind(e.before, e.value) ? 1 : 0), 0), since = entries.reduce((n, e) => n + (kind(e.since, e.value) ? 1 : 0), 0);
    this.text.textContent = isList ? `[${from.toLocaleString('en')} … ${to.toLocaleString('en')}]` : `${show(String(entries[0].key), 40)} … ${show(String(entries.at(-1).key), 40)}`;
    this.row.className = `st-row${changed ? ' st-now-inside' : ''}${since ? ' st-since-inside' : ''}`;
    this.mark.textContent = changed ? `${changed} changed` : '';
  }

  // wanted lists what the children are: elements or members, in the order of the value, with what was removed between.
  wanted() {
    const entries = this.range ? this.range.entries : this.entries();
    const isList = this.range ? this.range.isList : Array.isArray(this.shown);
    if (entries.length <= PART) return entries;
    let size = PART;
    while (entries.length / size > 300) size *= PART;
    const parts = [];
    for (let i = 0; i < entries.length; i += size) {
      const some = entries.slice(i, i + size), places = some.map(e => e.key);
      parts.push({id: `part ${this.range?.from ?? 0} ${i} ${size}`, range: {entries: some, from: places[0], to: places.at(-1), isList}, value: some, before: none, since: none});
    }
    return parts;
  }

  // entries lists the children. What is new as a whole marks no child, and neither does what is gone.
  entries() {
    const value = this.shown, gone = this.value === none, whole = gone ? none : value;
    const old = this.before === none ? whole : gone ? none : this.before, past = this.since === none ? whole : gone ? none : this.since;
    if (Array.isArray(value)) {
      const pastOf = new Map(Array.isArray(past) ? aligned(past, value).filter(([, b]) => b >= 0).map(([a, b]) => [b, a]) : []);
      const pairs = Array.isArray(old) ? aligned(old, value) : value.map((_, i) => [-1, i]);
      return pairs.map(([a, b]) => {
        const before = a >= 0 ? old[a] : none, since = pastOf.has(b) && pastOf.get(b) >= 0 ? past[pastOf.get(b)] : none;
        if (b < 0) return {id: `gone ${a}`, key: a, value: none, before, since: none};
        return {id: b, key: b, value: gone ? none : value[b], before: gone ? value[b] : before, since};
      });
    }
    const isOld = isNode(old) && !Array.isArray(old), isPast = isNode(past) && !Array.isArray(past);
    const member = (from, is, key) => is && Object.hasOwn(from, key) ? from[key] : none;
    const list = Object.keys(value).map(key => ({id: 'key ' + key, key, value: gone ? none : value[key], before: gone ? value[key] : member(old, isOld, key), since: member(past, isPast, key)}));
    const ghosts = new Set([...isOld ? Object.keys(old) : [], ...isPast ? Object.keys(past) : []].filter(key => !Object.hasOwn(value, key)));
    for (const key of ghosts) list.push({id: 'key ' + key, key, value: none, before: member(old, isOld, key), since: member(past, isPast, key)});
    return list;
  }

  // child returns the open child for a key, in whatever part of the list it is.
  child(key) {
    const id = Array.isArray(this.shown) || this.range?.isList ? Number(key) : 'key ' + key;
    if (this.children?.has(id)) return this.children.get(id);
    for (const part of this.children?.values() ?? []) {
      if (!part.range?.entries.some(e => e.id === id)) continue;
      part.setOpen(true);
      return part.child(key);
    }
    return null;
  }
}
