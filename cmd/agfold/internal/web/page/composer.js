// composer.js is where the user writes, stops a run and runs it again.
import {el, button, show} from './dom.js';

const BUSY = ['sending', 'streaming', 'calling tools'];
const MOST = 16 << 20; // bytes of the files that are attached

// mountComposer returns the composer: root, update(moment), online(live), problem(error).
export function mountComposer(app, tell) {
  const field = el('textarea', {rows: 2, id: 'say', placeholder: 'Say something', aria: {label: 'Message'}});
  const send = el('button', {class: 'primary', text: 'Send'});
  const stop = button('Stop', () => act(() => app.live.stop()), {id: 'stop', hidden: true});
  const retry = button('Retry', () => act(() => app.live.retry()), {id: 'retry', hidden: true});
  const files = el('input', {type: 'file', multiple: true, hidden: true, on: {change: () => attach()}});
  const attached = el('span', {class: 'attached'});
  const note = el('p', {class: 'bad', role: 'alert', hidden: true});
  const past = el('p', {class: 'past', hidden: true}, 'This is how it was. ', button('Back to now', () => app.follow()));
  const form = el('form', {class: 'say', hidden: !app.live && app.source.mode !== 'live', on: {submit}}, field,
    el('div', {class: 'say-buttons'}, button('+', () => files.click(), {title: 'Attach files', aria: {label: 'Attach files'}}), files, attached, retry, stop, send));
  const root = el('div', {class: 'composer'}, note, past, form);
  let parts = [];
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });

  async function act(what) {
    note.hidden = true;
    try {
      await what();
      return true;
    } catch (error) {
      tell(error);
      return false;
    }
  }

  async function submit(event) {
    event.preventDefault();
    const text = field.value, sent = parts;
    if (!text.trim() && !sent.length) return;
    [field.value, parts] = ['', []];
    drawAttached();
    app.follow();
    const content = sent.length ? [...(text.trim() ? [{type: 'text', text}] : []), ...sent.map(p => p.part)] : text;
    if (!await act(() => app.live.send(content)) && !field.value) {
      [field.value, parts] = [text, sent];
      drawAttached();
    }
  }

  async function attach() {
    const chosen = [...files.files];
    files.value = '';
    if (chosen.reduce((n, f) => n + f.size, 0) > MOST) return tell(new Error(`files may have ${MOST >> 20} MiB together`));
    for (const f of chosen) {
      const kind = ['image', 'audio', 'video'].find(k => f.type.startsWith(k + '/')) ?? 'document';
      const value = btoa(Array.from(new Uint8Array(await f.arrayBuffer()), b => String.fromCharCode(b)).join(''));
      parts.push({name: f.name, part: {type: kind, source: {type: 'data', value, mimeType: f.type || 'application/octet-stream'}}});
    }
    drawAttached();
  }

  function drawAttached() {
    attached.replaceChildren(...parts.map(p => button(`${show(p.name, 30)} ×`, () => { parts = parts.filter(q => q !== p); drawAttached(); }, {title: 'Remove'})));
  }

  return {
    root,
    update({view, following}) {
      form.hidden = app.source.mode !== 'live' || !following;
      past.hidden = app.source.mode !== 'live' || following;
      stop.hidden = !BUSY.includes(view.phase);
      retry.hidden = view.phase !== 'idle' || ['empty', 'succeeded', 'interrupted'].includes(view.status);
      send.disabled = view.phase !== 'idle';
    },
    online(live) { root.classList.toggle('offline', !live.online); },
    problem(error) {
      note.textContent = show(error.message, 500);
      note.hidden = false;
    },
  };
}
