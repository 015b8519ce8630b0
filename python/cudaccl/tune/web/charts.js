// SPDX-License-Identifier: LGPL-2.1-or-later
// Charts of the page: a histogram with handles that move settings, and lines over time.

import {h, svg} from './dom.js';
import {newDrag, set, state, valueOf} from './state.js';

const [WIDTH, HEIGHT, LEFT, BOTTOM] = [340, 96, 4, 16];
const KEY_STEP = 0.01;

/** scale: {toPlace, toValue}, from values to 0..1 and back. */
export class Histogram {
  #drag = null;

  constructor(title, scale, handles, ticks) {
    Object.assign(this, {scale, ticks});
    this.bars = svg('g', {class: 'bars'});
    this.axis = svg('g', {class: 'axis'});
    this.marks = svg('g', {});
    this.handles = handles.map((handle) => this.#handle(handle));
    this.picture = svg('svg', {viewBox: `0 0 ${WIDTH} ${HEIGHT + BOTTOM}`, class: 'chart', role: 'group', 'aria-label': title},
      this.bars, this.axis, this.marks, this.handles.map((one) => one.element));
    this.note = h('p', {class: 'hint'});
    this.element = h('figure', {}, h('figcaption', {}, title), this.picture, this.note);
  }

  x(value) {
    return LEFT + this.scale.toPlace(value) * (WIDTH - 2 * LEFT);
  }

  #handle({name, unset}) {
    const line = svg('line', {y1: 0, y2: HEIGHT, class: 'handle-line'});
    const knob = svg('rect', {y: HEIGHT - 18, width: 12, height: 18, rx: 3, class: 'knob'});
    const element = svg('g', {class: 'handle', tabindex: 0, role: 'slider', 'aria-label': name, 'aria-orientation': 'horizontal'}, line, knob);
    const one = {name, unset, element, line, knob};
    element.addEventListener('pointerdown', (event) => {
      this.#drag = newDrag();
      element.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    element.addEventListener('pointermove', (event) => {
      if (!element.hasPointerCapture(event.pointerId)) return;
      const box = this.picture.getBoundingClientRect();
      const place = ((event.clientX - box.left) / box.width * WIDTH - LEFT) / (WIDTH - 2 * LEFT);
      this.#send(one, place);
    });
    element.addEventListener('keydown', (event) => {
      const step = {ArrowLeft: -KEY_STEP, ArrowRight: KEY_STEP, ArrowDown: -KEY_STEP, ArrowUp: KEY_STEP}[event.key];
      if (step === undefined) return;
      event.preventDefault();
      this.#drag = `keys-${name}`;
      const value = this.#value(one);
      const next = this.scale.toValue(this.scale.toPlace(value) + step);
      // A step of the scale may be less than a step of the value.
      this.#set(one, next === value ? value + Math.sign(step) : next);
    });
    return one;
  }

  #send(one, place) {
    this.#set(one, this.scale.toValue(Math.min(1, Math.max(0, place))));
  }

  #set(one, value) {
    const {least, largest} = state.byName.get(one.name);
    set(one.name, String(Math.min(largest, Math.max(least, value))), this.#drag);
  }

  #value(one) {
    const value = Number(valueOf(one.name));
    return one.unset !== undefined && value === one.unset.value ? one.unset.shown() : value;
  }

  /** bars: [from, to, part of the height, class] in values. */
  update(bars, marks = []) {
    this.bars.replaceChildren(...bars.filter(([, , part]) => part > 0).map(([from, to, part, kind, base = 0]) => svg('rect', {
      class: kind, x: this.x(from), width: Math.max(0.5, this.x(to) - this.x(from) - 0.3), y: HEIGHT - (base + part) * HEIGHT, height: part * HEIGHT})));
    this.axis.replaceChildren(svg('line', {x1: LEFT, x2: WIDTH - LEFT, y1: HEIGHT, y2: HEIGHT}), ...this.ticks().map((tick, index, all) => svg('text', {
      x: this.x(tick), y: HEIGHT + 12, 'text-anchor': index === 0 ? 'start' : index === all.length - 1 ? 'end' : 'middle'}, tick >= 1000 ? `${tick / 1000}k` : String(tick))));
    this.marks.replaceChildren(...marks.flatMap(([value, text]) => [
      svg('line', {class: 'mark', x1: this.x(value), x2: this.x(value), y1: 0, y2: HEIGHT}),
      svg('text', {class: 'mark', x: this.x(value) + (this.x(value) > WIDTH / 2 ? -3 : 3), y: 10, 'text-anchor': this.x(value) > WIDTH / 2 ? 'end' : 'start'}, text)]));
    this.updateHandles();
  }

