// card.js is the card of a tool call: its arguments while they stream, its status, its result.
import {el, button, show} from './dom.js';
import {media} from './media.js';

const MOST = 4000; // characters of arguments or a result that are shown at first

const WORDS = {streaming: 'arguments arrive', complete: 'running', answered: 'done', broken: 'broken off'};

// Card keeps the node of a call.
export class Card {
  constructor(context) {
    this.context = context;
    this.name = el('b', {class: 'name'});
    this.status = el('span', {class: 'chip'});
    this.args = el('pre', {class: 'args', dir: 'auto', tabindex: 0});
    this.more = button('', () => { this.whole = true; this.draw(); }, {class: 'quiet', hidden: true});
    this.answer = el('div', {class: 'result', hidden: true});
    this.node = el('div', {class: 'card tool'}, el('div', {class: 'card-head'}, el('span', {class: 'hidden', text: 'Tool call '}), this.name, this.status), this.args, this.more, this.answer);
  }

  update(call, result, pending) {
    const fresh = call !== this.call, answered = result !== this.result || this.answer.hidden;
    [this.call, this.result, this.pending] = [call, result, pending];
    this.name.textContent = show(call.function?.name ?? '', 80);
    this.node.dataset.status = pending ? 'pending' : result?.error !== undefined ? 'error' : call.status;
    this.node.dataset.call = show(call.id, 80);
    this.status.textContent = pending ? 'waits for you' : result?.error !== undefined ? 'error' : Object.hasOwn(WORDS, call.status) ? WORDS[call.status] : '';
    if (fresh) this.draw();
    if (answered) this.drawResult(result);
  }

  draw() {
    const raw = this.call.function?.arguments ?? '';
    const text = raw.length > MOST && !this.whole ? raw.slice(0, MOST) + '…' : this.call.args === undefined ? raw : raw.length > 50 * MOST ? raw : JSON.stringify(this.call.args, null, 2);
    this.args.textContent = text === '{}' ? '' : text;
    this.args.hidden = this.args.textContent === '';
    this.more.hidden = raw.length <= MOST || this.whole === true;
    this.more.textContent = `Show all ${raw.length.toLocaleString('en')} characters`;
  }

  drawResult(result) {
    this.answer.hidden = result === undefined;
    if (result === undefined) return this.answer.replaceChildren();
    this.answer.classList.toggle('bad', result.error !== undefined);
    const parts = typeof result.content === 'string' ? [{type: 'text', text: result.content}] : result.content ?? [];
    this.answer.replaceChildren(el('span', {class: 'hidden', text: 'Result: '}), ...parts.map(p => p.type === 'text' ? long(pretty(p.text)) : media(p)),
      result.error !== undefined && result.error !== result.content ? el('div', {class: 'bad', dir: 'auto', text: show(result.error, 1000)}) : '');
  }
}

// pretty spreads a short JSON text over lines.
function pretty(text) {
  if (!/^\s*[[{]/.test(text) || text.length > MOST) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// long shows a text, at first in part.
function long(text) {
  if (text.length <= MOST) return el('pre', {dir: 'auto', tabindex: 0, text});
  const pre = el('pre', {dir: 'auto', tabindex: 0, text: text.slice(0, MOST) + '…'});
  return el('div', {}, pre, button(`Show all ${text.length.toLocaleString('en')} characters`, event => { pre.textContent = text; event.target.remove(); }, {class: 'quiet'}));
}
