// timeline-shape.js holds what the timeline draws: when each event came and in which lane, and what lasted from one event
// to another. Everything can be found without looking at all events, however many there are.

// CATEGORIES are the colors of events and spans, those that cover others last.
export const CATEGORIES = ['message', 'reasoning', 'other', 'call', 'activity', 'step', 'state', 'subagent', 'run', 'end'];
const OF_TYPE = [[/^TEXT_MESSAGE/, 'message'], [/^(REASONING|THINKING)/, 'reasoning'], [/^TOOL_CALL/, 'call'], [/^ACTIVITY/, 'activity'], [/^STEP/, 'step'],
  [/^(STATE|MESSAGES_SNAPSHOT)/, 'state'], [/^SUBAGENT/, 'subagent'], [/^RUN/, 'run'], [/^END$/, 'end']];
const PAUSE = 300_000; // microseconds; a longer pause is shortened on the axis "short"

// category returns the place of a type's category.
export function category(type) {
  return CATEGORIES.indexOf(OF_TYPE.find(([pattern]) => pattern.test(type))?.[1] ?? 'other');
}

// Column is a list of numbers that grows.
class Column {
  constructor(type) { [this.data, this.length] = [new type(1024), 0]; }

  push(value) {
    if (this.length === this.data.length) {
      const larger = new this.data.constructor(2 * this.length);
      larger.set(this.data);
      this.data = larger;
    }
    this.data[this.length++] = value;
  }
}

// Row holds the spans that stand side by side, in the order of their beginnings.
class Row {
  constructor() { [this.spans, this.ends] = [[], []]; }

  // settle notes which is the last end up to each span, so that the first one in view is found by halving.
  settle(length) {
    let end = 0;
    this.ends.length = this.spans.length;
    this.spans.forEach((s, i) => { this.ends[i] = end = Math.max(end, s.to || length + 1); });
  }
}

export class Shape {
  constructor() {
    this.length = 0;
    this.clock = '';
    [this.types, this.kinds, this.lanes, this.spans, this.pauses] = [[], [], [], [], []];
    this.categories = []; // by type
    this.axes = {time: new Column(Float64Array), short: new Column(Float64Array), order: new Column(Float64Array)};
    for (const axis of Object.values(this.axes)) axis.push(0);
    this.type = new Column(Uint8Array);
    this.lane = new Column(Uint16Array);
    this.type.push(0);
    this.lane.push(0);
    this.longest = 0;
  }

  // merge takes what the source has of the rows from length+1 on.
  merge({from, length, clock, types, kinds, lanes, at, type, lane, spans, pauses}) {
    if (from > this.length + 1) throw new RangeError('rows are missing');
    const had = this.length;
    [this.clock, this.types, this.kinds] = [clock, types, kinds];
    this.categories = types.map(category);
    lanes.forEach((l, i) => { this.lanes[i] = Object.assign(this.lanes[i] ?? {ticks: [], pauses: [], rowOf: new Map()}, l); });
    for (let i = this.length + 1 - from; i < at.length; i++) this.event(at[i], type[i], lane[i]);
    this.length = length;
    const touched = new Set();
    for (let i = 0; i < spans.i.length; i++) touched.add(this.span(spans, i));
    for (const row of touched) row.settle(length);
    for (const lane of this.lanes) for (const row of lane.rowOf.values()) if (row.spans.length && !row.spans.at(-1).to) row.settle(length);
    for (const p of pauses) {
      if (p.to <= had) continue;
      this.lanes[p.lane].pauses.push(p);
      this.pauses.push(p);
    }
    this.order();
  }

  event(since, type, lane) {
    const {time, short, order} = this.axes, n = order.length;
    this.longest = Math.max(this.longest, since);
    time.push(time.data[n - 1] + since);
    short.push(short.data[n - 1] + (since <= PAUSE ? since : PAUSE * (1 + .5 * Math.log2(since / PAUSE))));
    order.push(n);
    this.type.push(type);
    this.lane.push(lane);
    (this.lanes[lane].ticks[this.categories[type]] ??= new Column(Uint32Array)).push(n);
  }

