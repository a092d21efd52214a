// keys.js is the keyboard: what each key does, and the list of keys.
import {el, button} from './dom.js';

const KEYS = [
  ['← →', 'one event back or forth; with Shift ten'],
  ['PageUp PageDown', 'many events back or forth'],
  ['Home End', 'the first event, the last one'],
  ['[ ]', 'the change before, or after, of what the pane shows'],
  ['l', 'follow what comes'],
  ['m', 'set the mark: changes since then are shown too'],
  ['1 … 7', 'panes'],
  ['/', 'search in the pane'],
  ['+ - 0', 'zoom the timeline'],
  ['t', 'dark or light'],
  ['Esc', 'leave a field'],
  ['?', 'this list'],
];

// help shows the list of keys.
export function help(dialog) {
  dialog.replaceChildren(el('h2', {text: 'Keys'}), el('dl', {}, KEYS.flatMap(([keys, what]) => [
    el('dt', {}, keys.split(' ').map(k => k === '…' ? '…' : el('kbd', {text: k}))), el('dd', {text: what})])),
    button('Close', () => dialog.close()));
  dialog.showModal();
}

const typing = node => node?.matches?.('input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]');

// onKeys has the keys do what they are for.
export function onKeys(app, {theme, help, handlers, panes}) {
  const side = () => document.body.dataset.pane === 'talk' ? document.body.dataset.side : document.body.dataset.pane;
  document.addEventListener('keydown', event => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || document.querySelector('dialog[open]')) return;
    if (typing(event.target)) {
      if (event.key === 'Escape') event.target.blur();
      return;
    }
    for (const pane of new Set([document.body.dataset.pane, side()])) {
      if (handlers[pane]?.(event)) return event.preventDefault();
    }
    const go = {
      ArrowLeft: () => app.step(event.shiftKey ? -10 : -1), ArrowRight: () => app.step(event.shiftKey ? 10 : 1),
      PageUp: () => app.step(-app.page()), PageDown: () => app.step(app.page()),
      Home: () => app.go(0), End: () => app.go(app.source.length),
      '[': () => seek(app, side(), -1), ']': () => seek(app, side(), 1),
      l: () => app.follow(), m: () => app.setMark(app.moment?.n ?? 0), t: theme, '?': help,
      '+': () => app.panes.timeline.zoom?.(1), '=': () => app.panes.timeline.zoom?.(1), '-': () => app.panes.timeline.zoom?.(-1), 0: () => app.panes.timeline.zoom?.(0),
      '/': () => document.querySelector(`#${side()} [data-search]`)?.focus(),
    };
    const act = go[event.key] ?? (/^[1-9]$/.test(event.key) && panes[event.key - 1] ? () => app.open(panes[event.key - 1]) : null);
    if (!act) return;
    event.preventDefault();
    act();
  });
}

async function seek(app, pane, direction) {
  const n = await app.panes[pane].seek?.(direction);
  if (Number.isInteger(n)) app.go(n);
}
