// scrubber.js is the slider through time.
import {el, button, show} from './dom.js';

export function mount(root, app) {
  const slider = el('input', {type: 'range', min: 0, max: 0, step: 1, value: 0, aria: {label: 'Event'}, on: {input: () => app.go(Number(slider.value))}});
  const count = el('output', {class: 'count'}), what = el('span', {class: 'what'});
  const live = button('Live', () => app.follow(), {class: 'live', title: 'Follow what comes (l)', hidden: true});
  root.append(
    el('div', {class: 'steps'},
      button('«', () => app.go(0), {title: 'The beginning (Home)', aria: {label: 'The beginning'}}),
      button('‹', () => app.step(-1), {title: 'One event back (←)', aria: {label: 'One event back'}}),
      button('›', () => app.step(1), {title: 'One event forth (→)', aria: {label: 'One event forth'}}),
      button('»', () => app.go(app.source.length), {title: 'The end (End)', aria: {label: 'The end'}})),
    slider, count, live, what);
  const format = n => n.toLocaleString('en');
  const grow = () => {
    slider.max = app.source.length;
    if (app.moment) count.textContent = `${format(app.moment.n)} / ${format(app.source.length)}`;
  };
  return {
    grow,
    show(moment) {
      grow();
      slider.value = moment.n;
      live.hidden = app.source.mode !== 'live';
      live.setAttribute('aria-pressed', moment.following);
      const row = moment.row;
      const text = row ? `${row.type} ${row.said}` : moment.following ? 'what is now' : 'before the first event';
      what.textContent = show(text, 160);
      slider.setAttribute('aria-valuetext', `event ${moment.n} of ${app.source.length}: ${show(text, 80)}`);
    },
  };
}