  span(columns, i) {
    const index = columns.i[i], known = this.spans[index];
    const span = known ?? {index, kind: this.kinds[columns.kind[i]], lane: columns.lane[i], row: columns.row[i], from: columns.from[i], id: columns.id[i], label: columns.label[i]};
    [span.mid, span.to, span.status, this.spans[index]] = [columns.mid[i], columns.to[i], columns.status[i], span];
    const rows = this.lanes[span.lane].rowOf, key = GROUPS[span.kind] * 100 + span.row;
    let row = rows.get(key);
    if (!row) rows.set(key, row = new Row());
    if (!known) row.spans.push(span);
    return row;
  }

  // order puts the lanes below those that they are nested in.
  order() {
    const children = this.lanes.map(() => []);
    this.lanes.forEach((l, i) => { if (l.parent >= 0) children[l.parent].push(i); });
    this.ordered = [];
    const stack = this.lanes.length ? [[0, 0]] : [];
    while (stack.length) {
      const [i, depth] = stack.pop();
      this.ordered.push(i);
      this.lanes[i].depth = depth;
      for (const child of children[i].reverse()) stack.push([child, depth + 1]);
    }
  }

  // usual returns the axis to begin with: times, unless pauses hide everything else.
  usual() {
    if (!this.clock || this.axes.time.data[this.length] === 0) return 'order';
    return this.longest > .3 * this.axes.time.data[this.length] ? 'short' : 'time';
  }

  // at returns the last event at a place of an axis or before it; 0 if there is none.
  at(axis, x) {
    const {data} = this.axes[axis];
    return Math.max(0, firstAbove(i => data[i] > x, 0, this.length + 1) - 1);
  }

  // nearest returns the event that is nearest to a place of an axis: of a lane, unless it is -1.
  nearest(axis, x, lane = -1) {
    const {data} = this.axes[axis], n = this.at(axis, x);
    let best = 0;
    for (const candidate of lane < 0 ? [n, n + 1] : this.around(lane, n)) {
      if (candidate >= 1 && candidate <= this.length && (!best || Math.abs(data[candidate] - x) < Math.abs(data[best] - x))) best = candidate;
    }
    return best;
  }

  // around returns the events of a lane next to event n.
  around(lane, n) {
    return this.lanes[lane].ticks.flatMap(column => {
      if (!column) return [];
      const i = firstAbove(k => column.data[k] > n, 0, column.length);
      return [i > 0 ? column.data[i - 1] : 0, i < column.length ? column.data[i] : 0];
    });
  }

  // end returns the event at which a span ends, the last one while it is open.
  end(span) { return span.to || this.length; }
}

// GROUPS are the groups of spans in a lane, one below the other.
export const GROUPS = {run: 0, subagent: 0, step: 1, message: 2, reasoning: 2, activity: 3, call: 4};

// firstAbove returns the first place from lo on for which test is true, hi if there is none. It is true for all after it.
export function firstAbove(test, lo, hi) {
  while (lo < hi) {
    const middle = (lo + hi) >>> 1;
    if (test(middle)) hi = middle;
    else lo = middle + 1;
  }
  return lo;
}

// leap is firstAbove for what is likely near lo.
export function leap(test, lo, hi) {
  let step = 1;
  while (lo < hi && !test(Math.min(lo + step, hi) - 1)) {
    lo = Math.min(lo + step, hi);
    step *= 2;
  }
  return firstAbove(test, lo, Math.min(lo + step, hi));
}

// duration returns microseconds for people.
export function duration(us) {
  const s = us / 1e6;
  if (us === 0) return '0';
  if (us < 1000) return `${Math.round(us)} µs`;
  if (s < 1) return `${trim(us / 1000, us < 100_000 ? 1 : 0)} ms`;
  if (s < 60) return `${trim(s, s < 10 ? 2 : 1)} s`;
  const [unit, large, part, small] = s < 3600 ? [60, 'min', 1, 's'] : [3600, 'h', 60, 'min'], rest = Math.floor(s % unit / part);
  return `${Math.floor(s / unit)} ${large}` + (rest ? ` ${rest} ${small}` : '');
}

const trim = (x, digits) => String(Number(x.toFixed(digits)));

const WAITED = {client: 'the client', start: 'the agent’s first event', subagent: 'the subagent', tool: 'the result of', text: 'more of the message', agent: 'the agent'};

// waited says what a pause was spent on.
export function waited(pause) {
  return `${duration(pause.long)} waiting for ${WAITED[pause.who] ?? pause.who}${pause.label ? ' ' + pause.label : ''}`;
}
