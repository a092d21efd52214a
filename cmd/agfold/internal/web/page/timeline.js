// timeline.js is the timeline: every event in the lane of its owner, what lasted, and the pauses between.
import {el, button, show} from './dom.js';
import {Shape, duration, waited} from './timeline-shape.js';
import {Picture, colors, layout, under} from './timeline-draw.js';
import {pointers} from './timeline-pointer.js';
import {list} from './timeline-list.js';

const AXES = [['time', 'Time'], ['short', 'Time, pauses shortened'], ['order', 'Events, evenly']];
const LEGEND = ['message', 'reasoning', 'call', 'state', 'step', 'activity', 'subagent', 'run', 'other'];
const LEAST = {time: 500, short: 500, order: 8}; // the narrowest view

export function mount(root, app) {
  const canvas = el('canvas', {class: 'tl-canvas', tabindex: 0, role: 'img', aria: {label: 'Timeline'}});
  const tip = el('div', {class: 'tl-tip', hidden: true, role: 'presentation'});
  const area = el('div', {class: 'tl-area'}, canvas, tip);
  const axis = el('select', {aria: {label: 'Axis'}, on: {change: () => t.useAxis(axis.value)}}, AXES.map(([value, text]) => el('option', {value, text})));
  const listButton = button('List', () => t.toList(), {aria: {pressed: 'false'}, title: 'The same as a list'});
  const bar = el('div', {class: 'tl-bar'}, axis,
    button('−', () => t.zoom(-1), {title: 'Zoom out (-)', aria: {label: 'Zoom out'}}), button('+', () => t.zoom(1), {title: 'Zoom in (+)', aria: {label: 'Zoom in'}}),
    button('All', () => t.zoom(0), {title: 'The whole recording (0)'}), listButton,
    el('span', {class: 'tl-legend', aria: {hidden: 'true'}}, LEGEND.map(name => el('span', {class: `tl-key tl-${name}`, text: name}))));
  const rows = el('div', {class: 'tl-list', hidden: true});
  root.append(el('div', {class: 'tl'}, bar, area, rows));
  const t = new Timeline(app, {canvas, tip, area, axis, rows, listButton});
  app.onMark?.(() => t.paint());
  return {
    show: moment => t.show(moment),
    grow: () => t.load(),
    zoom: direction => t.zoom(direction),
    hidden: hidden => { if (!hidden) t.resize(); else t.leave(); },
  };
}

class Timeline {
  constructor(app, nodes) {
    Object.assign(this, {app, source: app.source, ...nodes});
    this.shape = new Shape();
    this.view = {axis: 'order', from: 0, to: 1, top: 0, gutter: 120};
    [this.whole, this.n, this.hovered, this.placed] = [true, 0, null, layout(this.shape, 0)];
    this.context = this.canvas.getContext('2d');
    this.theme = colors(this.canvas);
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(this.area);
    this.onTheme = () => {
      if (!this.canvas.isConnected) return document.removeEventListener('themechange', this.onTheme);
      this.theme = colors(this.canvas);
      this.paint();
    };
    document.addEventListener('themechange', this.onTheme);
    pointers(this.canvas, this);
    this.canvas.addEventListener('keydown', event => this.key(event));
    this.list = list(this.rows, app, this.shape);
    this.load();
  }

  // load gets what has been added.
  async load() {
    if (this.loading) return void (this.again = true);
    this.loading = true;
    try {
      do {
        this.again = false;
        const had = this.shape.length;
        this.shape.merge(await this.source.shape(this.shape.length + 1));
        if (this.source !== this.app.source) return;
        const usual = this.source.mode === 'live' ? 'time' : this.shape.usual();
        if (!this.chosen && this.whole && this.shape.length > 0 && usual !== this.view.axis) this.setAxis(usual);
        this.place();
        if (this.whole) this.all();
        this.describe();
        this.paint();
        if (!this.rows.hidden) this.list.draw(this.n);
        if (this.shape.length === had) break;
      } while (this.again || this.shape.length < this.source.length && this.source.done);
    } catch (error) {
      this.canvas.setAttribute('aria-label', `Timeline: ${error.message}`);
      console.error(error);
    } finally {
      this.loading = false;
    }
  }

