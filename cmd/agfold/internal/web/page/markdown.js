// markdown.js shows a text as Markdown while it streams: a small subset, made of nodes, never of HTML. A text is cut into
// segments; a segment that is complete is drawn once and never again, so the cost of a text is linear in its length.
import {el} from './dom.js';
import {inline} from './inline.js';

const LIMIT = 8192; // characters; a longer segment is cut, so that what is drawn again stays short
const DEEP = 6; // lists and quotes in each other

// Markdown draws a growing text into a node.
export class Markdown {
  constructor(root) {
    [this.root, this.text, this.segments] = [root, '', []];
    this.drawn = 0; // characters that were drawn so far, again and again included
  }

  // set shows a text. What it shares with the text before stays.
  set(text) {
    if (text === this.text) return;
    const shared = text.startsWith(this.text) ? this.text.length : this.text.startsWith(text) ? text.length : 0;
    while (this.segments.length) {
      const last = this.segments.at(-1);
      if (last.closed && last.end < shared || last.closed && last.end === shared && shared === this.text.length) break;
      last.node?.remove();
      this.segments.pop();
    }
    const last = this.segments.at(-1);
    for (let at = last?.end ?? 0, fence = last?.fence ?? null; at < text.length;) {
      const segment = next(text, at, fence);
      segment.node = draw(text.slice(at, segment.end), segment, fence);
      this.drawn += segment.end - at;
      if (segment.node) this.root.append(segment.node);
      this.segments.push(segment);
      [at, fence] = [segment.end, segment.fence];
    }
    this.text = text;
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^`\n]*)$/;

// next finds the end of the segment that begins at a place: {end, closed, fence}. fence is the fence that is open there, or
// after it.
function next(text, from, fence) {
  for (let at = from; ;) {
    if (at - from >= LIMIT) return {end: at, closed: true, fence};
    const newline = text.indexOf('\n', at);
    if (newline < 0 || newline - from > 2 * LIMIT) {
      const end = cut(text, from);
      if (end < text.length && (newline < 0 ? text.length : newline) - from > 2 * LIMIT) return {end, closed: true, fence};
      return {end: text.length, closed: false, fence};
    }
    const line = text.slice(at, newline), opens = FENCE.exec(line);
    if (fence) {
      at = newline + 1;
      if (opens && opens[1][0] === fence.mark[0] && opens[1].length >= fence.mark.length && !opens[2].trim()) return {end: at, closed: true, fence: null};
    } else if (opens) {
      if (at > from) return {end: at, closed: true, fence: null};
      return {end: newline + 1, closed: true, fence: {mark: opens[1], language: opens[2].trim().split(' ')[0]}, opens: true};
    } else {
      at = newline + 1;
      if (!line.trim()) return {end: at, closed: true, fence: null};
    }
  }
}

// cut returns where a long line is cut: after a space, and not within a character.
function cut(text, from) {
  const end = Math.min(from + LIMIT, text.length), space = text.lastIndexOf(' ', end - 1);
  if (space > from + LIMIT / 2) return space + 1;
  return /[\ud800-\udbff]/.test(text[end - 1] ?? '') ? end - 1 : end;
}

// draw returns the node of a segment; fence is the one that was open before it.
function draw(text, segment, fence) {
  if (segment.opens) return el('div', {class: 'md-lang', text: segment.fence.language.slice(0, 40)});
  if (fence) {
    const code = segment.fence ? text : text.replace(/[^\n]*\n$/, ''); // without the line that closes
    return code ? el('pre', {class: 'md-code', tabindex: 0, text: code.replace(/\n$/, '')}) : null;
  }
  if (!text.trim()) return null;
  return el('div', {class: 'md', dir: 'auto'}, blocks(text.replace(/\n+$/, '').split('\n'), 0));
}

const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/, RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/, QUOTE = /^ {0,3}> ?/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/, DELIMITERS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

// blocks returns the nodes of lines.
function blocks(lines, depth) {
  const nodes = [];
  for (let i = 0; i < lines.length;) {
    const line = lines[i], heading = HEADING.exec(line);
    const run = test => { const from = i; while (i < lines.length && test(lines[i])) i++; return lines.slice(from, i); };
    if (!line.trim()) i++;
    else if (heading) { nodes.push(el('h' + Math.min(6, heading[1].length + 2), {}, inline(heading[2]))); i++; }
    else if (RULE.test(line)) { nodes.push(el('hr')); i++; }
    else if (QUOTE.test(line) && depth < DEEP) nodes.push(el('blockquote', {}, blocks(run(l => QUOTE.test(l)).map(l => l.replace(QUOTE, '')), depth + 1)));
    else if (ITEM.test(line) && depth < DEEP) nodes.push(list(run(l => ITEM.test(l) || /^\s+\S/.test(l)), depth));
    else if (line.includes('|') && DELIMITERS.test(lines[i + 1] ?? '') && lines[i + 1].includes('-')) {
      nodes.push(table(run(l => l.includes('|'))));
    } else {
      const from = i++;
      while (i < lines.length && lines[i].trim() && !HEADING.test(lines[i]) && !QUOTE.test(lines[i]) && !ITEM.test(lines[i]) && !RULE.test(lines[i])) i++;
      nodes.push(el('p', {}, inline(lines.slice(from, i).join('\n'))));
    }
  }
  return nodes;
}

// list returns a list of items; lines that are indented deeper than their item belong to it.
function list(lines, depth) {
  const first = ITEM.exec(lines[0]), ordered = /\d/.test(first[2]), indent = first[1].length;
  const items = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item && (item[1].length <= indent + 1 || !items.length)) items.push([item[3]]);
    else items.at(-1).push(line.slice(Math.min(line.length - line.trimStart().length, indent + 2)));
  }
  return el(ordered ? 'ol' : 'ul', {start: ordered ? parseInt(first[2], 10) : null}, items.map(item => {
    const task = /^\[([ xX])\]\s/.exec(item[0]);
    if (task) item[0] = (task[1] === ' ' ? '☐ ' : '☑ ') + item[0].slice(4);
    return el('li', {}, item.length === 1 ? inline(item[0]) : [inline(item[0]), blocks(item.slice(1), depth + 1)].flat());
  }));
}

const cells = line => line.trim().replace(/^\||\|$/g, '').split(/(?<!\\)\|/).slice(0, 50).map(c => c.trim().replaceAll('\\|', '|'));

function table(lines) {
  const head = cells(lines[0]);
  return el('div', {class: 'md-table', tabindex: 0}, el('table', {}, el('thead', {}, el('tr', {}, head.map(c => el('th', {}, inline(c))))),
    el('tbody', {}, lines.slice(2).map(line => el('tr', {}, cells(line).slice(0, head.length).map(c => el('td', {}, inline(c))))))));
}
