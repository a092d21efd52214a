// main.js is the page: it opens a log, goes to positions in it, and has the panes show them.
import {el, button, show, announce} from './dom.js';
import {Source, server, file, json} from './source.js';
import {onKeys, help} from './keys.js';
import * as talk from './conversation.js';
import * as scrub from './scrubber.js';
import * as eventPane from './eventpane.js';
import * as agents from './agents.js';
import * as timeline from './timeline.js';
import * as state from './state.js';
import * as trouble from './trouble.js';
import * as compare from './compare.js';
import {unpack} from './share.js';

const $ = id => document.getElementById(id);
const PANES = [['talk', 'Talk', talk], ['timeline', 'Time', timeline], ['event', 'Event', eventPane], ['state', 'State', state],
  ['agents', 'Agents', agents], ['trouble', 'Trouble', trouble], ['compare', 'Compare', compare]];
const LOADING = 500; // milliseconds between two pictures of a recording that is still being read
const narrow = matchMedia('(max-width: 700px)');
const embedded = $('data') ? await unpack($('data').textContent) : null;
const info = embedded ? {agent: null} : await json('api/info');

// place is what the address says after #: the log and the position in it.
const place = new URLSearchParams(location.hash.slice(1));

const app = {
  source: null, live: null, moment: null, mark: 0, info,
  exported: embedded !== null,
  go, step: by => go((app.moment?.n ?? 0) + by), follow, open, openLog, select, onKey, copy,
  setMark(n) {
    app.mark = Math.max(0, Math.min(n, app.source.length));
    announce('mark at event ' + app.mark);
    for (const f of marks) f(app.mark);
  },
  onMark(f) { marks.add(f); },
  page, panes: {},
};
const marks = new Set(), keyHandlers = {};
let wanted = 0, following = true, busy = false, dirty = false, lastView = null, lastPicture = 0;

// go travels to a position.
function go(n) {
  following = app.source.mode !== 'live' && n >= app.source.length;
  wanted = Math.max(0, Math.min(Math.round(n), app.source.length));
  change();
}

// follow goes to the end, and stays there while the log grows.
function follow() {
  following = true;
  change();
}

function change() {
  dirty = true;
  if (!busy) travel();
}

async function travel() {
  busy = true;
  while (dirty) {
    dirty = false;
    const source = app.source;
    try {
      const moment = following && app.live ? present() : await past(source, following ? source.length : wanted);
      if (source === app.source && moment) {
        app.moment = moment;
        draw();
      }
    } catch (error) {
      problem(error);
    }
    await new Promise(requestAnimationFrame);
  }
  busy = false;
}

// present is the moment of a conversation that goes on.
function present() {
  const view = app.live.view;
  if (!view) return null;
  const before = lastView ?? view;
  lastView = view;
  return {n: app.source.length, length: app.source.length, view, before, ops: [], row: null, following: true};
}

async function past(source, n) {
  lastView = null;
  if (n === 0) return {n, length: source.length, view: await source.view(0), before: null, ops: [], row: null, following};
  const before = await source.view(n - 1);
  const [view, [ops], row] = await Promise.all([source.view(n), source.changes(n - 1, n), source.row(n)]);
  return {n, length: source.length, view, before, ops, row, following};
}

// draw has the panes that are seen show the moment.
function draw() {
  const {moment} = app;
  lastPicture = performance.now();
  for (const [name] of PANES) if (seen(name)) app.panes[name].show(moment);
  app.panes.scrub.show(moment);
  place.set('log', app.source.id);
  if (following) place.delete('n'); else place.set('n', moment.n);
  history.replaceState(null, '', '#' + place);
  tell();
}

// seen reports whether a pane is on the screen.
function seen(name) {
  const pane = document.body.dataset.pane;
  if (narrow.matches) return name === pane;
  return name === 'talk' || name === 'timeline' || name === document.body.dataset.side;
}

// tell says how things stand.
function tell() {
  const {source, live, moment} = app;
  const parts = [];
  if (live) parts.push(!live.online ? live.error?.final ? live.error.message : 'connecting…' : live.view?.phase ?? '');
  else if (!source.done) parts.push(`reading, ${source.length.toLocaleString('en')} events`);
  if (moment) parts.push(moment.view.status);
  if (source.error) parts.push(source.error);
  $('status').textContent = show(parts.filter(Boolean).join(' · '), 300);
  $('status').title = source.error;
}

function problem(error) {
  console.error(error);
  $('status').textContent = show(error.message, 300);
}

// open shows a pane.
function open(name) {
  const wide = !narrow.matches;
  document.body.dataset.pane = name;
  if (name !== 'talk' && name !== 'timeline') document.body.dataset.side = name;
  for (const tab of $('tabs').children) {
    const on = tab.dataset.pane === (wide && (name === 'talk' || name === 'timeline') ? document.body.dataset.side : name);
    tab.setAttribute('aria-selected', on);
    tab.tabIndex = on ? 0 : -1;
  }
  for (const [other] of PANES) app.panes[other]?.hidden?.(!seen(other));
  if (app.moment && seen(name)) app.panes[name].show(app.moment);
}

