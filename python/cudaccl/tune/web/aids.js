// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel with charts: what helps to choose a threshold and the filters.

import {Histogram, Series, binned, linear, logarithmic, withPlaces} from './charts.js';
import {h} from './dom.js';
import {on, set, state, valueOf} from './state.js';

const pixels = () => (state.head ? state.head.width * state.head.height : 1e6);
const columns = () => state.head?.width ?? 1920;
const [zero, white, one] = [() => 0, () => 255, () => 1];

const grey = new Histogram('Grey values of the frame', linear(zero, white), [
  {name: 'threshold', unset: {value: 0, shown: () => 1}}], () => [0, 64, 128, 192, 255]);
const area = new Histogram('Areas of all components, in pixels', withPlaces(logarithmic(pixels)), [
  {name: 'min-area'}, {name: 'max-area', unset: {value: 2 ** 32 - 1, shown: pixels}}], () => [1, 10, 100, 1000, 10000, 100000].filter((tick) => tick < pixels()));
const width = new Histogram('Widths of their boxes', withPlaces(logarithmic(columns)), [
  {name: 'min-width'}, {name: 'max-width', unset: {value: 0, shown: columns}}], () => [1, 3, 10, 30, 100, 300, 1000].filter((tick) => tick < columns()));
const eccentricity = new Histogram('Eccentricities (disc 0, line 1)', withPlaces(linear(zero, one, 3)), [{name: 'max-eccentricity'}], () => [0, 0.25, 0.5, 0.75, 1]);
const counts = new Series('Components', 'line', (point) => point[1]);
const events = new Series('Events', 'bars', (point) => point[2]);
const useOtsu = h('button', {type: 'button', onclick: () => set('threshold', String(state.aids.otsu))});
const stages = h('table', {class: 'stages'});
const legend = h('p', {class: 'hint legend'}, h('span', {class: 'swatch kept'}), ' kept ', h('span', {class: 'swatch removed'}), ' removed by the filters');

export const panel = h('div', {class: 'aids'},
  grey.element, h('div', {class: 'buttons'}, useOtsu), legend, area.element, width.element, eccentricity.element,
  counts.element, events.element, h('h2', {}, 'Time of a frame'), stages);

function updateGrey() {
  const values = state.aids.grey ?? [];
  const most = Math.max(1, ...values.map(Math.sqrt));  // roots: one value of a flat background would hide all others
  const isBinary = valueOf('foreground') === 'binary';
  const threshold = Number(valueOf('threshold')) || 1;
  const isForeground = (value) => (value >= threshold) !== (valueOf('invert') === 'true');
  const marks = state.aids.level ? [[state.aids.level, `this frame: ${state.aids.level}`]] : [[state.aids.otsu ?? 0, `Otsu: ${state.aids.otsu}`]];
  grey.update(values.map((count, value) => [value, value + 1, Math.sqrt(count) / most, isBinary && isForeground(value) ? 'kept' : 'removed']), marks);
  grey.note.textContent = isBinary ? 'Coloured values are foreground. Heights are square roots.' : `foreground=${valueOf('foreground')} does not use threshold. Heights are square roots.`;
  useOtsu.hidden = !state.aids.otsu || !isBinary;
  useOtsu.textContent = `Use Otsu's threshold ${state.aids.otsu}`;
}

const STAGE = /^(.*)-us-mean$/;

function updateStages() {
  const found = Object.entries(state.aids.stats ?? {}).filter(([name, value]) => STAGE.test(name) && value > 0);
  stages.replaceChildren(h('tbody', {}, found.map(([name, value]) => h('tr', {}, h('th', {scope: 'row'}, STAGE.exec(name)[1]), h('td', {}, `${(value / 1000).toFixed(2)} ms`)))));
}

function update() {
  if (!panel.isConnected || panel.closest('[hidden]') || !state.aids) return;
  updateGrey();
  const found = state.aids.components;
  if (found) {
    area.update(binned(found.area, found.kept, area.scale));
    width.update(binned(found.width, found.kept, width.scale));
    eccentricity.update(binned(found.eccentricity, found.kept, eccentricity.scale));
  }
  const kept = found?.kept.filter(Boolean).length ?? 0;
  area.note.textContent = found ? `${kept} of ${found.kept.length} components are kept.` : 'The components that the filters remove are not known yet.';
  updateStages();
}

function updateSeries() {
  if (panel.closest('[hidden]')) return;
  counts.update(state.points);
  events.update(state.points);
}

on('aids', update);
on('values', update);
on('series', updateSeries);
on('tab', () => {
  update();
  updateSeries();
});
