// The page: it draws a thread, and posts what its user does. What an agent says reaches it by textContent only.
import {connect} from './threads/agfold.js';

const $ = id => document.getElementById(id);
const user = await (await fetch('user')).text();
$(user ? 'chat' : 'login').hidden = false;

// element returns a new element with properties and children.
function element(tag, properties, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

let live, rows = [], forms = null; // what is drawn: the messages with their rows, and the interrupts

function open() {
  live?.close();
  [live, rows, forms] = [null, [], null];
  $('messages').replaceChildren();
  const name = location.hash.slice(1) || '1', names = JSON.parse(localStorage.getItem(user) ?? '["1"]');
  if (!names.includes(name)) localStorage.setItem(user, JSON.stringify(names.concat(name)));
  $('threads').replaceChildren(...new Set([...names, name, String(names.length + 1)]).values().map(n =>
    element('a', {href: '#' + n, textContent: names.includes(n) || n === name ? 'Thread ' + n : 'New thread', ...(n === name && {ariaCurrent: 'page'})})));
  live = connect('threads/' + encodeURIComponent(user + '.' + name), {onChange: draw});
}

function draw(now) {
  if (now !== live) return; // of a thread that was left
  const {view} = now;
  $('status').textContent = now.online ? view?.error?.message ?? view?.phase ?? '' : now.error?.final ? now.error.message : 'connecting…';
  if (!view) return;
  $('stop').hidden = !['sending', 'streaming', 'calling tools'].includes(view.phase);
  $('retry').hidden = view.phase !== 'idle' || ['empty', 'succeeded'].includes(view.status);
  // A message that did not change is the same object, so its row stays.
  const results = Object.groupBy(view.messages.filter(m => m.role === 'tool'), m => m.toolCallId);
  const shown = view.messages.filter(m => ['user', 'assistant', 'reasoning'].includes(m.role));
  shown.forEach((message, i) => {
    const result = (message.toolCalls ?? []).map(call => results[call.id]?.[0]);
    const old = rows[i];
    if (old?.message === message && old.result.every((r, k) => r === result[k])) return;
    const row = drawMessage(message, result);
    if (old) old.row.replaceWith(row); else $('messages').append(row);
    rows[i] = {message, result, row};
  });
  for (const {row} of rows.splice(shown.length)) row.remove();
  if (forms !== view.interrupts) {
    forms = view.interrupts;
    $('interrupts').replaceChildren(...(forms.length ? [drawForm(forms)] : []));
  }
}

const text = content => typeof content === 'string' ? content : (content ?? []).map(part => part.text ?? `[${part.type}]`).join('\n');

function drawMessage(message, results) {
  const row = element('li', {className: `${message.role} ${message.status}`}, text(message.content));
  (message.toolCalls ?? []).forEach((call, k) => row.append(element('div', {className: 'tool'},
    element('strong', {textContent: call.function.name}), ` ${call.status}`,
    element('pre', {textContent: JSON.stringify(call.args ?? {}, null, 1)}),
    element('div', {className: 'result', textContent: text(results[k]?.content)}))));
  return row;
}

// drawForm asks for the answers to all interrupts, with a field for each property of their schemas.
function drawForm(interrupts) {
  const form = element('form', {});
  const fields = interrupts.map(interrupt => {
    const properties = Object.entries(interrupt.responseSchema?.properties ?? {approved: {type: 'boolean'}});
    const inputs = properties.map(([name, {type}]) => [name, type, element('input', {type: {boolean: 'checkbox', number: 'number', integer: 'number'}[type] ?? 'text'})]);
    form.append(element('fieldset', {className: 'interrupt'}, element('legend', {textContent: interrupt.message ?? interrupt.reason}),
      ...inputs.map(([name, , input]) => element('label', {}, name + ' ', input, ' '))));
    return [interrupt.id, inputs];
  });
  const answer = read => post(live.answer(Object.fromEntries(fields.map(([id, inputs]) => [id, read(inputs)]))));
  const value = (type, input) => type === 'boolean' ? input.checked : ['number', 'integer'].includes(type) ? input.valueAsNumber : input.value;
  form.onsubmit = event => {
    event.preventDefault();
    answer(inputs => Object.fromEntries(inputs.map(([name, type, input]) => [name, value(type, input)])));
  };
  form.append(element('button', {textContent: 'Answer'}), ' ',
    element('button', {type: 'button', textContent: 'Decline', onclick: () => answer(() => null)}));
  return form;
}

const post = promise => promise.catch(error => { $('status').textContent = error.message; });

$('say').onsubmit = async event => {
  event.preventDefault();
  const input = event.target.elements.text, said = input.value;
  input.value = '';
  await live.send(said).catch(error => { [input.value, $('status').textContent] = [said, error.message]; });
};
$('stop').onclick = () => post(live.stop());
$('retry').onclick = () => post(live.retry());
if (user) {
  onhashchange = open;
  open();
}
