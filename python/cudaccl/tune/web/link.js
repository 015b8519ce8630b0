// SPDX-License-Identifier: LGPL-2.1-or-later
// The connection to the program: messages in both directions, and pictures. It is opened again when it is lost.

const LONGEST_WAIT_MS = 5000;

export class Link extends EventTarget {
  #socket = null;
  #wait = 250;
  takeVideo = () => null;  // of video.js

  open() {
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    this.#socket = new WebSocket(`${scheme}://${location.host}/socket`);
    this.#socket.binaryType = 'arraybuffer';
    this.#socket.onopen = () => {
      this.#wait = 250;
      this.send('ready');
      this.#report('connected', {});
    };
    this.#socket.onmessage = (event) => {
      if (typeof event.data === 'string') {
        const message = JSON.parse(event.data);
        this.#report(message.type, message);
      } else {
        this.#show(event.data);
      }
    };
    this.#socket.onclose = () => {
      this.#report('lost', {});
      setTimeout(() => this.open(), this.#wait);
      this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT_MS);
    };
  }

  send(type, members = {}) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify({type, ...members}));
  }

  #report(type, detail) {
    this.dispatchEvent(new CustomEvent(type, {detail}));
  }

  // The length of the head, the head, and the pictures that it names. The next one comes when this one is decoded.
  async #show(data) {
    try {
      const length = new DataView(data).getUint32(0, true);
      const head = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      let images = {};
      if (head.video) {
        images = this.takeVideo(head.video);
        if (!images) return;
      }
      let begin = 4 + length;
      for (const [name, size] of head.pictures) {
        images[name] = await createImageBitmap(new Blob([new Uint8Array(data, begin, size)], {type: 'image/jpeg'}));
        begin += size;
      }
      this.#report('frame', {head, images});
    } finally {
      this.send('ready');
    }
  }
}