  updateHandles() {
    for (const one of this.handles) {
      const value = this.#value(one);
      const x = this.x(value);
      one.line.setAttribute('x1', x);
      one.line.setAttribute('x2', x);
      one.knob.setAttribute('x', Math.min(WIDTH - 12, Math.max(0, x - 6)));
      one.element.setAttribute('aria-valuenow', value);
      one.element.setAttribute('aria-valuetext', `${one.name} ${valueOf(one.name)}`);
      const {least, largest} = state.byName.get(one.name) ?? {};
      if (least !== undefined) {
        one.element.setAttribute('aria-valuemin', least);
        one.element.setAttribute('aria-valuemax', largest);
      }
    }
  }
}

export const linear = (least, most, digits = 0) => ({
  toPlace: (value) => Math.min(1, Math.max(0, (value - least()) / (most() - least()))),
  toValue: (place) => Number((least() + place * (most() - least())).toFixed(digits))});

export const logarithmic = (most) => ({
  toPlace: (value) => Math.min(1, Math.log1p(Math.max(0, value)) / Math.log1p(most())),
  toValue: (place) => Math.round(Math.expm1(place * Math.log1p(most())))});

/** Places of values in bins of equal width on the scale: bars of what is kept, on bars of what is not. */
export function binned(values, kept, scale, bins = 48) {
  const counts = Array.from({length: bins}, () => [0, 0]);
  values.forEach((value, index) => {
    counts[Math.min(bins - 1, Math.floor(scale.toPlace(value) * bins))][kept[index] ? 0 : 1] += 1;
  });
  const most = Math.max(1, ...counts.map(([a, b]) => a + b));
  const from = (place) => ({place});
  return counts.flatMap(([a, b], index) => [
    [from(index / bins), from((index + 1) / bins), a / most, 'kept'], [from(index / bins), from((index + 1) / bins), b / most, 'removed', a / most]]);
}

/** A scale that also takes places, which `binned()` makes. */
export const withPlaces = (scale) => ({...scale, toPlace: (value) => (typeof value === 'object' ? value.place : scale.toPlace(value))});

/** A line over time, drawn from the latest points. */
export class Series {
  constructor(title, kind, value) {
    Object.assign(this, {kind, value});
    this.plot = svg('g', {});
    this.element = h('figure', {}, this.caption = h('figcaption', {}, title),
      svg('svg', {viewBox: `0 0 ${WIDTH} 64`, class: 'chart', role: 'img', 'aria-label': title}, this.plot));
    this.title = title;
  }

  update(points) {
    const values = points.map(this.value);
    const most = Math.max(1, ...values);
    const x = (index) => LEFT + index / Math.max(1, points.length - 1) * (WIDTH - 2 * LEFT);
    const y = (value) => 50 - value / most * 44;
    const shape = this.kind === 'bars'
      ? values.flatMap((value, index) => (value ? [svg('line', {class: 'bar', x1: x(index), x2: x(index), y1: 50, y2: y(value)})] : []))
      : [svg('polyline', {class: 'line', points: values.map((value, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`).join(' ')})];
    const time = (point) => (point?.[0] == null ? '' : `${(point[0] / 1e9).toFixed(1)} s`);
    this.plot.replaceChildren(
      svg('line', {class: 'axis', x1: LEFT, x2: WIDTH - LEFT, y1: 50, y2: 50}), ...shape,
      svg('text', {x: LEFT, y: 62}, time(points[0])), svg('text', {x: WIDTH - LEFT, y: 62, 'text-anchor': 'end'}, time(points.at(-1))));
    this.caption.textContent = `${this.title}: ${values.at(-1) ?? 0} now, at most ${Math.max(0, ...values)}`;
  }
}
