// timeline-draw.js draws the timeline on a canvas. What it draws depends on the pixels, not on the number of events: what is
// not in view is skipped by halving, and what would fall on one pixel is drawn once.
import {show} from './dom.js';
import {CATEGORIES, duration, firstAbove, leap} from './timeline-shape.js';

const PAD = 5, RULER = 18;
const SIZES = [{bar: 22, tick: 16, font: 12}, {bar: 17, tick: 14, font: 11}, {bar: 14, tick: 12, font: 10}]; // pixels; the largest with which all lanes fit
const LEVELS = 5; // groups of spans

// colors reads the colors of the theme.
export function colors(node) {
  const style = getComputedStyle(node), of = name => style.getPropertyValue(name).trim();
  const c = {bg: of('--bg'), bg2: of('--bg2'), bg3: of('--bg3'), fg: of('--fg'), dim: of('--dim'), line: of('--line'), accent: of('--accent'), bad: of('--bad'), warn: of('--warn')};
  c.category = CATEGORIES.map(name => name === 'end' ? c.bad : of('--c-' + name));
  return c;
}

// layout places the lanes in a height: the top of each, and of each group of spans in it.
export function layout(shape, height) {
  let placed;
  for (const size of SIZES) {
    let y = RULER;
    const lanes = [];
    for (const i of shape.ordered ?? []) {
      const lane = shape.lanes[i], tops = [];
      let at = y + PAD + size.tick;
      for (let group = 0; group < LEVELS; group++) {
        tops[group] = at;
        at += lane.rows[group] * size.bar;
      }
      lanes.push({i, top: y, height: at - y + PAD, tops});
      y = at + PAD;
    }
    placed = {lanes, height: y, size};
    if (y <= height) break;
  }
  return placed;
}

// Picture draws into a context of width × height CSS pixels. view: {axis, from, to (places on the axis), top (scrolled pixels), gutter}.
export class Picture {
  constructor(context, shape, theme) { [this.c, this.shape, this.theme, this.work] = [context, shape, theme, 0]; }

  draw({width, height, view, placed: {lanes, size, height: all}, n, mark, hover, selected}) {
    const {c, shape, theme} = this;
    this.work = 0;
    Object.assign(this, {view, width, size, font: `${size.font}px system-ui, sans-serif`, xs: shape.axes[view.axis].data, scale: (width - view.gutter) / (view.to - view.from || 1)});
    c.fillStyle = theme.bg;
    c.fillRect(0, 0, width, height);
    c.textBaseline = 'middle';
    c.direction = 'ltr';
    for (const lane of lanes) {
      const top = lane.top - view.top;
      if (top > height || top + lane.height < RULER) continue;
      this.lane(lane, top, selected);
    }
    for (const lane of lanes) this.name(lane, lane.top - view.top, height);
    this.ruler();
    if (all > height) this.thumb(height, all);
    this.line(this.x(mark), height, theme.warn, [3, 3], mark > 0);
    if (hover !== null) this.line(hover, height, theme.line, [], true);
    this.line(this.x(n), height, theme.accent, [], true);
  }

  x(n) { return this.view.gutter + (this.xs[n] - this.view.from) * this.scale; }

  rect(x, y, w, h) {
    this.work++;
    this.c.fillRect(x, y, w, h);
  }

  lane({i, height, tops}, top, selected) {
    const {c, theme, view, width} = this, lane = this.shape.lanes[i];
    c.fillStyle = theme.line;
    c.fillRect(0, top + height - 1, width, 1);
    c.save();
    c.beginPath();
    c.rect(view.gutter, RULER, width - view.gutter, 1e6);
    c.clip();
    for (const pause of lane.pauses) this.pause(pause, top + PAD);
    lane.ticks.forEach((column, k) => { if (column) this.ticks(column, k, top + PAD); });
    for (const [key, row] of lane.rowOf) this.spans(row, tops[Math.floor(key / 100)] - this.view.top + key % 100 * this.size.bar, selected);
    c.restore();
  }

  // ticks draws the events of a category, one for each pixel; it is higher where there are more.
  ticks({data, length}, k, y) {
    const {xs, view, scale, c, theme} = this, {gutter, from, to} = view, {tick} = this.size;
    c.fillStyle = theme.category[k];
    let i = firstAbove(j => xs[data[j]] >= from - 1 / scale, 0, length);
    while (i < length && xs[data[i]] <= to) {
      const px = Math.floor(gutter + (xs[data[i]] - from) * scale), edge = from + (px + 1 - gutter) / scale;
      const next = leap(j => xs[data[j]] >= edge, i + 1, length);
      const tall = Math.min(tick - 1, 4 + Math.log2(next - i));
      this.rect(px, y + tick - 1 - tall, 1, tall);
      i = next;
    }
  }

