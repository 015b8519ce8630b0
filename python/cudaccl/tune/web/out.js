// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel with what is on the screen, as texts that other tools read.

import {h} from './dom.js';
import {link, on} from './state.js';

const FORMS = {
  command: ['Command', 'cudaccl.sh', 'Writes the records of this source to standard output.'],
  launch: ['Launch line', 'cudaccl.sh', 'Shows the picture in a window.'],
  python: ['Python', 'tune.py', 'The records of each frame, in a program.'],
  settings: ['Settings file', 'settings.txt', 'For cudaccl run --settings FILE, and for tune itself.'],
  regions: ['Regions', 'regions.json', 'For the property regions.'],
  preset: ['Preset', 'GstCudaCcl.prs', 'Belongs in ~/.local/share/gstreamer-1.0/presets/GstCudaCcl.prs.'],
  fleet: ['Fleet', 'fleet.yaml', 'For cudaccl fleet run FILE.'],
};
let texts = {};
const form = h('select', {id: 'form', onchange: show}, Object.entries(FORMS).map(([name, [title]]) => h('option', {value: name}, title)));
const name = h('input', {type: 'text', id: 'preset-name', value: 'mine', maxlength: 60, onchange: ask});
const nameRow = h('div', {class: 'member'}, h('label', {for: 'preset-name'}, 'Name of the preset'), name);
const about = h('p', {class: 'hint'});
const area = h('textarea', {id: 'text', readonly: true, rows: 16, spellcheck: 'false', 'aria-label': 'Text'});
const done = h('p', {class: 'hint', role: 'status'});
export const panel = h('div', {class: 'out'},
  h('div', {class: 'member'}, h('label', {for: 'form'}, 'As'), form), nameRow, about, area,
  h('div', {class: 'buttons'}, h('button', {type: 'button', id: 'copy', class: 'main', onclick: copy}, 'Copy'), h('button', {type: 'button', onclick: save}, 'Save…')), done);

function ask() {
  link.send('export', {preset: name.value});
}

function show() {
  nameRow.hidden = form.value !== 'preset';
  about.textContent = FORMS[form.value][2];
  area.value = texts[form.value] ?? '';
  done.textContent = area.value ? '' : 'Nothing: all settings are the defaults, or nothing is drawn.';
}

async function copy() {
  try {
    await navigator.clipboard.writeText(area.value);
    done.textContent = 'Copied.';
  } catch {
    area.select();  // pages of other machines have no clipboard
    done.textContent = document.execCommand('copy') ? 'Copied.' : 'The browser does not let the page copy: the text is selected.';
  }
}

function save() {
  const address = URL.createObjectURL(new Blob([area.value], {type: 'text/plain'}));
  h('a', {href: address, download: FORMS[form.value][1]}).click();
  URL.revokeObjectURL(address);
}

on('exports', (message) => {
  texts = message.texts;
  show();
});
const askIfShown = () => {
  if (!panel.closest('[hidden]')) ask();
};
on('values', askIfShown);
on('tab', askIfShown);
on('player', askIfShown);
