import {el} from './dom.js';

export function mount(root, app) {
  root.append(el('p', {class: 'dim', text: 'nothing here yet'}));
  return {show(moment) {}};
}