  // spans draws a row of spans; those that begin on one pixel and end on it are one.
  spans({spans, ends}, y, selected) {
    const {xs, view, shape, width, scale} = this, {gutter, from, to} = view;
    let i = firstAbove(k => xs[Math.min(ends[k], shape.length)] >= from, 0, spans.length);
    while (i < spans.length) {
      const span = spans[i];
      if (xs[span.from] > to) break;
      const left = this.x(span.from), right = this.x(shape.end(span));
      if (right - left >= 2) {
        this.span(span, Math.max(left, gutter - 2), Math.min(right, width + 2), y, span === selected);
        i++;
        continue;
      }
      this.c.fillStyle = this.color(span);
      this.rect(Math.floor(left), y, 2, this.size.bar - 2);
      const edge = from + (Math.floor(left) + 2 - gutter) / scale;
      i = leap(k => xs[Math.min(ends[k], shape.length)] >= edge, i + 1, spans.length);
    }
  }

  color(span) { return this.theme.category[CATEGORIES.indexOf(span.kind)]; }

  span(span, left, right, y, selected) {
    const {c, theme} = this, h = this.size.bar - 2, mid = span.kind === 'call' && span.mid ? Math.min(Math.max(this.x(span.mid), left), right) : right;
    c.fillStyle = this.color(span);
    this.rect(left, y, Math.max(mid - left, 1), h);
    if (mid < right) {
      c.globalAlpha = .35;
      this.rect(mid, y, right - mid, h);
      c.globalAlpha = 1;
    }
    if (BAD.has(span.status)) {
      c.fillStyle = theme.bad;
      this.rect(right - 3, y, 3, h);
    }
    if (!span.to) {
      c.fillStyle = theme.bg;
      for (let k = 0; k < 3; k++) this.rect(right - 2 - 4 * k, y, 2, h);
    }
    if (selected) {
      c.strokeStyle = theme.fg;
      c.strokeRect(left + .5, y + .5, right - left - 1, h - 1);
    }
    const inside = mid - left > 40 || mid === right; // else it stands where the call waits
    this.label(span.label || span.id, (inside ? left : mid) + 3, (inside ? mid : right) - 3, y + h / 2 + .5, inside ? theme.bg : theme.fg);
  }

  // label draws a text as far as there is room.
  label(text, left, right, y, color) {
    const {c} = this, room = right - left;
    if (room < 24) return;
    c.font = this.font;
    let s = show(text, Math.floor(room / 4)), wide = c.measureText(s).width;
    for (let most = s.length; wide > room && most > 2; wide = c.measureText(s).width) s = show(text, most = Math.min(most - 1, Math.floor(most * room / wide)));
    if (wide > room) return;
    this.work++;
    c.fillStyle = color;
    c.fillText(s, left, y);
  }

  // pause draws a gap in the events of a lane, and what was waited for.
  pause(pause, y) {
    const {c, theme, view, width} = this, {tick} = this.size;
    const left = Math.max(this.x(pause.from) + 2, view.gutter), right = Math.min(this.x(pause.to) - 2, width);
    if (right - left < 4) return;
    c.fillStyle = theme.bg3;
    this.rect(left, y, right - left, tick - 1);
    if (right - left > 60) {
      const text = duration(pause.long) + (right - left > 130 ? ` · ${pause.who}${pause.label ? ' ' + show(pause.label, 60) : ''}` : '');
      this.label(text, left + 3, right - 3, y + (tick - 1) / 2 + .5, theme.dim);
    }
  }

  // name draws the name of a lane, as deep as it is nested.
  name({i, top: whole, height: h}, top, height) {
    const {c, theme, view, shape} = this, lane = shape.lanes[i];
    if (top > height || top + h < RULER) return;
    c.fillStyle = theme.bg2;
    c.fillRect(0, Math.max(top, RULER), view.gutter - 1, top + h - 1 - Math.max(top, RULER));
    c.save();
    c.beginPath();
    c.rect(0, RULER, view.gutter - 4, 1e6);
    c.clip();
    c.font = whole === RULER ? 'bold ' + NAME : NAME;
    c.fillStyle = theme.fg;
    const indent = 8 + 10 * Math.min(lane.depth, 6);
    c.fillText(show(i === 0 ? 'agent' : lane.name || lane.id, 60), indent, Math.max(top, RULER) + 13);
    c.restore();
    c.fillStyle = theme.line;
    c.fillRect(view.gutter - 1, top, 1, h);
  }

