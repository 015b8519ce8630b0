// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel in which frames are marked, and settings are searched that find what is marked.

import {h, newId} from './dom.js';
import {add, components, frames, here, isPlaying, isSame, mark, objects, remove, removeFrame, setMarking} from './marks.js';
import {link, on, state} from './state.js';

const PHASES = {reading: 'Reading the marked frames', searching: 'Searching', refining: 'Refining the best', running: 'Running from the beginning'};
const SHOWN = 100;  // components in the list

const help = h('p', {class: 'hint', role: 'status'});
const summary = h('p', {class: 'verdict'});
const nothing = h('button', {type: 'button', onclick: () => mark([])}, 'No object in this frame');
const ownMarks = h('ul', {class: 'shapes', 'aria-label': 'Marks of this frame'});
const ownComponents = h('ul', {class: 'shapes', 'aria-label': 'Components of this frame'});
const listed = h('details', {ontoggle: update}, h('summary', {}, 'Without a pointer'), boxForm(), ownComponents);
const marked = h('ul', {class: 'shapes', 'aria-label': 'Marked frames'});
const total = h('p', {class: 'hint'});
const file = h('input', {type: 'file', accept: '.json,application/json', 'aria-label': 'Load marks from a file', onchange: load});
const names = h('div', {class: 'flags', role: 'group', 'aria-label': 'Settings that are searched'});
const search = h('button', {type: 'button', class: 'main', id: 'search-fit', onclick: () => link.send('fit', {names: chosen()})}, 'Search settings');
const stop = h('button', {type: 'button', id: 'stop-fit', hidden: true, onclick: () => link.send('stopFit')}, 'Stop');
const bar = h('progress', {hidden: true, 'aria-label': 'Trials'});
const progress = h('p', {class: 'hint', role: 'status', id: 'fit-state'});
const result = h('div', {class: 'result'});

export const panel = h('div', {class: 'fit'},
  h('p', {class: 'hint'}, 'Pause, and mark all objects of a frame: click each component that is an object, and draw a box around each that is missed. A click on a mark removes it. What is not marked in a marked frame counts as wrong. Then the same in a few other frames.'),
  help, summary, ownMarks, h('div', {class: 'buttons'}, nothing), listed,
  h('h2', {}, 'Marked frames'), marked, total,
  h('div', {class: 'buttons'}, h('button', {type: 'button', onclick: save}, 'Save marks…'), file),
  h('h2', {}, 'Search'), h('details', {}, h('summary', {}, 'Settings that are searched'), names),
  h('div', {class: 'buttons'}, search, stop), bar, progress, result);

function boxForm() {
  const boxes = ['x', 'y', 'width', 'height'].map((name) => h('input', {type: 'number', min: name.length > 1 ? 1 : 0, 'aria-label': `${name} of a box`, placeholder: name}));
  return h('div', {class: 'box'}, boxes, h('button', {type: 'button', class: 'small', onclick: () => {
    if (boxes.every((one) => one.value !== '')) add(boxes.map((one) => Number(one.value)));
  }}, 'Add the box'));
}

const placeText = ([x, y, width, height]) => `${width} × ${height} at ${x}, ${y}`;

function item(text, label, press, isPressed = null) {
  const attributes = isPressed === null ? {} : {'aria-pressed': String(isPressed)};
  return h('li', {class: 'head'}, text, h('span', {class: 'space'}), h('button', {type: 'button', class: 'small', 'aria-label': `${label}: ${text}`, onclick: press, ...attributes}, label));
}

const seconds = (time) => `${(time / 1e9).toFixed(2)} s`;
const counted = (count) => (count === 1 ? '1 object' : `${count} objects`);

/** Shows the frame, which may be of another source, and stays there, also where the clip had ended. */
function show({source, time}) {
  link.send('pause');
  const index = state.player.sources.indexOf(source);
  if (index !== state.player.index && index >= 0) link.send('source', {index});
  else link.send('seek', {time});
}

function markedItem(frame) {
  const several = state.player.sources?.length > 1 ? `${frame.source}, ` : '';
  const text = `${several}${seconds(frame.time)}: ${frame.objects.length ? counted(frame.objects.length) : 'no object'}`;
  return h('li', {class: 'head'}, h('button', {type: 'button', class: 'pick', onclick: () => show(frame)}, text), h('span', {class: 'space'}),
    h('button', {type: 'button', class: 'small', 'aria-label': `Remove the marks: ${text}`, onclick: () => removeFrame(frame)}, 'Remove'));
}

let key = '';
function update() {
  if (panel.closest('[hidden]')) return;
  const own = objects();
  const found = listed.open && !isPlaying() ? components().slice(0, SHOWN) : [];
  // As with zones: a list is made again only if something in it has changed.
  const now = JSON.stringify([own, found, frames, Boolean(here()), isPlaying(), state.player.sources]);
  if (now === key) return;
  key = now;
  nothing.disabled = isPlaying() || Boolean(here());
  summary.textContent = isPlaying() ? 'Playing: pause to mark a frame.' : here() ? `This frame: ${own.length ? counted(own.length) : 'no object'}` : 'This frame is not marked.';
  ownMarks.replaceChildren(...own.map((box) => item(placeText(box), 'Remove', () => remove(box))));
  ownComponents.replaceChildren(...found.filter((box) => !own.some((one) => isSame(one, box))).map((box) => item(placeText(box), 'Mark', () => add(box))));
  marked.replaceChildren(...frames.map(markedItem));
}

