// SPDX-License-Identifier: LGPL-2.1-or-later
// The page of `cudaccl tune`: connects its parts.

import * as aids from './aids.js';
import './compare.js';
import {byId, h} from './dom.js';
import * as fit from './fit.js';
import * as inspect from './inspect.js';
import * as out from './out.js';
import * as settings from './settings.js';
import {changed, link, on, state, valueOf} from './state.js';
import './transport.js';
import './video.js';
import * as zones from './zones.js';

const TABS = {Settings: settings.panel, Zones: zones.panel, Pixel: inspect.panel, Charts: aids.panel, Fit: fit.panel, Export: out.panel};

function show(name, focus = false) {
  for (const tab of byId('tabs').children) {
    const isShown = tab.textContent === name;
    tab.setAttribute('aria-selected', String(isShown));
    tab.tabIndex = isShown ? 0 : -1;
    byId(tab.getAttribute('aria-controls')).hidden = !isShown;
    if (isShown && focus) tab.focus();
  }
  changed('tab', name);
}

function buildTabs() {
  const names = Object.keys(TABS);
  for (const [index, name] of names.entries()) {
    const id = `panel-${name.toLowerCase()}`;
    byId('tabs').append(h('button', {
      type: 'button', role: 'tab', id: `tab-${name.toLowerCase()}`, 'aria-controls': id, onclick: () => show(name),
      onkeydown: (event) => {
        const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
        if (step) show(names[(index + step + names.length) % names.length], true);
      }}, name));
    byId('panels').append(h('div', {id, role: 'tabpanel', 'aria-labelledby': `tab-${name.toLowerCase()}`}, TABS[name]));
  }
  show(names[0]);
}

function buildPresets() {
  byId('preset').replaceChildren(h('option', {value: ''}, 'choose…'), ...state.presets.map(({name, text}) => h('option', {value: name, title: text}, name)));
  byId('output').replaceChildren(...state.outputs.map(([name, text]) => h('option', {value: name, title: text}, name)));
}

byId('preset').onchange = (event) => {
  if (event.target.value) link.send('preset', {name: event.target.value});
  showPreset();
};

/** The preset whose values are in use; of several the one that says most. */
function showPreset() {
  const said = ({values}) => Object.keys(values).length;
  const used = state.presets.filter((one) => said(one) && Object.entries(one.values).every(([name, text]) => valueOf(name) === text));
  byId('preset').value = used.sort((one, other) => said(other) - said(one))[0]?.name ?? '';
}
byId('output').onchange = (event) => link.send('output', {output: event.target.value});
byId('undo').onclick = () => link.send('undo');
byId('redo').onclick = () => link.send('redo');
byId('reset').onclick = () => link.send('reset');

on('hello', buildPresets);
on('values', () => {
  showPreset();
  byId('output').value = state.output;
  byId('undo').disabled = !state.canUndo;
  byId('redo').disabled = !state.canRedo;
  byId('reset').disabled = !Object.keys(state.values).length;
});
on('pick', () => show('Pixel'));
on('lost', () => { byId('lost').hidden = false; });
on('connected', () => { byId('lost').hidden = true; });

// Beside a control if it is one's; else here.
on('refused', (refusal) => {
  const isElsewhere = (refusal?.names ?? []).some((name) => state.byName.has(name));
  byId('refused').hidden = !refusal || isElsewhere;
  byId('refused').textContent = refusal?.text ?? '';
});

document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || event.target.closest('input[type=text], input[type=search], textarea')) return;
  event.preventDefault();
  link.send(event.shiftKey ? 'redo' : 'undo');
});

// The token is in a cookie now, and need not stay in the history.
history.replaceState(null, '', '/');
buildTabs();
link.open();
