// agfold.js follows a thread that package serve of agfold serves, and posts to it. No dependencies; docs/feed.md of agfold
// describes the format.
//
//   import {connect} from './agfold.js';
//   const live = connect('/threads/abc', {onChange: live => render(live.view)});
//   live.send('Hello');
//
// live.view is the thread as plain JSON, null before it has come. What changes is a new object, and so is whatever it is
// in; what does not change stays the same object, so that === tells what to draw again.

const RETRY_MIN = 500, RETRY_MAX = 30_000, SILENCE = 40_000; // in milliseconds
const FINAL = [400, 401, 403, 404, 405, 410]; // statuses that do not change by asking again

// connect follows the thread at url and returns its live view. Options: onChange(live) is called after every change of
// live.view, live.online and live.error; headers is an object of headers for every request, or a function that returns one.
export function connect(url, {onChange = () => {}, headers = {}} = {}) {
  const base = new URL(url, document.baseURI), end = new AbortController();
  const given = () => typeof headers === 'function' ? headers() : headers;
  let token = '';

  const live = {
    view: null, // the thread
    online: false, // whether the connection stands
    error: null, // why it does not; the feed has given up if error.final
    send: content => post('messages', {content}), // a text or a list of content parts
    answer: payloads => post('answers', {answers: entries(payloads)}), // interrupt id -> payload; null declines
    results: results => post('results', {results}), // [{toolCallId, content, error?}]
    edit: (messageId, content) => post('edit', {messageId, content}),
    stop: () => post('stop', {}),
    retry: () => post('retry', {}),
    close: () => end.abort(),
  };

  async function post(what, body) {
    const to = new URL(base);
    to.pathname = to.pathname.replace(/\/$/, '') + '/' + what;
    const answer = await fetch(to, {
      method: 'POST', headers: {...given(), 'Content-Type': 'application/json'}, body: JSON.stringify(body), signal: end.signal,
    });
    if (!answer.ok) throw await problem(answer);
    return answer.json();
  }

  function changed(change) {
    Object.assign(live, change);
    onChange(live);
  }

  // receive reads one connection until it ends.
  async function receive() {
    const cut = new AbortController(), stop = () => cut.abort();
    let timer = setTimeout(stop, SILENCE); // no comment came either: the connection is dead
    end.signal.addEventListener('abort', stop);
    try {
      const ask = {...given(), Accept: 'text/event-stream'};
      if (token) ask['Last-Event-ID'] = token;
      const answer = await fetch(base, {headers: ask, cache: 'no-store', signal: cut.signal});
      if (!answer.ok) throw await problem(answer);
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = '', from = 0; ;) {
        const {done, value} = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(stop, SILENCE);
        if (!live.online) changed({online: true, error: null});
        text += value;
        for (let at; (at = text.indexOf('\n\n', from)) >= 0; from = 0) {
          dispatch(text.slice(0, at));
          text = text.slice(at + 2);
        }
        from = Math.max(0, text.length - 1);
      }
    } finally {
      clearTimeout(timer);
      end.signal.removeEventListener('abort', stop);
    }
  }

  // dispatch takes one event: a view, or changes to it.
  function dispatch(text) {
    const event = {};
    for (const line of text.split('\n')) {
      const colon = line.indexOf(': ');
      if (colon > 0) event[line.slice(0, colon)] = line.slice(colon + 2);
    }
    if (!('data' in event)) return;
    token = ''; // if what follows fails, a view is asked for
    const data = JSON.parse(event.data);
    const view = event.event === 'view' ? data : data.reduce(patched, live.view);
    token = event.id;
    changed({view});
  }

  (async () => {
    for (let wait = RETRY_MIN; !end.signal.aborted; wait = Math.min(2 * wait, RETRY_MAX)) {
      let error = null;
      await receive().catch(e => error = e);
      if (live.online) wait = RETRY_MIN;
      if (end.signal.aborted) return changed({online: false});
      const final = FINAL.includes(error?.status);
      changed({online: false, error: error && Object.assign(error, {final})});
      if (final) return;
      await new Promise(resolve => setTimeout(resolve, wait * (0.5 + Math.random() / 2)));
    }
  })();
  return live;
}

// Problem is an answer that is not a success: message, status and whatever else the server says of it.
export class Problem extends Error {}

async function problem(answer) {
  const said = await answer.json().catch(() => ({}));
  return Object.assign(new Problem(said.detail ?? answer.statusText), said, {status: answer.status});
}

const entries = payloads => Object.entries(payloads).map(([interruptId, payload]) =>
  payload === null ? {interruptId, status: 'cancelled'} : {interruptId, status: 'resolved', payload});

// patched returns the document after one operation, sharing with it what did not change.
export function patched(doc, {op, path, value}) {
  const walk = (node, [key, ...rest]) => {
    if (key === undefined) return op === 'append' ? node + value : value;
    const add = op === 'add' && !rest.length, remove = op === 'remove' && !rest.length;
    if (!add && !(typeof node === 'object' && node && Object.hasOwn(node, key))) throw new RangeError(`${op} ${path}: no such place`);
    const copy = Array.isArray(node) ? node.slice() : {...node};
    if (Array.isArray(copy) && (add || remove)) {
      copy.splice(key === '-' ? copy.length : +key, remove ? 1 : 0, ...(add ? [value] : []));
    } else if (remove) {
      delete copy[key];
    } else { // also of a member that is named __proto__
      Object.defineProperty(copy, key, {value: add ? value : walk(node[key], rest), writable: true, enumerable: true, configurable: true});
    }
    return copy;
  };
  if (!['add', 'remove', 'replace', 'append'].includes(op)) throw new RangeError(`${op}: no such operation`);
  return walk(doc, path.split('/').slice(1).map(key => key.replaceAll('~1', '/').replaceAll('~0', '~')));
}