  // ruler draws the axis: times, or the numbers of events.
  ruler() {
    const {c, theme, view, width, shape} = this, time = shape.axes.time.data;
    c.fillStyle = theme.bg2;
    c.fillRect(0, 0, width, RULER);
    c.fillStyle = theme.line;
    c.fillRect(0, RULER - 1, width, 1);
    c.font = FONT;
    const marks = view.axis === 'short' ? this.uneven() : this.even();
    for (const [x, value] of marks) {
      c.fillStyle = theme.line;
      c.fillRect(x, 0, 1, RULER);
      c.fillStyle = theme.dim;
      c.fillText(view.axis === 'order' ? value.toLocaleString('en') : duration(view.axis === 'short' ? time[value] : value), x + 4, RULER / 2);
    }
  }

  // even returns marks at round values, at least 90 pixels apart.
  even() {
    const {view, scale, width} = this, least = 90 / scale;
    let unit = 10 ** Math.floor(Math.log10(least));
    unit *= least > 5 * unit ? 10 : least > 2 * unit ? 5 : least > unit ? 2 : 1;
    if (view.axis === 'order') unit = Math.max(1, Math.round(unit));
    else if (unit > 20e6) unit = [30e6, 60e6, 120e6, 300e6, 600e6, 1200e6, 1800e6, 3600e6].find(u => u >= least) ?? Math.ceil(least / 3600e6) * 3600e6;
    const marks = [];
    for (let value = Math.max(0, Math.ceil(view.from / unit) * unit); value <= view.to; value += unit) {
      const x = view.gutter + (value - view.from) * scale;
      if (x < width - 20) marks.push([x, value]);
    }
    return marks;
  }

  // uneven returns marks at events about 110 pixels apart: where pauses are shortened, times do not stand evenly.
  uneven() {
    const {view, width, scale, shape} = this, marks = [];
    for (let x = view.gutter, last = -1; x < width - 40; x += 110) {
      const n = shape.at('short', view.from + (x - view.gutter) / scale);
      const at = this.x(n);
      if (n !== last && at >= view.gutter - 1 && (marks.length === 0 || at - marks.at(-1)[0] > 70)) marks.push([at, n]);
      last = n;
    }
    return marks;
  }

  // thumb shows which part of the lanes is in view.
  thumb(height, all) {
    const {c, theme, width, view} = this, room = height - RULER;
    c.fillStyle = theme.dim;
    c.globalAlpha = .5;
    c.fillRect(width - 5, RULER + room * view.top / all, 3, room * height / all);
    c.globalAlpha = 1;
  }

  line(x, height, color, dash, wanted) {
    const {c, view, width} = this;
    if (!wanted || x < view.gutter - 1 || x > width) return;
    c.strokeStyle = color;
    c.setLineDash(dash);
    c.beginPath();
    c.moveTo(Math.round(x) + .5, 0);
    c.lineTo(Math.round(x) + .5, height);
    c.stroke();
    c.setLineDash([]);
  }
}

const FONT = '10px system-ui, sans-serif', NAME = '11px system-ui, sans-serif';
const BAD = new Set(['failed', 'rejected', 'truncated', 'stopped', 'cut', 'broken', 'unfinished', 'unanswered']);

// under returns what is drawn at a point: the lane, and the span or the pause.
export function under({shape, view, placed: {lanes, size}, width}, px, py) {
  const scale = (width - view.gutter) / (view.to - view.from || 1), xs = shape.axes[view.axis].data;
  const place = view.from + (px - view.gutter) / scale, y = py + view.top;
  const lane = lanes.find(l => y >= l.top && y < l.top + l.height);
  if (!lane || py < RULER) return {place, lane: -1, span: null, pause: null};
  const found = {place, lane: lane.i, span: null, pause: null}, all = shape.lanes[lane.i];
  for (const [key, row] of all.rowOf) {
    const top = lane.tops[Math.floor(key / 100)] + key % 100 * size.bar;
    if (y < top || y >= top + size.bar) continue;
    const slack = 2 / scale;
    const i = firstAbove(k => xs[Math.min(row.ends[k], shape.length)] >= place - slack, 0, row.spans.length);
    for (let k = i; k < row.spans.length && xs[row.spans[k].from] <= place + slack; k++) {
      if (xs[shape.end(row.spans[k])] >= place - slack) found.span = row.spans[k];
      if (k - i > 100) break;
    }
  }
  if (!found.span && y < lane.top + PAD + size.tick) {
    found.pause = all.pauses.find(p => xs[p.from] < place && xs[p.to] > place) ?? null;
  }
  return found;
}
