// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws and moves regions on the pictures, with mouse, touch and keys.

import {svg} from './dom.js';
import {add, commit, remove, select, selected, shapes} from './regions.js';
import {allPanes, tools} from './stage.js';
import {changed, newDrag, on, state} from './state.js';
import {toPane} from './view.js';

const NEAR = 14;  // pixels of the page at which a point is hit; a finger is wide
const FLASH_MS = 1200;

export let drawing = null;  // {kind, points}: a shape that is not complete
let cursor = null;  // a point that keys move
let moving = null;  // {shape, points, corner, drag, from}

const size = () => state.head ?? {width: 1, height: 1};
const toRelative = ([x, y]) => [x / size().width, y / size().height];
const toPixels = ([x, y]) => [x * size().width, y * size().height];
const onPane = (point) => toPane(toPixels(point));
const clamp = ([x, y]) => [Math.min(1, Math.max(0, x)), Math.min(1, Math.max(0, y))];

export function begin(kind) {
  drawing = {kind, points: []};
  cursor = [0.5, 0.5];
  select(null);
  allPanes().at(-1)?.element.focus();
}

export function cancel() {
  drawing = cursor = null;
  changed('regions');
}

export function complete() {
  const {kind, points} = drawing;
  if (points.length < (kind === 'lines' ? 2 : 3)) return;
  drawing = cursor = null;
  add(kind, points);
}

function addPoint(point) {
  drawing.points.push(clamp(point));
  if (drawing.kind === 'lines' && drawing.points.length === 2) complete();
  else changed('regions');
}

function isNear(point, frame) {
  const [ax, ay] = onPane(point);
  const [bx, by] = toPane(frame);
  return Math.hypot(ax - bx, ay - by) <= NEAR;
}

function hit(frame) {
  const order = shapes.map((_, index) => index).sort((a, b) => (b === selected) - (a === selected));
  for (const index of order) {
    const corner = shapes[index].points.findIndex((point) => isNear(point, frame));
    if (corner >= 0) return {index, corner};
  }
  const inside = order.find((index) => index === selected && isInside(shapes[index], toRelative(frame)));
  return inside === undefined ? null : {index: inside, corner: null};
}

// Only for what a pointer hits; what is inside a zone, the element decides.
function isInside({kind, points}, [x, y]) {
  if (kind === 'lines') return false;
  return points.reduce((inside, [ax, ay], index) => {
    const [bx, by] = points[(index + 1) % points.length];
    return (ay > y) !== (by > y) && x < (bx - ax) * (y - ay) / (by - ay) + ax ? !inside : inside;
  }, false);
}

function move(to) {
  const {shape, points, corner, from} = moving;
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  shape.points = points.map((point, index) => (corner === null || corner === index ? [point[0] + dx, point[1] + dy] : point));
  if (corner !== null) shape.points[corner] = clamp(shape.points[corner]);
  changed('regions');
}

const STEPS = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};

function drawWithKeys(event) {
  const step = STEPS[event.key];
  if (step) {
    const by = event.shiftKey ? 1 : 10;
    cursor = clamp(toRelative(toPixels(cursor).map((value, axis) => value + step[axis] * by)));
    changed('regions');
  } else if (event.key === ' ') addPoint(cursor);
  else if (event.key === 'Enter') complete();
  else if (event.key === 'Escape') cancel();
  else if (event.key === 'Backspace') {
    drawing.points.pop();
    changed('regions');
  } else return false;
  event.preventDefault();
  return true;
}

/** Moves the selected shape, or one of its corners, by keys. Returns whether the key was one of these. */
export function moveWithKeys(event, index, corner = null) {
  const step = STEPS[event.key];
  if (step) {
    const by = event.shiftKey ? 10 : 1;
    const shape = shapes[index];
    const delta = toRelative(step.map((value) => value * by));
    shape.points = shape.points.map((point, at) => (corner === null || at === corner ? [point[0] + delta[0], point[1] + delta[1]] : point));
    commit(`keys-${index}-${corner}`);
  } else if (event.key === 'Delete') {
    if (corner !== null && shapes[index].points.length > 3) {
      shapes[index].points.splice(corner, 1);
      commit();
    } else remove(index);
  } else return false;
  event.preventDefault();
  return true;
}

