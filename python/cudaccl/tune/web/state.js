// SPDX-License-Identifier: LGPL-2.1-or-later
// What the page knows, and the connection from which it knows it.

import {Link} from './link.js';

export const link = new Link();

export const state = {
  settings: [],  // descriptions
  byName: new Map(),
  values: {},  // that differ from the defaults
  second: null,  // the other settings of a comparison
  outputs: [],
  presets: [],
  head: null,  // of the frame that is shown
  images: {},
  player: {},
  events: [],
  points: [],
  aids: null,
};

const MOST_EVENTS = 200;
const MOST_POINTS = 600;

export const valueOf = (name) => state.values[name] ?? state.byName.get(name)?.default ?? '';

let drags = 0;
/** A name for one movement of a control, whose changes are undone as one. */
export function newDrag() {
  drags += 1;
  return `${Date.now()}-${drags}`;
}

export function set(name, value, drag = null) {
  link.send('set', {values: {[name]: value}, drag});
}

const listeners = new Map();
/** Calls the function after what is named has changed. */
export function on(name, listener) {
  if (!listeners.has(name)) listeners.set(name, []);
  listeners.get(name).push(listener);
}

export function changed(name, detail) {
  for (const listener of listeners.get(name) ?? []) listener(detail);
}

function keepLast(list, more, most) {
  list.push(...more);
  if (list.length > most) list.splice(0, list.length - most);
}

function takeValues(message) {
  Object.assign(state, {
    values: message.values, output: message.output, second: message.second, canUndo: message.canUndo,
    canRedo: message.canRedo, searched: message.searched, needsEarlierFrames: message.needsEarlierFrames});
}

link.addEventListener('hello', ({detail}) => {
  state.settings = detail.settings;
  state.byName = new Map(detail.settings.map((one) => [one.name, one]));
  state.outputs = detail.outputs;
  state.presets = detail.presets;
  state.searchable = detail.searchable;
  state.player = detail.state;
  state.events.length = state.points.length = 0;
  takeValues(detail);
  changed('hello');
  changed('values');
  changed('player');
});
link.addEventListener('values', ({detail}) => {
  takeValues(detail);
  changed('refused', null);
  changed('values');
});
link.addEventListener('state', ({detail}) => {
  state.player = detail;
  changed('player');
});
link.addEventListener('frame', ({detail}) => {
  for (const image of Object.values(state.images)) image.close();
  const old = state.head;
  state.head = detail.head;
  state.images = detail.images;
  if (old === null || old.width !== detail.head.width || old.height !== detail.head.height) changed('size');
  changed('frame');
});
link.addEventListener('events', ({detail}) => {
  keepLast(state.events, detail.events, MOST_EVENTS);
  changed('events', detail.events);
});
link.addEventListener('cleared', () => {
  state.events.length = state.points.length = 0;
  changed('events', []);
  changed('series');
});
link.addEventListener('series', ({detail}) => {
  keepLast(state.points, detail.points, MOST_POINTS);
  changed('series');
});
link.addEventListener('aids', ({detail}) => {
  state.aids = detail;
  changed('aids');
});
for (const name of ['refused', 'pixel', 'exports', 'marks', 'fit', 'offer', 'noVideo', 'lost', 'connected']) {
  link.addEventListener(name, ({detail}) => changed(name, detail));
}
