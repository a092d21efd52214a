// patch.js applies the operations of a feed: those of RFC 6902 that the server sends, and append.

const unescape = key => key.includes('~') ? key.replaceAll('~1', '/').replaceAll('~0', '~') : key;

// keys returns the keys of a JSON pointer.
export function keys(path) {
  return path === '' ? [] : path.slice(1).split('/').map(unescape);
}

function put(node, key, value) {
  if (key === '__proto__') Object.defineProperty(node, key, {value, writable: true, enumerable: true, configurable: true});
  else node[key] = value;
}

// apply returns the document after operations, sharing with it what did not change. Each list and object that changes is
// copied once, however many operations there are.
export function apply(doc, ops) {
  if (ops.length === 0) return doc;
  const root = [doc], fresh = new Set([root]);
  for (const {op, path, value} of ops) {
    let node = root, key = 0;
    for (const next of keys(path)) {
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) throw new RangeError(`${op} ${path}: no such place`);
      let child = node[key];
      if (typeof child === 'object' && child !== null && !fresh.has(child)) {
        child = Array.isArray(child) ? child.slice() : {...child};
        fresh.add(child);
        put(node, key, child);
      }
      node = child;
      key = next;
    }
    if (typeof node !== 'object' || node === null) throw new RangeError(`${op} ${path}: no such place`);
    if (op !== 'add' && !Object.hasOwn(node, key)) throw new RangeError(`${op} ${path}: no such place`);
    if (op === 'append') put(node, key, node[key] + value);
    else if (op === 'replace' || op === 'add' && (!Array.isArray(node) || node === root)) put(node, key, value);
    else if (op === 'add') node.splice(key === '-' ? node.length : +key, 0, value);
    else if (op === 'remove' && Array.isArray(node)) node.splice(+key, 1);
    else if (op === 'remove') delete node[key];
    else throw new RangeError(`${op}: no such operation`);
  }
  return root[0];
}
