// SPDX-License-Identifier: LGPL-2.1-or-later
// Two settings on the same frames: those of the page, and others beside them.

import {byId, h} from './dom.js';
import {link, on, state} from './state.js';

const box = byId('compare');
const place = byId('compared');
const list = h('select', {'aria-label': 'Compare with', onchange: use});
const exchange = h('button', {type: 'button', onclick: swap, title: 'The page gets the other settings, and the comparison these'}, 'Exchange');
place.append(h('span', {}, 'Other settings: '), list, exchange);

let remembered = null;  // what was on the page when the comparison began

function choices() {
  return [['before', 'as they were', remembered], ['none', 'the defaults', {}],
    ...state.presets.map((preset) => [`preset ${preset.name}`, `preset ${preset.name}`, preset.values])];
}

function use() {
  const values = choices().find(([name]) => name === list.value)?.[2];
  // Zones and lines are the same in both: a preset has none, but what they count is compared.
  const regions = state.values.regions && values?.track === 'true' ? {regions: state.values.regions} : {};
  link.send('compare', {values: {...regions, ...values}});
}

function swap() {
  const [here, there] = [state.values, state.second];
  const gone = Object.fromEntries(Object.keys(here).filter((name) => !(name in there)).map((name) => [name, null]));
  remembered = here;
  list.value = 'before';
  link.send('set', {values: {...gone, ...there}});
  link.send('compare', {values: here});
}

box.onchange = () => {
  if (!box.checked) {
    link.send('compare', {values: null});
    return;
  }
  remembered = {...state.values};
  list.replaceChildren(...choices().map(([name, text]) => h('option', {value: name}, text)));
  use();
};
on('values', () => {
  box.checked = state.second !== null;
  place.hidden = !box.checked;
  if (box.checked && !list.options.length) {
    remembered = state.second;
    list.replaceChildren(...choices().map(([name, text]) => h('option', {value: name}, text)));
  }
});
