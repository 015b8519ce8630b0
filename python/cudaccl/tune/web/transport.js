// SPDX-License-Identifier: LGPL-2.1-or-later
// Playing, pausing and other places of a source; and what is known about the frame that is shown.

import {byId, h} from './dom.js';
import {link, on, state} from './state.js';

const SPEEDS = [[0.25, '¼ ×'], [0.5, '½ ×'], [1, '1 ×'], [2, '2 ×'], [4, '4 ×'], [0, 'as fast as possible']];
const TEXTS = {opening: 'Opening', playing: 'Playing', paused: 'Paused', ended: 'At the end', running: 'Running', failed: 'Failed'};
const STEPS = 1000;

const play = h('button', {type: 'button', class: 'main', onclick: toggle, title: 'Play or pause (Space)'});
const step = h('button', {type: 'button', onclick: () => link.send('step'), title: 'One frame on (.)'}, 'Step');
const back = h('button', {type: 'button', onclick: stepBack, title: 'One frame back (,)'}, 'Back');
const slider = h('input', {type: 'range', min: 0, max: STEPS, value: 0, class: 'scrub', 'aria-label': 'Place in the source',
  oninput: () => { isScrubbing = true; time.textContent = text(placeOf(slider)); },
  onchange: () => { isScrubbing = false; link.send('seek', {time: Math.round(placeOf(slider))}); }});
const time = h('output', {class: 'time'});
const loops = h('input', {type: 'checkbox', onchange: () => link.send('loop', {on: loops.checked})});
const speed = h('select', {'aria-label': 'Speed', onchange: () => link.send('speed', {speed: Number(speed.value)})},
  SPEEDS.map(([value, name]) => h('option', {value}, name)));
const again = h('button', {
  type: 'button', title: 'Labels all frames from the beginning up to this one: exactly what a run finds',
  onclick: () => link.send('runTo', {time: state.head.time})}, 'Run up to here');
let isScrubbing = false;

byId('transport').append(play, back, step, slider, time, h('label', {class: 'check'}, loops, ' Loop'), speed, again);

const placeOf = (control) => control.value / STEPS * (state.player.duration ?? 0);
const text = (place) => `${(place / 1e9).toFixed(2)} s`;
const isFile = () => state.player.duration > 0;

function toggle() {
  link.send(state.player.state === 'playing' || state.player.state === 'running' ? 'pause' : 'play');
}

function stepBack() {
  const frame = 1e9 / (state.player.frameRate || 25);
  link.send('pause');
  link.send('seek', {time: Math.max(0, Math.round(state.head.time - frame))});
}

function update() {
  const {player} = state;
  const isPlaying = player.state === 'playing' || player.state === 'running';
  play.textContent = isPlaying ? 'Pause' : player.state === 'failed' ? 'Open again' : 'Play';
  byId('state').textContent = player.error ? `${TEXTS[player.state]}: ${player.error}` : TEXTS[player.state] ?? '';
  byId('state').dataset.state = player.state;
  play.disabled = player.isLive && player.state !== 'failed';  // a camera cannot wait
  step.disabled = player.isLive;
  for (const one of [back, slider, again]) one.disabled = !isFile();
  again.hidden = !state.needsEarlierFrames || !isFile();
  loops.checked = player.loops;
  if (document.activeElement !== speed) speed.value = String(player.speed);
  speed.disabled = player.isLive;
  const list = byId('source');
  list.parentElement.hidden = (player.sources?.length ?? 0) < 2;
  if (list.options.length !== player.sources?.length) {
    list.replaceChildren(...(player.sources ?? []).map((name, index) => h('option', {value: index}, name)));
  }
  list.value = player.index;
}

const NUMBERS = {
  Frame: ({width, height}) => `${width} × ${height}`,
  Components: ({count, overflow}) => `${count}${overflow ? ', more than max-components' : ''}`,
  Rate: ({rate}) => `${rate} frames/s`,
  Latency: ({latency}) => (latency === null ? '' : `${latency} ms`),
  Note: ({relearning, isAgain}) => [relearning ? 'the background is being learned' : '',
    state.second && state.needsEarlierFrames ? 'the other settings learn the background from when the comparison began' : '',
    isAgain && state.needsEarlierFrames ? 'this frame was labelled more than once: “Run up to here” makes it exact' : ''].filter(Boolean).join('; ')};
const numbers = Object.fromEntries(Object.keys(NUMBERS).map((name) => [name, h('dd', {'data-number': name})]));
byId('numbers').append(...Object.entries(numbers).map(([name, element]) => h('div', {}, h('dt', {}, name), element)));

on('frame', () => {
  for (const [name, value] of Object.entries(NUMBERS)) {
    numbers[name].textContent = value(state.head);
    numbers[name].parentElement.hidden = numbers[name].textContent === '';
  }
  if (isScrubbing) return;
  if (isFile()) slider.value = Math.round((state.head.time ?? 0) / state.player.duration * STEPS);
  time.textContent = state.head.time === null ? '' : text(state.head.time);
});
on('player', update);
on('values', update);
byId('source').onchange = (event) => link.send('source', {index: Number(event.target.value)});

document.addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.target.closest('input, select, textarea, button, summary, a, [role=slider]')) return;
  if (event.key === ' ') toggle();
  else if (event.key === '.') link.send('step');
  else if (event.key === ',' && isFile()) stepBack();
  else return;
  event.preventDefault();
});