tools.push({
  pointerdown(frame, pane, event) {
    if (drawing) {
      const [first] = drawing.points;
      if (first && drawing.points.length > 2 && isNear(first, frame)) complete();
      else addPoint(toRelative(frame));
      return true;
    }
    const found = hit(frame);
    if (!found) return false;
    select(found.index);
    const shape = shapes[found.index];
    moving = {shape, points: shape.points, corner: found.corner, from: toRelative(frame), drag: newDrag()};
    pane.element.setPointerCapture(event.pointerId);
    return true;
  },
  pointermove(frame) {
    if (moving) move(toRelative(frame));
    else if (drawing) {
      cursor = clamp(toRelative(frame));
      changed('regions');
    } else return false;
    return true;
  },
  pointerup() {
    if (!moving) return Boolean(drawing);
    const hasMoved = moving.shape.points !== moving.points;
    const {drag} = moving;
    moving = null;
    if (hasMoved) commit(drag);
    return true;
  },
  dblclick() {
    if (!drawing) return false;
    drawing.points.pop();  // of the second press
    complete();
    return true;
  },
  cancel() {
    moving = null;
  },
  keydown(event) {
    if (drawing) return drawWithKeys(event);
    return selected !== null && moveWithKeys(event, selected);
  },
});

function label(text, [x, y], kind) {
  return svg('text', {x, y: y - 8, class: `label ${kind}`}, text);
}

function drawShape(shape, index) {
  const points = shape.points.map(onPane);
  const name = shape.members.name ?? '';
  const flash = flashing.has(`${shape.kind}/${name}`) ? ' flash' : '';
  const outline = svg(shape.kind === 'lines' ? 'polyline' : 'polygon', {
    class: `shape ${shape.kind}${index === selected ? ' selected' : ''}${flash}`, points: points.map((one) => one.join()).join(' ')});
  const top = points.reduce((best, one) => (one[1] < best[1] ? one : best));
  const parts = [outline, label(name, top, shape.kind)];
  if (shape.kind === 'lines') parts.push(svg('circle', {class: 'start lines', cx: points[0][0], cy: points[0][1], r: 4}));
  if (index === selected) parts.push(...points.map(([cx, cy]) => svg('circle', {class: 'corner', cx, cy, r: 6})));
  return parts;
}

function drawNew() {
  if (!drawing) return [];
  const points = drawing.points.map(onPane);
  const [cx, cy] = onPane(cursor);
  const line = [...points, [cx, cy]].map((one) => one.join()).join(' ');
  return [
    svg('polyline', {class: `shape new ${drawing.kind}`, points: line}),
    ...points.map(([x, y]) => svg('circle', {class: 'corner', cx: x, cy: y, r: 5})),
    svg('path', {class: 'cross', d: `M${cx - 12} ${cy}h24M${cx} ${cy - 12}v24`})];
}

const flashing = new Set();
on('events', (events) => {
  for (const {zone, line} of events) {
    const key = zone ? `zones/${zone}` : line ? `lines/${line}` : null;
    if (!key) continue;
    flashing.add(key);
    setTimeout(() => {
      flashing.delete(key);
      redraw();
    }, FLASH_MS);
  }
  redraw();
});

let picked = null;
export function mark(point) {
  picked = point;
  redraw();
}

function drawPicked() {
  if (!picked) return [];
  const [[x, y], [right]] = [toPane(picked), toPane([picked[0] + 1, picked[1]])];
  const side = Math.max(9, right - x);
  const middle = (right - x) / 2;
  return [svg('rect', {class: 'picked', x: x + middle - side / 2, y: y + middle - side / 2, width: side, height: side})];
}

/** Functions that give what else is drawn over the pictures. */
export const layers = [];

export function redraw() {
  for (const pane of allPanes()) {
    pane.element.classList.toggle('drawing', Boolean(drawing));
    pane.overlay.replaceChildren(...shapes.flatMap(drawShape), ...layers.flatMap((layer) => layer()), ...drawNew(), ...drawPicked());
  }
}

for (const name of ['regions', 'view', 'panes', 'size']) on(name, redraw);
