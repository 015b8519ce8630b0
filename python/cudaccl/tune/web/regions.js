// SPDX-License-Identifier: LGPL-2.1-or-later
// The document of regions: read from the setting, changed, and sent. The library checks it.

import {link, on, state, changed, valueOf} from './state.js';

export const KINDS = {
  zones: {title: 'Zone', points: 'polygon', text: 'Tracks enter and leave it'},
  lines: {title: 'Line', points: 'line', text: 'Tracks cross it'},
  include: {title: 'Include', points: 'polygon', text: 'Only here is anything found'},
  exclude: {title: 'Exclude', points: 'polygon', text: 'Here nothing is found'},
};
const DIGITS = 6;  // an arrow key moves a corner by a pixel, also of a frame of 32768

export let shapes = [];  // {kind, members, points}; points are parts of the frame
export let selected = null;  // index of a shape
let rest = {};  // members of the document that are no shapes

const without = (object, ...names) => Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
const rounded = (value) => Number(value.toFixed(DIGITS));

function read(text) {
  shapes = [];
  rest = {version: 1};
  if (!text) return;
  const document = JSON.parse(text);
  rest = without(document, 'units', ...Object.keys(KINDS));
  const {width = 1, height = 1} = document.units === 'pixels' ? state.head ?? {} : {};
  const relative = ([x, y]) => [x / width, y / height];
  for (const kind of Object.keys(KINDS)) {
    for (const entry of document[kind] ?? []) {
      const points = kind === 'lines' ? [entry.from, entry.to] : entry.polygon;
      shapes.push({kind, members: without(entry, 'polygon', 'from', 'to'), points: points.map(relative)});
    }
  }
}

function write() {
  if (!shapes.length) return '';
  const document = {...rest};
  for (const {kind, members, points} of shapes) {
    const shape = kind === 'lines' ? {from: points[0], to: points[1]} : {polygon: points};
    (document[kind] ??= []).push({...members, ...shape});
  }
  return JSON.stringify(document);
}

export function select(index) {
  selected = index;
  changed('regions');
}

/** Sends what is drawn, rounded: so the answer is what is here already, and makes no list again while somebody writes
 * in it. drag: as of settings. */
export function commit(drag = null) {
  for (const shape of shapes) shape.points = shape.points.map((point) => point.map(rounded));
  changed('regions');
  link.send('regions', {text: write(), drag});
}

export function add(kind, points) {
  const used = new Set(shapes.filter((one) => one.kind === kind).map((one) => one.members.name));
  let number = 1;
  const word = KINDS[kind].title.toLowerCase();
  while (used.has(`${word} ${number}`)) number += 1;
  shapes.push({kind, members: {name: `${word} ${number}`}, points});
  selected = shapes.length - 1;
  commit();
}

export function remove(index) {
  shapes.splice(index, 1);
  selected = null;
  commit();
}

/** Reads the setting again: after a refusal, what is drawn is not what counts. */
export function reload() {
  read(valueOf('regions'));
  if (selected !== null && selected >= shapes.length) selected = null;
  changed('regions');
}

// What was sent comes back: then shapes stay the same objects, which boxes of the list write into.
const isDrawn = (text) => (text ? JSON.stringify(JSON.parse(text)) : '') === write();
let last = null;
on('values', () => {
  const text = valueOf('regions');
  if (text !== last && !isDrawn(text)) reload();
  last = text;
});
on('size', reload);
on('refused', (refusal) => {
  if (refusal?.names.includes('regions')) reload();
});
