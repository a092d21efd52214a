// agents.js shows the subagents, and the runs with their steps, as they were.
import {el, show} from './dom.js';
import {text} from './eventpane.js';

const MOST = 500; // rows of a list

export function mount(root, app) {
  const body = el('div', {class: 'ag'});
  root.append(body);
  let subagents, runs;
  return {
    show({view}) {
      if (view.subagents === subagents && view.runs === runs) return;
      [subagents, runs] = [view.subagents, view.runs];
      const open = new Set([...body.querySelectorAll('details[open]')].map(d => d.dataset.key));
      body.replaceChildren(
        el('h2', {text: 'Subagents'}), list(subagents, (s, i) => subagent(s, i, app)), el('h2', {text: 'Runs'}), list(runs, (r, i) => run(r, i, app)));
      for (const d of body.querySelectorAll('details')) if (open.has(d.dataset.key)) d.open = true;
    },
  };
}

function list(all, row) {
  if (!all.length) return el('p', {class: 'dim', text: 'none'});
  const from = Math.max(0, all.length - MOST);
  return el('ol', {class: 'plain'}, from ? el('li', {class: 'dim', text: `${from} earlier ones`}) : null, all.slice(from).map((one, i) => row(one, from + i)));
}

const status = s => el('span', {class: 'chip ' + (/^[a-z]+$/.test(s ?? '') ? s : ''), text: show(s ?? 'running', 40)});

function subagent(s, i, app) {
  const node = el('li', {}, el('details', {data: {key: 's' + i}}, el('summary', {}, el('b', {text: show(s.name ?? s.subagentRunId, 80)}), ' ', status(s.status)),
    text(JSON.stringify(s, null, 2), app)));
  node.style.marginInlineStart = `${Math.min(s.depth ?? 0, 8) * 1.2}rem`;
  return node;
}

function run(r, i, app) {
  const steps = r.steps ?? [];
  return el('li', {}, el('details', {data: {key: 'r' + i}}, el('summary', {}, `${i + 1} `, el('b', {text: show(r.runId ?? '', 80)}), ' ', status(r.status),
    r.error ? el('span', {class: 'bad', text: ' ' + show(r.error.message ?? '', 300)}) : null),
    steps.length ? el('ul', {class: 'plain'}, steps.slice(-MOST).map(s => el('li', {text: `${s.finished ? '✓' : '…'} ${show(s.stepName, 120)}`}))) : null,
    text(JSON.stringify({...r, steps: undefined}, null, 2), app)));
}
