// media.js shows the parts of a message that are no text. What is in the message is shown; what is elsewhere is a link, for
// nothing is loaded from other machines.
import {el, show} from './dom.js';
import {link} from './inline.js';

const SAFE = /^(image\/(png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]{1,40}|video\/[\w.+-]{1,40})$/;

// media returns the node of a part.
export function media(part) {
  const source = part.source ?? {}, kind = show(part.type, 30);
  const name = show(part.metadata?.filename ?? part.metadata?.name ?? part.filename ?? '', 80);
  if (source.type === 'url') return frame(kind, link(String(source.value), show(name || String(source.value), 120), false), el('span', {class: 'dim', text: ' not loaded'}));
  const type = String(source.mimeType ?? '');
  if (source.type !== 'data' || typeof source.value !== 'string') return frame(kind, name);
  if (!SAFE.test(type) || !/^[A-Za-z0-9+/=_-]*$/.test(source.value.slice(0, 1000))) {
    return frame(kind, `${name} ${show(type, 60)}, ${Math.round(source.value.length * 0.75).toLocaleString('en')} bytes`);
  }
  const src = `data:${type};base64,${source.value}`;
  if (type.startsWith('image/')) return el('img', {class: 'media', src, alt: name || 'An image in the message', loading: 'lazy'});
  return el(type.startsWith('audio/') ? 'audio' : 'video', {class: 'media', src, controls: true, preload: 'none', aria: {label: name || kind}});
}

const frame = (kind, ...children) => el('div', {class: 'part'}, el('span', {class: 'chip', text: kind}), ' ', ...children);
