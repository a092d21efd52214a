// inline.js makes the nodes of a line of Markdown: emphasis, code and links. One pass, whatever the text is.
import {el, show} from './dom.js';

const DEEP = 16; // marks that are open at once
const LINK = /(!?)\[([^\[\]\n]{0,500})\]\(\s*<?([^\s()<>]{1,2000}(?:\([^\s()<>]{0,200}\)[^\s()<>]{0,200})?)>?(?:\s+"[^"\n]{0,500}")?\s*\)/y;
const URL_ = /https?:\/\/[^\s<>"'`\]\[(){}|\\^]{1,2000}/y;
const WORDS = /[^\\`*_~\[!h\n]+|h(?!ttps?:)/y;
const MARK = /\*\*\*?|\*|__|_|~~/y;
const TAGS = {'*': 'em', '_': 'em', '**': 'strong', '__': 'strong', '~~': 'del'};

// inline returns the nodes of a text.
export function inline(text) {
  const stack = [{mark: '', nodes: []}];
  const put = node => {
    const {nodes} = stack.at(-1);
    if (typeof node === 'string' && typeof nodes.at(-1) === 'string') nodes[nodes.length - 1] += node;
    else nodes.push(node);
  };
  const match = (pattern, at) => { pattern.lastIndex = at; return pattern.exec(text); };
  for (let at = 0; at < text.length;) {
    const c = text[at];
    let found;
    if ((found = match(WORDS, at))) put(found[0]);
    else if (c === '\n') { put(/ {2}$/.test(text.slice(Math.max(0, at - 2), at)) ? el('br') : '\n'); at++; continue; }
    else if (c === '\\' && /[!-/:-@[-`{-~]/.test(text[at + 1] ?? '')) { put(text[at + 1]); at += 2; continue; }
    else if (c === '`') {
      const run = match(/`+/y, at)[0], end = text.indexOf(run, at + run.length);
      if (end > 0 && text[end + run.length] !== '`') {
        put(el('code', {text: text.slice(at + run.length, end).replace(/^ (.*) $/s, '$1')}));
        at = end + run.length;
      } else { put(run); at += run.length; }
      continue;
    } else if ((c === '[' || c === '!') && (found = match(LINK, at))) put(link(found[3], found[2] || found[3], found[1] === '!'));
    else if (c === 'h' && (found = match(URL_, at))) {
      found = [found[0].replace(/[.,;:!?]+$/, '')];
      put(link(found[0], found[0], false));
    } else if ((found = match(MARK, at)) && TAGS[found[0] = found[0] === '***' ? '**' : found[0]]) mark(stack, found[0], text, at);
    else found = [c], put(c);
    at += found[0].length;
  }
  while (stack.length > 1) unopen(stack);
  return stack[0].nodes;
}

// mark opens or closes an emphasis.
function mark(stack, sign, text, at) {
  const before = text[at - 1] ?? ' ', after = text[at + sign.length] ?? ' ';
  const word = /[\p{L}\p{N}]/u, inWord = sign[0] === '_' && word.test(before) && word.test(after);
  const open = stack.findLastIndex(level => level.mark === sign);
  if (open > 0 && /\S/.test(before) && !inWord) {
    while (stack.length > open + 1) unopen(stack);
    const {nodes} = stack.pop();
    stack.at(-1).nodes.push(nodes.length ? el(TAGS[sign], {}, nodes) : sign + sign);
  } else if (/\S/.test(after) && !inWord && stack.length < DEEP) stack.push({mark: sign, nodes: []});
  else stack.at(-1).nodes.push(sign);
}

// unopen makes a mark that was not closed a text.
function unopen(stack) {
  const {mark, nodes} = stack.pop();
  stack.at(-1).nodes.push(mark, ...nodes);
}

// safeURL returns a URL that may be a link's, or null.
export function safeURL(text) {
  try {
    const url = new URL(text);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

// link returns a link that says where it leads; a picture from elsewhere is a link too, because nothing is loaded. Its label
// shows what would make it look like another address.
export function link(url, text, picture) {
  const to = safeURL(url);
  const label = (picture ? '🖼 ' : '') + show(text, 2000);
  if (!to) return el('span', {class: 'nolink', dir: 'auto', text: label, title: 'This link is not opened.'});
  return el('a', {href: to, target: '_blank', rel: 'noopener noreferrer nofollow', dir: 'auto', title: show(to, 300), text: label});
}
