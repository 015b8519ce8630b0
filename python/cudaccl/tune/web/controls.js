// SPDX-License-Identifier: LGPL-2.1-or-later
// One control for each kind of setting. Each has an element, and update(), which shows the value.

import {h} from './dom.js';
import {newDrag, set, state, valueOf} from './state.js';

const SECOND = 1e9;
const LONGEST_TIME = 600 * SECOND;  // of the slider; the box takes longer ones
const STEPS = 1000;
const ANSWER_MS = 200;

/** Where a slider ends: at what can occur in this frame. */
export function end(setting) {
  if (setting.kind === 'time') return Math.min(setting.largest, LONGEST_TIME);
  const {width = 1920, height = 1080, largestValue = 255} = state.head ?? {};
  if (setting.largest === 65535) return largestValue;
  if (setting.largest < 2 ** 20) return setting.largest;
  if (/width/.test(setting.name)) return width;
  if (/height/.test(setting.name)) return height;
  return width * height;
}

// Large ranges are spread by their logarithm, so that small numbers can be reached.
const isWide = (setting) => setting.kind !== 'real' && end(setting) - setting.least > 1000;

/** The place of a value on a slider, 0 to 1, and back. */
export function toPlace(setting, value) {
  const [least, most] = [setting.least, end(setting)];
  const inside = Math.min(Math.max(value, least), most);
  return isWide(setting) ? Math.log1p(scaled(setting, inside)) / Math.log1p(scaled(setting, most)) : (inside - least) / (most - least);
}

const scaled = (setting, value) => (setting.kind === 'time' ? value / 1e7 : value - setting.least);

export function toValue(setting, place) {
  const [least, most] = [setting.least, end(setting)];
  if (!isWide(setting)) {
    const value = least + place * (most - least);
    return setting.kind === 'real' ? Math.round(value * 1000) / 1000 : Math.round(value);
  }
  const value = Math.expm1(place * Math.log1p(scaled(setting, most)));
  if (setting.kind !== 'time') return Math.round(value + least);
  const milliseconds = value * 10;
  const unit = milliseconds < 1000 ? 10 : milliseconds < 10000 ? 100 : 1000;
  return Math.max(least, Math.round(milliseconds / unit) * unit * 1e6);
}

/** A value as people read it. */
export function shown(setting, text) {
  if (setting.kind === 'time') {
    const time = Number(text);
    return time % SECOND === 0 || time > 10 * SECOND ? `${time / SECOND}s` : `${time / 1e6}ms`;
  }
  if (setting.name.endsWith('-color')) return `#${(Number(text) % 2 ** 24).toString(16).padStart(6, '0')}`;
  return text;
}

/** Sends at most one value per picture of the screen: the last one. */
function sender(name) {
  let waiting = null;
  return (value, drag) => {
    if (waiting === null) {
      requestAnimationFrame(() => {
        set(name, waiting.value, waiting.drag);
        waiting = null;
      });
    }
    waiting = {value, drag};
  };
}

function boolean(setting, id) {
  const box = h('input', {id, type: 'checkbox', onchange: () => set(setting.name, String(box.checked))});
  return {element: box, update: () => { box.checked = valueOf(setting.name) === 'true'; }};
}

function choice(setting, id) {
  const list = h('select', {id, onchange: () => set(setting.name, list.value)},
    setting.choices.map(([name, text]) => h('option', {value: name, title: text}, name)));
  const text = h('span', {class: 'meaning'});
  return {
    element: h('div', {class: 'stack'}, list, text),
    update: () => {
      list.value = valueOf(setting.name);
      text.textContent = setting.choices.find(([name]) => name === list.value)?.[1] ?? '';
    }};
}

function flags(setting, id) {
  const boxes = setting.choices.map(([name, text]) => [name, h('input', {type: 'checkbox', onchange: send}), text]);
  function send() {
    set(setting.name, boxes.filter(([, box]) => box.checked).map(([name]) => name).join('+') || '0');
  }
  return {
    element: h('div', {id, class: 'flags', role: 'group', 'aria-label': setting.name},
      boxes.map(([name, box, text]) => h('label', {class: 'check', title: text}, box, ` ${name}`))),
    update: () => {
      const on = valueOf(setting.name).split('+');
      for (const [name, box] of boxes) box.checked = on.includes(name);
    }};
}

function number(setting, id) {
  const send = sender(setting.name);
  let drag = null;  // all that is done while the slider has the focus, or is held, is undone at once
  let isHeld = false;
  let sentAt = -Infinity;
  const slider = h('input', {
    type: 'range', min: 0, max: STEPS, step: 1, 'aria-label': `${setting.name}, slider`,
    onpointerdown: () => { drag = newDrag(); isHeld = true; },
    onpointerup: () => { isHeld = false; },
    onblur: () => { drag = null; isHeld = false; },
    oninput: () => {
      drag ??= newDrag();
      sentAt = performance.now();
      const value = toValue(setting, slider.value / STEPS);
      box.value = shown(setting, String(value));
      slider.setAttribute('aria-valuetext', box.value);
      send(String(value), drag);
    }});
  const box = h('input', {
    id, type: 'text', inputmode: setting.kind === 'time' ? 'text' : 'decimal', size: 8, autocomplete: 'off', spellcheck: 'false',
    onchange: () => set(setting.name, box.value.trim() || null),
    onkeydown: (event) => { if (event.key === 'Escape') { update(); box.blur(); } }});
  function update() {
    if (isHeld || performance.now() - sentAt < ANSWER_MS) return;  // the answer to an earlier value
    const text = valueOf(setting.name);
    if (document.activeElement !== box) box.value = shown(setting, text);
    slider.value = Math.round(toPlace(setting, Number(text)) * STEPS);
    slider.setAttribute('aria-valuetext', box.value);
  }
  return {element: h('div', {class: 'number'}, slider, box), update};
}

// 0xAARRGGBB; the opacity stays opaque, as frames of a video are.
function color(setting, id) {
  const send = sender(setting.name);
  const box = h('input', {
    id, type: 'color', oninput: () => send(String(0xff000000 + Number(`0x${box.value.slice(1)}`)), setting.name)});
  return {element: box, update: () => { box.value = shown(setting, valueOf(setting.name)); }};
}

function text(setting, id) {
  const box = h('input', {id, type: 'text', spellcheck: 'false', onchange: () => set(setting.name, box.value || null)});
  return {element: box, update: () => { if (document.activeElement !== box) box.value = valueOf(setting.name); }};
}

const KINDS = {boolean, choice, flags, integer: number, real: number, time: number, text};

export function control(setting, id) {
  return (setting.name.endsWith('-color') ? color : KINDS[setting.kind])(setting, id);
}
