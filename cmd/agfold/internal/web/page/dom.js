// dom.js makes nodes. What an agent says reaches the page through these functions only, as text.

// el returns a new element. Properties: class, text, title, on ({click: f}), data ({k: v}), aria ({label: …}); others are
// attributes, which are left out if they are null or false.
export function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key === 'class') node.className = value;
    else if (key === 'text') node.textContent = value;
    else if (key === 'on') for (const [name, f] of Object.entries(value)) node.addEventListener(name, f);
    else if (key === 'data') Object.assign(node.dataset, value);
    else if (key === 'aria') for (const [name, v] of Object.entries(value)) { if (v !== null && v !== undefined) node.setAttribute('aria-' + name, v); }
    else node.setAttribute(key, value === true ? '' : value);
  }
  node.append(...children.flat(Infinity).filter(c => c !== null && c !== undefined && c !== false));
  return node;
}

// control are the characters that have no picture or turn the direction of text.
const control = /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

const picture = c => c === '\n' ? '⏎' : c === '\t' ? '⇥' : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0');

// show returns a name or an id as one line: what could not be seen is made visible, and at most max characters stay.
export function show(text, max = 200) {
  const s = typeof text === 'string' ? text : text === undefined ? '' : JSON.stringify(text) ?? '';
  const cut = s.length > max ? s.slice(0, max).replace(/[\ud800-\udbff]$/, '') + '…' : s;
  return cut.replace(control, picture);
}

// said returns a text of an agent or a user, which keeps its direction to itself.
export function said(text) {
  return el('span', {class: 'said', dir: 'auto', text});
}

// announce tells a screen reader.
export function announce(text) {
  const region = document.getElementById('announce');
  if (region) region.textContent = text;
}

// button returns a button.
export function button(label, click, props) {
  return el('button', {type: 'button', text: label, on: {click}, ...props});
}
