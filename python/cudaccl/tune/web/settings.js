// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel with all settings of the element, in the groups of its documents.

import {h, newId} from './dom.js';
import {control, shown} from './controls.js';
import {on, set, state, valueOf} from './state.js';

const CLOSED = new Set(['Where frames are labelled', 'Motion', 'Objects that touch', 'Records and metadata']);

const rows = new Map();  // by name
const groups = [];
const search = h('input', {
  id: 'search', type: 'search', placeholder: 'Search settings', 'aria-label': 'Search settings', oninput: filter});
const onlyChanged = h('input', {type: 'checkbox', onchange: filter});
const found = h('p', {class: 'hint', role: 'status'});
const list = h('div', {class: 'groups'});

export const panel = h('div', {class: 'settings'},
  h('div', {class: 'bar'}, search, h('label', {class: 'check'}, onlyChanged, ' Changed')), found, list);

function row(setting) {
  const id = newId();
  const made = control(setting, id);
  const reset = h('button', {
    type: 'button', class: 'small', onclick: () => set(setting.name, null),
    'aria-label': `Reset ${setting.name}`, title: `Reset to ${shown(setting, setting.default) || 'nothing'}`}, 'Reset');
  const error = h('p', {class: 'error', role: 'alert'});
  const start = setting.is_live ? null : h('span', {class: 'tag', title: 'A change opens the source again'}, 'next start');
  const element = h('div', {class: 'row', 'data-setting': setting.name},
    h('div', {class: 'head'}, h('label', {for: id}, setting.name), start, h('span', {class: 'space'}), reset),
    made.element, h('p', {class: 'text'}, setting.text), error);
  return {setting, element, reset, error, update: made.update};
}

function build() {
  rows.clear();
  groups.length = 0;
  for (const setting of state.settings) {
    if (setting.name === 'regions') continue;  // the panel Zones has them
    const made = row(setting);
    rows.set(setting.name, made);
    let group = groups.find((one) => one.name === setting.group);
    if (!group) {
      const count = h('span', {class: 'count'});
      group = {name: setting.group, rows: [], count, element: h('details', {open: !CLOSED.has(setting.group)}, h('summary', {}, setting.group, ' ', count))};
      groups.push(group);
    }
    group.rows.push(made);
    group.element.append(made.element);
  }
  list.replaceChildren(...groups.map((group) => group.element));
}

// The texts say for which rules a setting is.
function isIdle(setting) {
  const rules = /\(foreground=([^)]*)\)/.exec(setting.text)?.[1];
  return rules !== undefined && !rules.split(/,| and /).map((one) => one.trim()).includes(valueOf('foreground'));
}

function update() {
  for (const one of rows.values()) {
    one.update();
    const isChanged = one.setting.name in state.values;
    one.element.classList.toggle('changed', isChanged);
    one.element.classList.toggle('idle', isIdle(one.setting));
    one.reset.hidden = !isChanged;
    one.error.textContent = '';
  }
  for (const group of groups) {
    const changed = group.rows.filter((one) => one.setting.name in state.values).length;
    group.count.textContent = changed ? `${changed} changed` : '';
    if (group.name === 'Motion' && valueOf('foreground') === 'motion') group.element.open = true;
  }
  filter();
}

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let matching = 0;
  for (const group of groups) {
    let any = false;
    for (const one of group.rows) {
      const {name, text, choices} = one.setting;
      const all = `${name} ${text} ${group.name} ${choices.flat().join(' ')}`.toLowerCase();
      const isShown = words.every((word) => all.includes(word)) && (!onlyChanged.checked || name in state.values);
      one.element.hidden = !isShown;
      any ||= isShown;
      matching += isShown;
    }
    group.element.hidden = !any;
    if (words.length || onlyChanged.checked) group.element.open = true;
  }
  found.textContent = words.length || onlyChanged.checked ? `${matching} of ${rows.size} settings` : '';
}

/** Shows beside the controls why a value was refused. Returns whether there are such controls. */
function refuse(refusal) {
  for (const one of rows.values()) one.error.textContent = '';
  const named = (refusal?.names ?? []).map((name) => rows.get(name)).filter(Boolean);
  for (const one of named) {
    one.error.textContent = refusal.text;
    one.update();
    one.element.closest('details').open = true;
  }
  return named.length > 0;
}

on('hello', build);
on('values', update);
on('size', update);
on('refused', refuse);
