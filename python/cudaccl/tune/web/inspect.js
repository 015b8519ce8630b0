// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel about one pixel: why it is, or is not, foreground; its component, track and events.

import {h, svg} from './dom.js';
import {mark} from './draw.js';
import {link, on, state} from './state.js';
import {eventText} from './zones.js';

const SIGNS = new Map([[true, ['yes', '✓']], [false, ['no', '✗']], [null, ['unknown', '?']]]);

let point = null;
const inputs = ['x', 'y'].map((name) => h('input', {type: 'number', min: 0, 'aria-label': name, onchange: () => ask(inputs.map((one) => Number(one.value)))}));
const answer = h('div', {'aria-live': 'polite'});
export const panel = h('div', {class: 'inspect'},
  h('p', {class: 'hint'}, 'Click a pixel in the picture, or type its place.'), h('div', {class: 'pixel'}, 'x', inputs[0], 'y', inputs[1]), answer);

function ask([x, y]) {
  point = [Math.floor(x), Math.floor(y)];
  inputs.forEach((one, axis) => { one.value = point[axis]; });
  mark(point);
  link.send('explain', {x: point[0], y: point[1]});
}

const list = (record) => h('dl', {class: 'record'}, Object.entries(record).filter(([, value]) => typeof value !== 'object' || Array.isArray(value))
  .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, shown(value))]));

const number = (value) => (typeof value === 'number' && !Number.isInteger(value) ? Number(value.toFixed(2)) : value);
const shown = (value) => (Array.isArray(value) ? value.map(number).join(', ') || 'none' : String(number(value)));

function histogram(counts) {
  const most = Math.max(1, ...counts);
  return svg('svg', {viewBox: '0 0 256 60', class: 'chart', role: 'img', 'aria-label': 'Grey values of the component', preserveAspectRatio: 'none'},
    svg('g', {class: 'bars'}, counts.flatMap((count, value) => (count ? [svg('rect', {class: 'kept', x: value, width: 1, y: 60 - count / most * 60, height: count / most * 60})] : []))));
}

function component({kept, record, track, events, histogram: counts}) {
  const {grey, ...own} = record;
  return [
    h('h2', {}, `Component ${record.label}${kept ? '' : ', removed'}`), list(own),
    grey ? h('h2', {}, 'Grey values') : null, counts ? histogram(counts) : null, grey ? list(grey) : null,
    track ? h('h2', {}, `Track ${track.id}`) : null, track ? list(track) : null,
    events?.length ? h('h2', {}, 'Its events') : null, events?.length ? h('ol', {class: 'log'}, events.map((event) => h('li', {}, eventText(event)))) : null];
}

on('pixel', (found) => {
  answer.replaceChildren(
    h('p', {class: 'verdict'}, `Pixel ${found.x}, ${found.y}: value ${found.value ?? 'not known'}`),
    h('ol', {class: 'steps'}, found.steps.map(({passed, text}) => {
      const [kind, sign] = SIGNS.get(passed);
      return h('li', {class: kind}, h('span', {class: 'sign', 'aria-label': kind}, sign), text);
    })), ...(found.component ? component(found.component) : []).filter(Boolean));
});
on('pick', (frame) => {
  const {width = 0, height = 0} = state.head ?? {};
  if (frame[0] >= 0 && frame[1] >= 0 && frame[0] < width && frame[1] < height) ask(frame);
});

// While the picture is paused, a change of a setting is a new answer for the same pixel.
on('frame', () => {
  if (point && state.head.isAgain && panel.isConnected && !panel.closest('[hidden]')) ask(point);
});
