// SPDX-License-Identifier: LGPL-2.1-or-later
// Which part of the frame the panes show: the same part in all of them.

import {changed, state} from './state.js';

const MOST = 64;  // pixels of the screen for one of the frame

export const view = {zoom: 1, x: 0, y: 0, isFitted: true};  // x, y: of the frame, in the middle of a pane

let size = {width: 1, height: 1};  // of a pane, in pixels of the page

export function setPaneSize(width, height) {
  size = {width, height};
  if (view.isFitted) fit();
}

export function fit() {
  const {width = 16, height = 9} = state.head ?? {};
  Object.assign(view, {
    zoom: Math.min(size.width / width, size.height / height), x: width / 2, y: height / 2, isFitted: true});
  changed('view');
}

const least = () => Math.min(0.1, view.zoom);

/** Zooms by a factor; the point of the frame stays where it is on the screen. */
export function zoomBy(factor, point = view) {
  const zoom = Math.min(MOST, Math.max(least(), view.zoom * factor));
  const part = view.zoom / zoom;
  Object.assign(view, {
    zoom, x: point.x + (view.x - point.x) * part, y: point.y + (view.y - point.y) * part, isFitted: false});
  keepInside();
}

/** By pixels of the page. */
export function panBy(dx, dy) {
  Object.assign(view, {x: view.x - dx / view.zoom, y: view.y - dy / view.zoom, isFitted: false});
  keepInside();
}

function keepInside() {
  const {width = 1, height = 1} = state.head ?? {};
  view.x = Math.min(width, Math.max(0, view.x));
  view.y = Math.min(height, Math.max(0, view.y));
  changed('view');
}

/** From the frame to a pane, and back. */
export const toPane = ([x, y]) => [(x - view.x) * view.zoom + size.width / 2, (y - view.y) * view.zoom + size.height / 2];
export const toFrame = ([x, y]) => [(x - size.width / 2) / view.zoom + view.x, (y - size.height / 2) / view.zoom + view.y];
