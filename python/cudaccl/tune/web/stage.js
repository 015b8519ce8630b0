// SPDX-License-Identifier: LGPL-2.1-or-later
// The pictures: side by side, with a wipe between them, or one alone.

import {byId, h, svg} from './dom.js';
import {changed, on, state} from './state.js';
import {fit, panBy, setPaneSize, toFrame, toPane, view, zoomBy} from './view.js';

const TITLES = {input: 'Input', result: 'Result', second: 'Other settings'};
const LAYOUTS = {side: 'Side by side', wipe: 'Wipe', left: 'Left', right: 'Right'};
const CLICK = 4;  // pixels that a pointer may move in a click
const SHARP = 2;  // pixels of the screen for one of the frame, from which on they have edges

const stage = byId('stage');
let layout = 'side';
let wipe = 0.5;
let panes = [];

/** What takes part in pointers and keys before the picture does: the editor of regions. */
export const tools = [];

const pair = () => (state.second ? ['result', 'second'] : ['input', 'result']);

class Pane {
  constructor(names) {
    this.names = names;
    this.canvas = h('canvas', {'aria-hidden': 'true'});
    this.overlay = svg('svg', {class: 'overlay', 'aria-hidden': 'true'});
    this.title = h('p', {class: 'title', 'aria-hidden': 'true'});
    this.element = h('div', {
      class: 'pane', tabindex: 0, role: 'application', 'aria-label':
        `${names.map((name) => TITLES[name]).join(' and ')}. Arrow keys move the picture, plus and minus zoom, a click asks about a pixel`},
      this.canvas, this.overlay, this.title);
    this.pointers = new Map();
    for (const name of ['pointerdown', 'pointermove', 'pointerup', 'pointercancel']) {
      this.element.addEventListener(name, (event) => this[name](event));
    }
    this.element.addEventListener('wheel', (event) => this.wheel(event), {passive: false});
    this.element.addEventListener('keydown', (event) => this.keydown(event));
    this.element.addEventListener('dblclick', (event) => tools.some((tool) => tool.dblclick?.(this.frameAt(event), this, event)));
    if (names.length > 1) this.addDivider();
  }

  addDivider() {
    this.divider = h('div', {
      class: 'divider', tabindex: 0, role: 'slider', 'aria-label': 'Wipe', 'aria-valuemin': 0, 'aria-valuemax': 100,
      onpointerdown: (event) => {
        event.stopPropagation();
        this.divider.setPointerCapture(event.pointerId);
      },
      onpointermove: (event) => {
        if (!this.divider.hasPointerCapture(event.pointerId)) return;
        const box = this.element.getBoundingClientRect();
        this.setWipe((event.clientX - box.left) / box.width);
      },
      onkeydown: (event) => {
        const step = {ArrowLeft: -0.02, ArrowRight: 0.02}[event.key];
        if (step === undefined) return;
        event.stopPropagation();
        event.preventDefault();
        this.setWipe(wipe + step);
      }});
    this.element.append(this.divider);
  }

  setWipe(value) {
    wipe = Math.min(1, Math.max(0, value));
    this.draw();
  }

  frameAt(event) {
    const box = this.element.getBoundingClientRect();
    return toFrame([event.clientX - box.left, event.clientY - box.top]);
  }

