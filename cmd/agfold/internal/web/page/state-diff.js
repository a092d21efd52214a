// state-diff.js compares JSON values, and finds texts in them. What two values share is not looked into.

const known = new WeakMap(); // a list or object -> another one -> whether they are equal

const isNode = v => typeof v === 'object' && v !== null;

// escaped returns a key as a part of a JSON pointer.
export const escaped = key => String(key).replaceAll('~', '~0').replaceAll('/', '~1');

// equal reports whether two values are equal.
export function equal(a, b) {
  if (a === b) return true;
  if (!isNode(a) || !isNode(b) || Array.isArray(a) !== Array.isArray(b)) return false;
  let partners = known.get(a);
  if (!partners) known.set(a, partners = new WeakMap());
  let same = partners.get(b);
  if (same === undefined) partners.set(b, same = sameInside(a, b));
  return same;
}

function sameInside(a, b) {
  if (Array.isArray(a)) return a.length === b.length && a.every((v, i) => equal(v, b[i]));
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

// aligned pairs the elements of two lists by their places, [in a, in b]; -1 is none. What is alike at both ends is paired
// first, then what is between, in order.
export function aligned(a, b) {
  const shorter = Math.min(a.length, b.length);
  let front = 0, back = 0;
  while (front < shorter && equal(a[front], b[front])) front++;
  while (back < shorter - front && equal(a[a.length - 1 - back], b[b.length - 1 - back])) back++;
  const pairs = [], middle = Math.max(a.length, b.length) - front - back;
  for (let i = 0; i < front; i++) pairs.push([i, i]);
  for (let i = front; i < front + middle; i++) pairs.push([i < a.length - back ? i : -1, i < b.length - back ? i : -1]);
  for (let i = back; i > 0; i--) pairs.push([a.length - i, b.length - i]);
  return pairs;
}

// changes lists how b differs from a, at most so many places, each {op, path, value, old}: a patch as RFC 6902 has it, which
// makes b of a.
export function changes(a, b, most = 200) {
  const list = [];
  let more = 0;
  const add = change => { if (list.length < most) list.push(change); else more++; };
  const walk = (old, value, path) => {
    if (old === undefined && value === undefined || equal(old, value)) return;
    if (value === undefined) return add({op: 'remove', path, old});
    if (old === undefined) return add({op: 'add', path, value});
    if (!isNode(old) || !isNode(value) || Array.isArray(old) !== Array.isArray(value)) return add({op: 'replace', path, value, old});
    if (Array.isArray(value)) {
      let place = 0; // what is before it is as in b, the rest as in a
      for (const [i, k] of aligned(old, value)) {
        walk(i < 0 ? undefined : old[i], k < 0 ? undefined : value[k], `${path}/${place}`);
        if (k >= 0) place++;
      }
      return;
    }
    for (const key of Object.keys(value)) walk(Object.hasOwn(old, key) ? old[key] : undefined, value[key], `${path}/${escaped(key)}`);
    for (const key of Object.keys(old)) if (!Object.hasOwn(value, key)) walk(old[key], undefined, `${path}/${escaped(key)}`);
  };
  walk(a, b, '');
  return {list, more};
}

// find lists the places whose key or text holds a text, in any case: paths as lists of keys, at most so many.
export function find(value, text, most = 200) {
  const wanted = text.toLowerCase(), found = [];
  const stack = [[value, []]];
  while (stack.length && found.length < most) {
    const [v, path] = stack.pop(), key = path.at(-1);
    const hit = typeof key === 'string' && key.toLowerCase().includes(wanted);
    if (hit || !isNode(v) && v !== undefined && String(v).toLowerCase().includes(wanted)) found.push(path);
    if (!isNode(v)) continue;
    const keys = Array.isArray(v) ? v.keys() : Object.keys(v);
    for (const k of [...keys].reverse()) stack.push([v[k], [...path, k]]);
  }
  return found;
}

// at returns the value at a list of keys, undefined if there is none.
export function at(value, keys) {
  for (const key of keys) {
    if (!isNode(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}
