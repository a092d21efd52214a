// source.js is the one way to a log: its rows, its changes, and the thread at any position. A server or the data in an
// exported file is behind it.
import {apply} from './patch.js';

const BLOCK = 1024; // rows or changes in one request
const EVERY = 256; // positions between two checkpoints

// Blocks keeps what was fetched of a growing list, in blocks; the oldest blocks go.
class Blocks {
  constructor(fetch, max) { [this.fetch, this.max, this.blocks] = [fetch, max, new Map()]; }

  // get returns the elements from one index to another, the latter excluded.
  async get(from, to) {
    const parts = [];
    for (let b = Math.floor(from / BLOCK); b * BLOCK < to; b++) {
      const start = b * BLOCK, want = Math.min(to - start, BLOCK);
      const block = await this.block(b, want);
      if (block.length < want) throw new RangeError('the log is shorter');
      parts.push(block.slice(Math.max(0, from - start), want));
    }
    return parts.length === 1 ? parts[0] : [].concat(...parts);
  }

  async block(b, want) {
    let block = this.blocks.get(b);
    if (block) this.blocks.delete(b);
    else if (this.blocks.size >= this.max) this.blocks.delete(this.blocks.keys().next().value);
    block ??= [];
    this.blocks.set(b, block);
    while (block.length < want) {
      const at = b * BLOCK + block.length;
      const more = await this.fetch(at, (b + 1) * BLOCK);
      if (more.length === 0) break;
      if (at === b * BLOCK + block.length) block.push(...more); // nobody else has fetched it meanwhile
    }
    return block;
  }
}

// Source is a log. What it returns must not be changed.
export class Source {
  constructor(backend, about) {
    this.backend = backend;
    Object.assign(this, {id: about.id, name: about.name, mode: about.mode, timed: about.timed, length: about.length, done: about.done, error: about.error ?? ''});
    this.logs = [about];
    this.listeners = new Set();
    this.rowBlocks = new Blocks((from, to) => backend.rows(from + 1, to), 64);
    this.changeBlocks = new Blocks((from, to) => backend.changes(from, to), 64);
    this.checkpoints = new Map(); // position -> view
    this.views = new Map(); // position -> view, the last ones that were asked for
  }

  // onGrow calls f when the log has grown or is done, and returns a function that ends this.
  onGrow(f) {
    this.listeners.add(f);
    return () => this.listeners.delete(f);
  }

  // watch follows the growth until close.
  watch() {
    this.stop = this.backend.watch?.(about => {
      Object.assign(this, {length: Math.max(this.length, about.length), done: about.done, error: about.error ?? '', timed: about.timed});
      for (const f of this.listeners) f();
    });
  }

  close() { this.stop?.(); }

  rows(from, to) { return this.rowBlocks.get(from - 1, Math.min(to, this.length)); }
  async row(n) { return n > 0 ? (await this.rows(n, n))[0] : null; }
  changes(from, to) { return this.changeBlocks.get(from, to); }
  event(n) { return this.backend.event(n); }
  shape(from = 0) { return this.backend.shape(from); }
  trouble() { return this.backend.trouble(); }
  compare(a, b, options) { return this.backend.compare?.(a, b, options) ?? null; }

  async rules(ids) {
    const all = this.all ??= await this.backend.rules();
    return Object.fromEntries(ids.filter(id => Object.hasOwn(all, id)).map(id => [id, all[id]]));
  }

  // view returns the thread right after the n-th delivery.
  async view(n) {
    const known = this.views.get(n) ?? this.checkpoints.get(n);
    if (known) return known;
    const base = await this.base(n);
    let [at, view] = base;
    for (const step = 16; at < n;) { // keeps views on the way, for those who go back step by step
      const to = Math.min(n, n - at > EVERY ? (Math.floor(at / EVERY) + 1) * EVERY : (Math.floor(at / step) + 1) * step);
      view = apply(view, (await this.changes(at, to)).flat());
      at = to;
      if (at % EVERY === 0) this.keepCheckpoint(at, view);
      else this.keep(at, view);
    }
    this.keep(n, view);
    return view;
  }

  // base returns the nearest known position not after n, with its view.
  async base(n) {
    let best = -1;
    for (const map of [this.views, this.checkpoints]) for (const at of map.keys()) if (at <= n && at > best) best = at;
    if (best >= 0 && (n - best <= EVERY || !this.backend.random)) return [best, this.views.get(best) ?? this.checkpoints.get(best)];
    let have = -1; // the checkpoint at hand that is nearest, in either direction
    for (const at of this.checkpoints.keys()) if (have < 0 || Math.abs(at - n) < Math.abs(have - n)) have = at;
    if (have >= 0 && Math.abs(have - n) * 4 > this.length) have = -1;
    const from = this.checkpoints.get(have);
    const got = await this.backend.view(n, have);
    const view = got.view ?? apply(from, got.changes);
    this.keepCheckpoint(got.n, view);
    return [got.n, view];
  }

  keepCheckpoint(at, view) { keep(this.checkpoints, at, view, this.backend.random ? 48 : Infinity); }
  keep(at, view) { keep(this.views, at, view, Math.max(16, Math.min(512, 4e6 / (view.messages.length + 1)))); }
}

function keep(map, at, view, max) {
  map.delete(at);
  map.set(at, view);
  while (map.size > max) map.delete(map.keys().next().value);
}

// server returns the backend for a log of the server that the page comes from.
export function server(id) {
  const at = what => `api/logs/${encodeURIComponent(id)}/${what}`;
  return {
    random: true,
    rows: (from, to) => json(at(`rows?from=${from}&to=${to}`)),
    changes: (from, to) => json(at(`changes?from=${from}&to=${to}`)),
    view: (n, have) => json(at(`view?n=${n}&have=${have}`)),
    event: n => json(at(`event?n=${n}`)),
    shape: from => json(at(`shape?from=${from}`)),
    trouble: () => json(at('trouble')),
    rules: () => json('api/rules'),
    compare: (a, b, {ids, ignore = []} = {}) => json('api/compare?' + new URLSearchParams([['a', a], ['b', b], ...(ids ? [['ids', ids]] : []), ...ignore.map(i => ['ignore', i])])),
    watch(tell) {
      const events = new EventSource(at('watch'));
      events.onmessage = event => {
        const about = JSON.parse(event.data);
        if (about.done) events.close();
        tell(about);
      };
      return () => events.close();
    },
  };
}

// json gets JSON.
export async function json(url) {
  const answer = await fetch(url, {cache: 'no-store'});
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.json();
}

// file returns the backend for the data of an exported file.
export function file(data) {
  return {
    random: false,
    rows: (from, to) => data.rows.slice(from - 1, to),
    changes: (from, to) => data.changes.slice(from, to),
    view: () => ({n: 0, view: data.view}),
    event: n => ({...data.events[n - 1], delivered: data.events[n - 1].delivered ?? delivered(data, n)}),
    shape: () => data.shape,
    trouble: () => data.trouble,
    rules: () => data.rules,
  };
}

// delivered is an event of an exported file that was delivered as it came.
function delivered(data, n) {
  if (data.rows[n - 1].nothing || data.rows[n - 1].type === 'END') return null;
  try {
    return JSON.parse(data.events[n - 1].raw);
  } catch {
    return null;
  }
}