function save() {
  const address = URL.createObjectURL(new Blob([`${JSON.stringify({version: 1, frames}, null, 1)}\n`], {type: 'application/json'}));
  h('a', {href: address, download: 'marks.json'}).click();
  URL.revokeObjectURL(address);
}

async function load() {
  const [chosenFile] = file.files;
  file.value = '';
  if (!chosenFile) return;
  try {
    const document = JSON.parse(await chosenFile.text());
    link.send('marks', {document});
  } catch (error) {
    help.textContent = `${chosenFile.name} is no JSON: ${error.message}`;
  }
}

const chosen = () => [...names.querySelectorAll('input:checked')].map((box) => box.value);

let usual = null;
/** The usual settings of the rule, until the user chooses others. */
function updateNames() {
  const now = JSON.stringify(state.searched);
  if (now === usual) return;
  usual = now;
  names.replaceChildren(...state.searchable.map((name) => h('label', {class: 'check'},
    h('input', {type: 'checkbox', value: name, checked: state.searched.includes(name)}), ` ${name}`)));
}

const ROWS = {
  F1: ({f1}) => f1.toFixed(3), Precision: ({precision}) => precision.toFixed(3), Recall: ({recall}) => recall.toFixed(3),
  Found: ({hits}) => hits, Missed: ({missed}) => missed, 'Not marked': ({extra}) => extra};

function valueText({values, ranges}, name) {
  const value = values[name] ?? state.byName.get(name)?.default ?? '';
  return ranges[name] ? [value, h('span', {class: 'range'}, ranges[name].join('–'))] : value;
}

function use(values) {
  const gone = Object.fromEntries(Object.keys(state.values).filter((name) => !(name in values)).map((name) => [name, null]));
  link.send('set', {values: {...gone, ...values}});
}

function actions({values}, index) {
  return h('td', {}, h('div', {class: 'buttons'},
    h('button', {type: 'button', class: 'small', 'aria-label': `Use proposal ${index}`, onclick: () => use(values)}, 'Use'),
    h('button', {type: 'button', class: 'small', 'aria-label': `Compare with proposal ${index}`, onclick: () => link.send('compare', {values})}, 'Compare')));
}

function table(columns) {
  const settings = [...new Set(columns.flatMap(({values}) => Object.keys(values)))].filter(
    (name) => name !== 'regions' && columns.some(({values}) => values[name] !== columns[0].values[name])).sort();
  const row = (name, cells) => h('tr', {}, h('th', {scope: 'row'}, name), cells.map((cell) => h('td', {}, cell)));
  return h('table', {class: 'proposals'},
    h('thead', {}, h('tr', {}, h('td', {}), columns.map((_, index) => h('th', {scope: 'col'}, index || 'Now')))),
    h('tbody', {}, Object.entries(ROWS).map(([name, value]) => row(name, columns.map(value))),
      settings.map((name) => row(name, columns.map((one) => valueText(one, name)))),
      h('tr', {}, h('td', {}), columns.map((one, index) => (index ? actions(one, index) : h('td', {}))))));
}

function wrongFrames({wrong}) {
  return wrong.map((one) => h('li', {class: 'head'}, h('button', {type: 'button', class: 'pick', onclick: () => show(one)}, seconds(one.time)),
    `${one.missed} missed, ${one.extra} not marked`));
}

function showFound({now, proposals, restsOn, isComplete, trials}) {
  const [best] = proposals;
  const text = ({values}) => JSON.stringify(Object.entries(values).sort());
  const same = best && text(best) === text(now);
  const others = proposals.filter((one) => text(one) !== text(now));
  progress.textContent = `${isComplete ? 'Done' : 'Stopped'} after ${trials} trials.${same ? ' Nothing is better than the settings of now.' : ''}`;
  result.replaceChildren(h('p', {class: 'verdict', id: 'rests-on'}, restsOn),
    h('p', {class: 'hint'}, 'Below a value: from where to where F1 is the same, if nothing else changes.'),
    h('div', {class: 'wide', tabindex: 0, role: 'group', 'aria-label': 'Proposals'}, table([now, ...others])),
    ...(best?.wrong.length ? [h('h2', {}, same ? 'Where the settings of now are wrong' : 'Where proposal 1 is wrong'), h('ul', {class: 'shapes'}, wrongFrames(best))] : []));
  progress.scrollIntoView({block: 'nearest'});
}

on('fit', (message) => {
  const isRunning = message.state === 'running';
  stop.hidden = bar.hidden = !isRunning;
  search.disabled = isRunning;
  if (isRunning) {
    bar.max = message.most;
    bar.value = Math.min(message.trials, message.most);
    const best = message.best === null ? '' : `, best F1 ${message.best.toFixed(3)}`;
    progress.textContent = `${PHASES[message.phase]}: ${message.trials} trials${best}`;
    result.replaceChildren();
  } else if (message.state === 'found') showFound(message);
  else progress.textContent = message.state === 'failed' ? message.text : '';
});
on('marks', ({text}) => {
  total.textContent = `${text}.`;
  help.textContent = '';
  update();
});
on('marked', (text) => { help.textContent = text ?? ''; });
on('frame', update);
on('player', update);
on('hello', updateNames);
on('values', updateNames);
on('tab', (name) => {
  setMarking(name === 'Fit');
  update();
});