  pointerdown(event) {
    if (event.button !== 0 && event.pointerType === 'mouse') return;
    const point = this.frameAt(event);
    if (tools.some((tool) => tool.pointerdown?.(point, this, event))) return;
    this.element.setPointerCapture(event.pointerId);
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY, moved: 0});
  }

  pointermove(event) {
    if (tools.some((tool) => tool.pointermove?.(this.frameAt(event), this, event))) return;
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before.x, event.clientY - before.y];
    if (this.pointers.size === 2) this.pinch(event);
    else if (before.moved + Math.hypot(dx, dy) > CLICK) panBy(dx, dy);
    else return;
    this.pointers.set(event.pointerId, {x: event.clientX, y: event.clientY, moved: CLICK + 1});
  }

  pinch(event) {
    const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, one]) => one);
    const before = this.pointers.get(event.pointerId);
    const distance = (one) => Math.max(1, Math.hypot(one.x - other.x, one.y - other.y));
    zoomBy(distance({x: event.clientX, y: event.clientY}) / distance(before), this.point(other));
    other.moved = CLICK + 1;
  }

  point(client) {
    const [x, y] = this.frameAt({clientX: client.x, clientY: client.y});
    return {x, y};
  }

  pointerup(event) {
    if (tools.some((tool) => tool.pointerup?.(this.frameAt(event), this, event))) return;
    const before = this.pointers.get(event.pointerId);
    this.pointers.delete(event.pointerId);
    if (before && before.moved <= CLICK) changed('pick', this.frameAt(event));
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    tools.some((tool) => tool.cancel?.());
  }

  wheel(event) {
    event.preventDefault();
    zoomBy(2 ** (-event.deltaY / 300), this.point({x: event.clientX, y: event.clientY}));
  }

  keydown(event) {
    if (tools.some((tool) => tool.keydown?.(event, this))) return;
    const by = {ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40]}[event.key];
    if (by) panBy(...by);
    else if (event.key === '+' || event.key === '=') zoomBy(1.25);
    else if (event.key === '-') zoomBy(0.8);
    else if (event.key === '0') fit();
    else return;
    event.preventDefault();
  }

  draw() {
    const {width, height} = this.element.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const [w, ht] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== w || this.canvas.height !== ht) Object.assign(this.canvas, {width: w, height: ht});
    const context = this.canvas.getContext('2d');
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, w, ht);
    context.imageSmoothingEnabled = view.zoom * ratio < SHARP;
    this.names.forEach((name, index) => {
      const image = state.images[name];
      if (!image || !state.head) return;
      context.save();
      if (index === 1) {
        context.beginPath();
        context.rect(wipe * w, 0, w, ht);
        context.clip();
      }
      const [x, y] = toPane([0, 0]);
      context.setTransform(ratio * view.zoom, 0, 0, ratio * view.zoom, ratio * x, ratio * y);
      context.drawImage(image, 0, 0, state.head.width, state.head.height);
      context.restore();
    });
    const second = state.head?.secondRelearning ? 'no background yet' : state.head?.secondCount;
    const counts = {input: null, result: state.head?.count, second};
    this.title.textContent = this.names.map((name) => TITLES[name] + (counts[name] == null ? '' : `: ${counts[name]}`)).join(' | ');
    if (this.divider) {
      this.divider.style.left = `${wipe * 100}%`;
      this.divider.setAttribute('aria-valuenow', Math.round(wipe * 100));
    }
  }
}

export const allPanes = () => panes;

function build() {
  const [left, right] = pair();
  const names = {side: [[left], [right]], wipe: [[left, right]], left: [[left]], right: [[right]]}[layout];
  panes = names.map((one) => new Pane(one));
  stage.replaceChildren(...panes.map((pane) => pane.element));
  stage.dataset.panes = panes.length;
  measure();
  changed('panes');
}

function measure() {
  const box = panes[0]?.element.getBoundingClientRect();
  if (box?.width) setPaneSize(box.width, box.height);
  draw();
}

function draw() {
  for (const pane of panes) pane.draw();
  byId('zoom').textContent = `${Math.round(view.zoom * 100)} %`;
}

function buildLayouts() {
  const [left, right] = pair();
  const names = {...LAYOUTS, left: TITLES[left], right: TITLES[right]};
  byId('layouts').replaceChildren(...Object.entries(names).map(([name, text]) => h('button', {
    type: 'button', 'aria-pressed': String(name === layout), onclick: () => {
      layout = name;
      buildLayouts();
      build();
    }}, text)));
}

let wasComparing = null;
on('values', () => {
  if (wasComparing !== Boolean(state.second)) {
    wasComparing = Boolean(state.second);
    buildLayouts();
    build();
  }
});
on('frame', draw);
on('view', draw);
on('size', fit);
new ResizeObserver(measure).observe(stage);
byId('zoom-in').onclick = () => zoomBy(1.25);
byId('zoom-out').onclick = () => zoomBy(0.8);
byId('fit').onclick = fit;