// select shows a message or a call in the conversation.
function select(kind, id) {
  if (narrow.matches) open('talk');
  app.panes.talk.select(kind, id);
}

function onKey(pane, handler) { keyHandlers[pane] = handler; }

async function copy(text, what = 'text') {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
  } catch {
    announce('the browser does not allow copying');
  }
}

// page is how many events PageUp and PageDown go.
function page() { return Math.max(10, Math.round(app.source.length / 20)); }

// openLog shows a log from now on.
async function openLog(id, n = null) {
  app.source?.close();
  app.live?.close();
  app.live = null;
  app.moment = null;
  lastView = null;
  marks.clear();
  const list = embedded ? [embedded.about] : await json('api/logs');
  let about = list.find(l => l.id === id);
  if (!about && info.agent) about = {id, name: info.agent, mode: 'live', timed: true, length: 0, done: false};
  about ??= list[0];
  const source = app.source = new Source(embedded ? file(embedded) : server(about.id), about);
  source.logs = list.some(l => l.id === about.id) ? list : [...list, about];
  app.mark = 0;
  following = n === null;
  wanted = n ?? 0;
  if (source.mode === 'live') {
    const {connect} = await import('./threads/agfold.js');
    app.live = connect('threads/' + encodeURIComponent(source.id), {onChange: live => {
      if (app.live && live !== app.live) return;
      app.live = live;
      if (following) change(); else tell();
      app.panes.talk?.online?.(live);
    }});
  }
  source.onGrow(() => {
    if (following && (app.live || source.done || performance.now() - lastPicture > LOADING)) change();
    else tell();
    app.panes.scrub?.grow();
    if (seen('timeline')) app.panes.timeline?.grow?.();
  });
  mountAll();
  pick();
  if (!embedded) source.watch();
  change();
}

function mountAll() {
  for (const [name, , module] of PANES) {
    $(name).replaceChildren();
    app.panes[name] = module.mount($(name), app);
  }
  $('scrub').replaceChildren();
  app.panes.scrub = scrub.mount($('scrub'), app);
  open(document.body.dataset.pane);
}

// pick lists the logs.
function pick() {
  const {source} = app;
  const options = source.logs.map((l, i) => el('option', {value: l.id, text: show(l.mode === 'live' ? `${l.name} · conversation ${i + 1}` : l.name, 80)}));
  $('pick').replaceChildren(...options);
  $('pick').value = source.id;
  document.title = show(`${source.name} · agfold`, 80);
}

function theme() {
  const dark = document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
  setTheme(dark === 'dark' ? 'light' : 'dark');
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem('agfold-theme', name); } catch { /* a file may have no storage */ }
  document.dispatchEvent(new Event('themechange'));
}

function newId() { return 'c' + crypto.getRandomValues(new Uint32Array(2)).reduce((s, n) => s + n.toString(36), ''); }

function start() {
  try { const kept = localStorage.getItem('agfold-theme'); if (kept) document.documentElement.dataset.theme = kept; } catch { /* none */ }
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => document.dispatchEvent(new Event('themechange')));
  document.body.dataset.pane = 'talk';
  document.body.dataset.side = 'event';
  $('tabs').append(...PANES.filter(([name]) => !(embedded && name === 'compare')).map(([name, label], i) => el('button', {
    type: 'button', role: 'tab', id: 'tab-' + name, text: label, data: {pane: name}, aria: {controls: name, keyshortcuts: i + 1}, on: {click: () => open(name)},
  })));
  for (const [name] of PANES) $(name).setAttribute('aria-labelledby', 'tab-' + name);
  if (info.agent) $('tools').append(button('New', () => openLog(newId()), {title: 'Begin another conversation'}));
  if (!embedded) $('tools').append(el('a', {class: 'button', id: 'share', text: 'Share', title: 'Save this page with its recording as one file', on: {
    click: event => { event.currentTarget.href = `api/logs/${encodeURIComponent(app.source.id)}/export`; }}, href: '#', download: ''}));
  $('tools').append(button('◐', theme, {title: 'Dark or light (t)', aria: {label: 'Dark or light'}}), button('?', () => help($('help')), {title: 'Keys (?)', aria: {label: 'Keys'}}));
  $('pick').addEventListener('change', () => openLog($('pick').value));
  narrow.addEventListener('change', () => { open(document.body.dataset.pane); if (app.moment) draw(); });
  onKeys(app, {theme, help: () => help($('help')), handlers: keyHandlers, panes: PANES.map(([name]) => name)});
  openLog(place.get('log') ?? (info.agent ? newId() : ''), place.has('n') ? Number(place.get('n')) || 0 : null).catch(problem);
}

globalThis.agfold = app; // for the console
start();
