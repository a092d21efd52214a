// compare-words.js finds the words in which two texts differ.
import {el} from './dom.js';

const CELLS = 250_000; // of the table that aligns words; beyond it everything between the common ends differs

// differing cuts two texts into pieces, [text, whether it is only in this one].
export function differing(a, b) {
  let front = 0, back = 0;
  const [x, y] = [words(a), words(b)], shorter = Math.min(x.length, y.length);
  while (front < shorter && x[front] === y[front]) front++;
  while (back < shorter - front && x[x.length - 1 - back] === y[y.length - 1 - back]) back++;
  const [inA, inB] = middle(x.slice(front, x.length - back), y.slice(front, y.length - back));
  const whole = (all, inside) => joined([...all.slice(0, front).map(w => [w, false]), ...inside, ...all.slice(all.length - back, all.length).map(w => [w, false])]);
  return [whole(x, inA), whole(y, inB)];
}

const words = text => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

function middle(x, y) {
  const n = x.length, m = y.length;
  if (n * m > CELLS) return [x.map(w => [w, true]), y.map(w => [w, true])];
  const best = new Uint32Array((n + 1) * (m + 1)), at = (i, j) => i * (m + 1) + j;
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) best[at(i, j)] = x[i] === y[j] ? best[at(i + 1, j + 1)] + 1 : Math.max(best[at(i + 1, j)], best[at(i, j + 1)]);
  }
  const inA = [], inB = [];
  let i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && j < m && x[i] === y[j]) {
      inA.push([x[i++], false]);
      inB.push([y[j++], false]);
    } else if (j === m || i < n && best[at(i + 1, j)] >= best[at(i, j + 1)]) inA.push([x[i++], true]);
    else inB.push([y[j++], true]);
  }
  return [inA, inB];
}

function joined(pieces) {
  const out = [];
  for (const [text, only] of pieces) {
    if (out.length && out.at(-1)[1] === only) out.at(-1)[0] += text;
    else out.push([text, only]);
  }
  return out;
}

// marked returns a text with what only it has marked.
export function marked(pieces, tag) {
  return el('span', {class: 'said', dir: 'auto'}, pieces.map(([text, only]) => only ? el(tag, {class: 'cmp-only', text}) : text));
}
