// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel with regions: what is there, names and members, and what happened in them.

import {h, newId} from './dom.js';
import {begin, cancel, complete, drawing, moveWithKeys} from './draw.js';
import {KINDS, commit, remove, select, selected, shapes} from './regions.js';
import {on, state} from './state.js';

const MEMBERS = {
  zones: {dwell: 'Seconds until a track has dwelled', crowd: 'More tracks than this are a crowd', margin: 'Margin, in sizes of the track'},
  lines: {margin: 'Margin, in sizes of the track'}, include: {}, exclude: {}};
const SHOWN = 60;

const help = h('p', {class: 'hint', role: 'status'});
const error = h('p', {class: 'error', role: 'alert'});
const list = h('ul', {class: 'shapes'});
const log = h('ol', {class: 'log', tabindex: 0, 'aria-label': 'Events, the latest first'});
const stop = h('div', {class: 'buttons', hidden: true},
  h('button', {type: 'button', onclick: () => complete()}, 'Complete (Enter)'),
  h('button', {type: 'button', onclick: () => cancel()}, 'Cancel (Esc)'));

export const panel = h('div', {class: 'zones'},
  h('div', {class: 'buttons', role: 'group', 'aria-label': 'Draw'},
    Object.entries(KINDS).map(([kind, {title, text}]) => h('button', {
      type: 'button', 'data-kind': kind, title: text, onclick: () => begin(kind)}, `+ ${title}`))),
  help, stop, error, list, h('h2', {}, 'Events'), log);

function input(index, name, text) {
  const id = newId();
  const {members} = shapes[index];
  const box = h('input', {
    id, type: name === 'name' ? 'text' : 'number', min: 0, step: 'any', value: members[name] ?? '', onchange: () => {
      if (box.value === '') delete members[name];
      else members[name] = name === 'name' ? box.value : Number(box.value);
      commit();
    }});
  return h('div', {class: 'member'}, h('label', {for: id}, text), box);
}

function anchor(index) {
  const id = newId();
  const {members} = shapes[index];
  const box = h('select', {id, onchange: () => { members.anchor = box.value; commit(); }},
    ['bottom', 'centroid'].map((name) => h('option', {value: name}, name)));
  box.value = members.anchor ?? 'bottom';
  return h('div', {class: 'member'}, h('label', {for: id}, 'Point of a track that counts'), box);
}

function corners(index) {
  const {width = 1, height = 1} = state.head ?? {};
  return h('div', {class: 'corners', role: 'group', 'aria-label': 'Corners: arrow keys move one, with Shift faster'},
    shapes[index].points.map(([x, y], corner) => h('button', {
      type: 'button', class: 'small', id: `corner-${index}-${corner}`, onkeydown: (event) => moveWithKeys(event, index, corner)},
    `${Math.round(x * width)}, ${Math.round(y * height)}`)));
}

function item(shape, index) {
  const {title} = KINDS[shape.kind];
  const name = shape.members.name ?? '';
  const inside = shape.kind === 'zones' ? state.head?.inZones[name] : undefined;
  const head = h('div', {class: 'head'},
    h('button', {
      type: 'button', class: `pick ${shape.kind}`, 'aria-expanded': String(index === selected),
      onclick: () => select(index === selected ? null : index)}, h('span', {class: 'swatch'}), name || title, ' ',
    h('span', {class: 'kind'}, title)),
    h('span', {class: 'inside', 'data-zone': name}, inside === undefined ? '' : `${inside} inside`), h('span', {class: 'space'}),
    h('button', {type: 'button', class: 'small', 'aria-label': `Delete ${name || title}`, onclick: () => remove(index)}, 'Delete'));
  if (index !== selected) return h('li', {}, head);
  const hasAnchor = shape.kind === 'zones' || shape.kind === 'lines';
  return h('li', {class: 'selected'}, head, input(index, 'name', 'Name'), hasAnchor ? anchor(index) : null,
    Object.entries(MEMBERS[shape.kind]).map(([member, text]) => input(index, member, text)), corners(index));
}

let key = '';
function update() {
  stop.hidden = !drawing;
  help.textContent = drawing
    ? 'Click the corners, and the first one again to complete. With keys: arrows move the cross, Space sets a corner, Enter completes, Backspace removes one.'
    : shapes.length ? 'Drag corners or shapes to move them. Arrow keys move what is selected, Delete removes it.' : 'Nothing is drawn. Zones and lines count tracks, so they switch track on.';
  // A list is made again only if something in it has changed: else boxes would lose the focus while the picture plays.
  const now = JSON.stringify([shapes, selected, state.head?.width]);
  if (now === key) return;
  key = now;
  const focused = document.activeElement?.id;
  list.replaceChildren(...shapes.map(item));
  if (focused?.startsWith('corner-')) document.getElementById(focused)?.focus();
}

function updateInside() {
  for (const one of list.querySelectorAll('.inside[data-zone]')) {
    const inside = state.head.inZones[one.dataset.zone];
    if (inside !== undefined && one.closest('li').querySelector('.zones')) one.textContent = `${inside} inside`;
  }
}

const seconds = (time) => `${(time / 1e9).toFixed(1)} s`;
export const eventText = ({type, id, zone, line, time}) => `${seconds(time)}  ${type}${id ? ` ${id}` : ''}${zone ?? line ? `  ${zone ?? line}` : ''}`;

function showEvents() {
  const last = state.events.slice(-SHOWN).reverse();
  log.replaceChildren(...last.map((event) => h('li', {class: event.zone || event.line ? 'place' : ''}, eventText(event))));
}

on('regions', update);
on('size', update);
on('frame', updateInside);
on('events', showEvents);
on('hello', showEvents);
on('values', () => { error.textContent = ''; });
on('refused', (refusal) => { error.textContent = refusal?.names.includes('regions') ? refusal.text : ''; });
