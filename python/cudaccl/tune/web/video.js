// SPDX-License-Identifier: LGPL-2.1-or-later
// The pictures as a stream of video, while the source plays: asked for on pages of another machine, or by the box.

import {byId, h} from './dom.js';
import {link, on} from './state.js';

const GATHER_MS = 2000;  // for addresses of the page; it finds the program also without

const box = byId('video');
const screen = h('video', {muted: true, autoplay: true, playsinline: true, class: 'screen', 'aria-hidden': 'true'});
byId('stage').after(screen);  // a browser need not decode what is not on the page
let peer = null;

function close() {
  peer?.close();
  peer = null;
  screen.srcObject = null;
}

function gathered(connection) {
  return new Promise((resolve) => {
    const check = () => { if (connection.iceGatheringState === 'complete') resolve(); };
    connection.addEventListener('icegatheringstatechange', check);
    setTimeout(resolve, GATHER_MS);
    check();
  });
}

async function answer(sdp) {
  close();
  const connection = new RTCPeerConnection({iceServers: []});
  peer = connection;
  connection.ontrack = ({track}) => { screen.srcObject = new MediaStream([track]); };
  await connection.setRemoteDescription({type: 'offer', sdp});
  await connection.setLocalDescription(await connection.createAnswer());
  await gathered(connection);
  if (peer === connection) link.send('answer', {sdp: connection.localDescription.sdp});
}

/** Pictures by name from the newest frame of the video, one above the other; null: none has come yet. */
link.takeVideo = (names) => {
  const {videoWidth: width, videoHeight: height} = screen;
  if (!peer || screen.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) return null;
  const part = Math.floor(height / names.length);
  return Object.fromEntries(names.map((name, index) => {
    const canvas = new OffscreenCanvas(width, part);
    canvas.getContext('2d').drawImage(screen, 0, index * part, width, part, 0, 0, width, part);
    return [name, canvas.transferToImageBitmap()];
  }));
};

box.onchange = () => {
  if (box.checked) link.send('video');
  else {
    link.send('noVideo');
    close();
  }
};
on('offer', ({sdp}) => answer(sdp).catch(() => link.send('noVideo')));
on('noVideo', ({text}) => {
  close();
  box.checked = false;
  box.parentElement.title = text;
});
on('lost', close);
on('connected', () => {
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
  if (!isHere) box.checked = true;
  if (box.checked) link.send('video');
});
