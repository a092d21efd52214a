// ask.js is the end of the conversation: what the agent asks its user, and calls that the user answers.
import {el, button, show, said} from './dom.js';
import {fields} from './form.js';

// mountAsk returns the place for questions: root and update(moment).
export function mountAsk(app) {
  const root = el('div', {class: 'ask'});
  let interrupts = null, pending = '', able = null;
  return {
    root,
    update({view, following}) {
      const asked = new Set((view.interrupts ?? []).map(i => i.toolCallId)); // the answer is what the call waits for
      const ids = (view.pendingToolCallIds ?? []).filter(id => !asked.has(id));
      const now = ids.join('\n'), can = Boolean(app.live) && following && !['sending', 'streaming', 'calling tools'].includes(view.phase);
      if (view.interrupts === interrupts && now === pending && can === able) return;
      [interrupts, pending, able] = [view.interrupts, now, can];
      root.replaceChildren(...[
        interrupts?.length ? questions(app, interrupts, can) : null,
        ids.length ? calls(app, view, ids, can) : null].filter(Boolean));
    },
  };
}

// questions is a form with a part for each interrupt; all are answered together.
function questions(app, interrupts, can) {
  const note = el('p', {class: 'bad', role: 'alert', hidden: true});
  const parts = interrupts.map(i => ({id: i.id, ...fields(i.responseSchema, i.id)}));
  const decide = parts.length === 1 ? parts[0].decide : null, choices = new Map();
  const send = async answers => {
    try {
      await app.live.answer(answers);
    } catch (error) {
      note.textContent = show(error.message, 500);
      note.hidden = false;
    }
  };
  const form = el('form', {class: 'question', on: {submit(event) {
    event.preventDefault();
    const answers = {};
    for (const part of parts) {
      const {value, error} = choices.has(part) ? {value: choices.get(part)} : part.read();
      if (error) {
        note.textContent = error;
        note.hidden = false;
        return;
      }
      Object.defineProperty(answers, part.id, {value, enumerable: true});
    }
    send(answers);
  }}});
  interrupts.forEach((interrupt, i) => form.append(el('fieldset', {disabled: !can, data: {interrupt: show(interrupt.id, 80)}},
    el('legend', {dir: 'auto'}, said(interrupt.message ?? interrupt.reason ?? 'The agent asks')),
    interrupt.toolCallId !== undefined ? el('p', {class: 'dim'}, 'about the call ', button(show(interrupt.toolCallId, 40), () => app.select('call', interrupt.toolCallId), {class: 'quiet'})) : null,
    interrupt.expiresAt !== undefined ? el('p', {class: 'dim', text: `until ${show(interrupt.expiresAt, 40)}`}) : null,
    parts[i].node, !decide && parts[i].decide ? choice(parts[i], choices) : null)));
  form.append(note);
  if (can && decide) {
    const answer = yes => send(Object.fromEntries([[parts[0].id, decide(yes)]]));
    form.append(el('div', {class: 'buttons'}, button('Yes', () => answer(true), {class: 'primary yes'}), ' ', button('No', () => answer(false), {class: 'no'}), ' ',
      button('Decline', () => send(Object.fromEntries([[parts[0].id, null]])), {class: 'decline', title: 'Do not answer this question'})));
  } else if (can) form.append(el('div', {class: 'buttons'}, el('button', {class: 'primary', text: 'Answer'}), ' ',
    button('Decline', () => send(Object.fromEntries(interrupts.map(i => [i.id, null]))), {class: 'decline'})));
  return form;
}

// choice is a question of yes or no among others.
function choice(part, choices) {
  const group = 'choice-' + part.id;
  const option = (label, yes) => el('label', {class: 'check'}, el('input', {type: 'radio', name: group, on: {change: () => choices.set(part, part.decide(yes))}}), ' ', label);
  return el('div', {}, option('Yes', true), option('No', false));
}

// calls is a form for the results of calls that wait for the user.
function calls(app, view, ids, can) {
  const byID = new Map(view.messages.flatMap(m => m.toolCalls ?? []).map(c => [c.id, c]));
  const note = el('p', {class: 'bad', role: 'alert', hidden: true});
  const parts = ids.map(id => {
    const field = el('textarea', {rows: 2, dir: 'auto', aria: {label: 'Result'}}), failed = el('input', {type: 'checkbox'});
    return {id, field, failed, node: el('fieldset', {disabled: !can, data: {pending: show(id, 80)}},
      el('legend', {}, 'Result of ', button(show(byID.get(id)?.function?.name ?? id, 80), () => app.select('call', id), {class: 'quiet'})),
      field, el('label', {class: 'check'}, failed, ' it failed'))};
  });
  const submit = async event => {
    event.preventDefault();
    try {
      await app.live.results(parts.map(p => ({toolCallId: p.id, content: p.field.value, ...(p.failed.checked && {error: p.field.value || 'failed'})})));
    } catch (error) {
      note.textContent = show(error.message, 500);
      note.hidden = false;
    }
  };
  return el('form', {class: 'question', on: {submit}}, parts.map(p => p.node), note, can ? el('button', {class: 'primary', text: 'Send'}) : null);
}
