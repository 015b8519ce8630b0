# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page that a browser shows: what is sent to it, and how much of that may wait."""

from __future__ import annotations

import asyncio
import json
from typing import Any

_WAITING = 256  # messages; a page that takes none is closed, and opens again when it can


class Page:
    """At the other end of a websocket. For the thread of the event loop."""

    def __init__(self, socket: Any) -> None:
        """socket: aiohttp's."""
        self._socket = socket
        self._messages: asyncio.Queue[str | bytes] = asyncio.Queue(_WAITING)
        self.is_ready = False  #: it has drawn its picture, and waits for the next one
        self.shown: int | None = None  #: number of the last picture
        self.is_full = False

    def put(self, message: dict[str, Any]) -> None:
        self._put(json.dumps(message, separators=(",", ":")))

    def put_picture(self, number: int, message: bytes) -> None:
        """At most one picture is on its way to a page: those that come between are dropped for it."""
        self.is_ready = False
        self.shown = number
        self._put(message)

    def put_head(self, message: bytes) -> None:
        """Of a frame that its video shows. The picture of this frame is still to come, if the video ends with it."""
        self.is_ready = False
        self._put(message)

    def _put(self, message: str | bytes) -> None:
        try:
            self._messages.put_nowait(message)
        except asyncio.QueueFull:
            self.is_full = True

    async def send(self) -> None:
        """Until the page has gone, or does not take its messages."""
        while not self.is_full and not self._socket.closed:
            message = await self._messages.get()
            if isinstance(message, bytes):
                await self._socket.send_bytes(message)
            else:
                await self._socket.send_str(message)