  describe() {
    const {shape} = this, {length, lanes} = shape, time = shape.axes.time.data[length];
    this.canvas.setAttribute('aria-label', `Timeline of ${length.toLocaleString('en')} events in ${lanes.length} ${lanes.length === 1 ? 'lane' : 'lanes'}` +
      `${shape.clock ? ', ' + duration(time) : ''}. The button List shows the same as a list.`);
    for (const option of this.axis.options) option.disabled = option.value !== 'order' && !shape.clock;
    this.axis.title = shape.clock === 'timestamps' ? 'The times are the timestamps of the events' : shape.clock ? '' : 'This recording has no times';
  }

  show(moment) {
    this.n = moment.n;
    if (moment.n > this.shape.length || this.source.length > this.shape.length) this.load();
    this.reveal(Math.min(moment.n, this.shape.length));
    this.paint();
    if (!this.rows.hidden) this.list.draw(this.n);
  }

  // reveal moves the view so that an event is in it.
  reveal(n) {
    const {view} = this, x = this.shape.axes[view.axis].data[n], wide = view.to - view.from;
    if (x < view.from) this.moveTo(x - wide * .1);
    else if (x > view.to) this.moveTo(x - wide * .9);
  }

  end() { return this.shape.axes[this.view.axis].data[this.shape.length]; }

  all() {
    const end = this.end() || 1, margin = end * .01;
    Object.assign(this.view, {from: -margin, to: end + margin});
    this.whole = true;
  }

  setAxis(name) {
    this.view.axis = this.axis.value = name;
    this.all();
  }

  useAxis(name) {
    const {view, shape} = this, from = shape.at(view.axis, view.from), to = shape.at(view.axis, view.to), whole = this.whole;
    this.chosen = name;
    this.setAxis(name);
    if (!whole) this.setView(shape.axes[name].data[from], shape.axes[name].data[Math.max(to, from + 1)]);
    this.paint();
  }

  setView(from, to) {
    const end = this.end(), margin = Math.max(end * .01, 1), least = Math.min(LEAST[this.view.axis], end + 2 * margin);
    let wide = Math.max(to - from, least);
    if (wide >= end + 2 * margin) return this.all();
    this.whole = false;
    const middle = (from + to) / 2;
    from = Math.max(-margin, Math.min(middle - wide / 2, end + margin - wide));
    Object.assign(this.view, {from, to: from + wide});
  }

  moveTo(from) {
    const wide = this.view.to - this.view.from;
    if (!this.whole) this.setView(from, from + wide);
  }

  // zoom narrows the view for 1 and widens it for -1; 0 shows everything. What is at the place stays there.
  zoom(direction, place = null, factor = 1.5) {
    const {view, shape} = this;
    if (direction === 0) this.all();
    else {
      const at = shape.axes[view.axis].data[Math.min(this.n, shape.length)];
      place ??= at >= view.from && at <= view.to ? at : (view.from + view.to) / 2;
      const by = direction > 0 ? 1 / factor : factor;
      this.setView(place - (place - view.from) * by, place + (view.to - place) * by);
    }
    this.paint();
  }

  // pan moves the view by pixels.
  pan(dx, dy) {
    const {view} = this;
    this.moveTo(view.from - dx * (view.to - view.from) / (this.width - view.gutter));
    view.top = Math.max(0, Math.min(view.top - dy, this.placed.height - this.height));
    this.paint();
  }

  key(event) {
    const step = (this.width - this.view.gutter) / 4;
    const act = {',': () => this.pan(step, 0), '.': () => this.pan(-step, 0), ArrowUp: () => this.pan(0, 40), ArrowDown: () => this.pan(0, -40)}[event.key];
    if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    act();
  }

