// SPDX-License-Identifier: LGPL-2.1-or-later
// The marks of frames: clicked and drawn on the pictures, and sent. The program checks and keeps them.

import {svg} from './dom.js';
import {layers, redraw} from './draw.js';
import {tools} from './stage.js';
import {changed, link, on, state} from './state.js';
import {toPane} from './view.js';

const CLICK = 4;  // pixels of the page that a pointer may move in a click

export let frames = [];  // {source, time, width, height, objects}; an object is [x, y, width, height]
let isMarking = false;
let drawn = null;  // {from, to, start}: a box that is being drawn; start: of the pointer, on the page

const timeOf = () => state.head?.time ?? 0;
const isHere = (frame) => frame.source === state.player.source && frame.time === timeOf();
/** The marks of the frame on the screen; undefined: it has none. */
export const here = () => frames.find(isHere);
export const objects = () => here()?.objects ?? [];
/** Boxes of the components on the screen. */
export const components = () => (state.head?.boxes ?? []).map(([, , , ...box]) => box);
export const isSame = (a, b) => a.every((value, index) => value === b[index]);
export const isPlaying = () => state.player.state === 'playing' || state.player.state === 'running';

export function send(list) {
  link.send('marks', {document: {version: 1, frames: list}});
}

/** All objects of the frame on the screen; null: it is not marked. */
export function mark(boxes) {
  const {width, height} = state.head;
  const others = frames.filter((frame) => !isHere(frame));
  send(boxes === null ? others : [...others, {source: state.player.source, time: timeOf(), width, height, objects: boxes}]);
}

export const add = (box) => mark([...objects(), box]);

export function remove(box) {
  const left = objects().filter((one) => !isSame(one, box));
  mark(left.length ? left : null);
}

export function removeFrame(frame) {
  send(frames.filter((one) => one !== frame));
}

/** Whether a pointer on the picture marks. */
export function setMarking(value) {
  isMarking = value;
  drawn = null;
  redraw();
}

const contains = ([x, y, width, height], [px, py]) => px >= x && py >= y && px < x + width && py < y + height;
const smallest = (boxes) => boxes.reduce((best, one) => (best && best[2] * best[3] <= one[2] * one[3] ? best : one), null);

function click(point) {
  const marked = smallest(objects().filter((box) => contains(box, point)));
  if (marked) {
    remove(marked);
    return;
  }
  const found = smallest(components().filter((box) => contains(box, point)));
  if (found) add(found);
  changed('marked', found ? null : 'There is no component here: draw a box around what is missed.');
}

/** Whole pixels around both corners, inside the frame. */
function boxOf({from, to}) {
  const size = [state.head.width, state.head.height];
  const [least, most] = [Math.min, Math.max].map((pick) => [0, 1].map((axis) => Math.min(size[axis], Math.max(0, pick(from[axis], to[axis])))));
  const [x, y] = least.map((value, axis) => Math.min(Math.floor(value), size[axis] - 1));
  return [x, y, Math.max(1, Math.ceil(most[0]) - x), Math.max(1, Math.ceil(most[1]) - y)];
}

// Before the other tools: what is marked may lie on a zone.
tools.unshift({
  pointerdown(frame, pane, event) {
    if (!isMarking || !state.head) return false;
    if (isPlaying()) {
      if (!state.player.isLive) link.send('pause');
      changed('marked', state.player.isLive ? 'A camera does not show a frame again: record a clip, and mark that.' : 'The picture is paused now: mark its objects.');
      return true;
    }
    drawn = {from: frame, to: frame, start: [event.clientX, event.clientY], pointer: event.pointerId};
    pane.element.setPointerCapture(event.pointerId);
    return true;
  },
  pointermove(frame, _pane, event) {
    if (!drawn || event.pointerId !== drawn.pointer) return isMarking;
    drawn.to = frame;
    redraw();
    return true;
  },
  pointerup(frame, _pane, event) {
    if (!drawn || event.pointerId !== drawn.pointer) return isMarking;
    const done = {...drawn, to: frame};
    drawn = null;
    const [dx, dy] = [event.clientX - done.start[0], event.clientY - done.start[1]];
    if (Math.hypot(dx, dy) <= CLICK) click(frame);
    else add(boxOf(done));
    redraw();
    return true;
  },
  cancel() {
    drawn = null;
  },
});

function rectangle([x, y, width, height], name) {
  const [left, top] = toPane([x, y]);
  const [right, bottom] = toPane([x + width, y + height]);
  return svg('rect', {class: name, x: left, y: top, width: right - left, height: bottom - top});
}

layers.push(() => (isMarking ? [
  ...objects().map((box) => rectangle(box, 'marked')), ...(drawn ? [rectangle(boxOf(drawn), 'marked new')] : [])] : []));

on('marks', ({document}) => {
  frames = document.frames;
  redraw();
});
on('frame', () => {
  if (isMarking) redraw();
});