  resize() {
    const {clientWidth: width, clientHeight: height} = this.area;
    if (!width || !height) return;
    const ratio = devicePixelRatio || 1;
    Object.assign(this, {width, height, ratio});
    this.view.gutter = width < 500 ? 76 : 128;
    [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    this.place();
    this.pan(0, 0);
  }

  place() { this.placed = layout(this.shape, this.height ?? 0); }

  // paint draws before the next frame.
  paint() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      if (!this.width || !this.canvas.isConnected) return;
      const begun = performance.now();
      this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      const picture = new Picture(this.context, this.shape, this.theme);
      const {shape, width, height, view, placed, n} = this;
      picture.draw({width, height, view, placed, n: Math.min(n, shape.length), mark: Math.min(this.app.mark ?? 0, shape.length), hover: this.hovered?.x ?? null, selected: this.hovered?.span});
      // What a frame cost, for tests and for whoever wonders.
      Object.assign(this.canvas.dataset, {work: picture.work, ms: (performance.now() - begun).toFixed(2), events: shape.length, from: view.from, to: view.to});
    });
  }

  // hover says what is at a point.
  hover(x, y) {
    if (!this.width || this.shape.length === 0 || x < this.view.gutter) return this.leave();
    const {view, shape} = this, found = under({shape, view, placed: this.placed, width: this.width}, x, y);
    const n = shape.nearest(view.axis, found.place, found.lane);
    this.hovered = {x, n, ...found};
    this.paint();
    this.tell(x, y);
  }

  async tell(x, y) {
    const {n, span, pause} = this.hovered, {shape, source} = this, hovered = this.hovered;
    const lines = [];
    if (pause) lines.push(el('div', {text: show(waited(pause), 200)}));
    if (span) lines.push(el('div', {}, el('b', {text: span.kind}), ' ', show(span.label || span.id, 80), el('div', {class: 'dim', text: this.spanText(span)})));
    const place = el('div', {class: 'tl-event', text: n ? `event ${n.toLocaleString('en')} ${show(shape.types[shape.type.data[n]], 60)}` : 'before the first event'});
    this.tip.replaceChildren(...lines, place);
    this.tip.hidden = false;
    this.put(x, y);
    if (!n) return;
    const row = await source.row(n).catch(() => null);
    if (this.hovered !== hovered || !row) return;
    place.append(el('span', {class: 'dim', text: shape.clock ? ` at ${duration(shape.axes.time.data[n])}` : ''}),
      el('div', {class: 'said tl-said', dir: 'auto', text: show(row.said ?? '', 160)}));
    this.put(x, y);
  }

  spanText(span) {
    const {shape} = this, time = shape.axes.time.data, end = shape.end(span), parts = [];
    if (shape.clock) parts.push(duration(time[end] - time[span.from]));
    parts.push(`events ${span.from.toLocaleString('en')} to ${span.to ? span.to.toLocaleString('en') : 'now'}`, span.status || 'open');
    if (span.kind === 'call' && span.mid && shape.clock && span.to) parts.push(`${duration(time[end] - time[span.mid])} until the result`);
    return parts.join(' · ');
  }

  // put places the tip beside the pointer.
  put(x, y) {
    const {offsetWidth: w, offsetHeight: h} = this.tip;
    this.tip.style.left = Math.max(2, Math.min(x + 14, this.width - w - 4)) + 'px';
    this.tip.style.top = (y + 18 + h < this.height ? y + 18 : Math.max(2, y - h - 10)) + 'px';
  }

  leave() {
    if (!this.hovered) return;
    this.hovered = null;
    this.tip.hidden = true;
    this.paint();
  }

  // click goes to what is at a point.
  click(x, y) {
    this.hover(x, y);
    const {hovered} = this;
    if (!hovered) return;
    this.app.go(hovered.n);
    const kind = {message: 'message', reasoning: 'message', activity: 'message', call: 'call'}[hovered.span?.kind];
    if (kind && this.width > 700) this.app.select(kind, hovered.span.id);
  }

  // frameSpan zooms to the span at a point.
  frameSpan(x, y) {
    this.hover(x, y);
    const span = this.hovered?.span, xs = this.shape.axes[this.view.axis].data;
    if (!span) return;
    const from = xs[span.from], to = xs[this.shape.end(span)], margin = (to - from) * .1;
    this.setView(from - margin, to + margin);
    this.paint();
  }

  toList() {
    const on = this.rows.hidden;
    this.rows.hidden = !on;
    this.area.hidden = on;
    this.listButton.setAttribute('aria-pressed', on);
    if (on) this.list.draw(this.n);
    else this.resize();
  }
}
