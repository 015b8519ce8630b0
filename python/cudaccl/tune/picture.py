# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the pictures of the page, of the newest frame only, in a thread of their own."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy

from cudaccl._gst_pipeline import gstreamer
from cudaccl.tune.luma import as_frame
from cudaccl.tune.player import Shot
from cudaccl.tune.side import Encoder

_AIDS_S = 0.2  # between two descriptions of a frame, which take time
_PICTURE_S = 1 / 30  # between two pictures: more of them nobody sees
_HURRIED_S = 1 / 4  # if frames come as fast as possible, and each picture costs some of them
_HURRIED_AIDS_S = 1.0  # the same for descriptions: Python runs one thread at a time
_TRIES = 10  # to describe a frame completely


Frame = tuple[Any, Any]  # buffer and caps


class Pictures:
    """Gets all frames; makes pictures of one when a page waits for it."""

    def __init__(
        self, made: Callable[[Shot, dict[str, Frame]], None], described: Callable[[Shot], bool],
        second: Callable[[int | None], Any],
    ) -> None:
        """made: is called with a frame, and what pictures are made of, by name. described: when there is time for more about a
        frame; it returns whether all is known, else it is called again. second: buffer and caps of the second element at a
        time, or None. All in the thread of this object."""
        self._made = made
        self._described = described
        self._second = second
        self._changed = threading.Condition()
        self._newest: Shot | None = None
        self._done = 0  # number of the last shot that was shown
        self._is_wanted = False
        self._is_closed = False
        self._interval, self._pause = _PICTURE_S, _AIDS_S  # between pictures, and between descriptions
        self._described_at = self._made_at = 0.0
        self._described_number = self._tried = self._tries = 0
        self._encoders: dict[str, Encoder] = {}
        self._thread = threading.Thread(target=self._run, name="cudaccl-pictures", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify()
        self._thread.join()

    @property
    def newest(self) -> Shot | None:
        return self._newest

    def hurry(self, is_hurried: bool) -> None:
        """Whether frames come as fast as possible."""
        self._interval, self._pause = (_HURRIED_S, _HURRIED_AIDS_S) if is_hurried else (_PICTURE_S, _AIDS_S)

    def put(self, shot: Shot) -> None:
        """In place of one that was not shown yet. It wakes nobody, and waits for no lock, while no picture is due: frames
        may come by the thousand."""
        self._newest = shot
        if self._is_wanted and time.monotonic() - self._made_at >= self._interval:
            with self._changed:
                self._changed.notify()

    def want(self) -> None:
        """A page waits for a picture."""
        with self._changed:
            self._is_wanted = True
            self._changed.notify()

    def _run(self) -> None:
        while self._wait():
            shot, is_new = self._next()
            if is_new:
                self._made(shot, self._frames(shot))
            self._describe(shot)
        for encoder in self._encoders.values():
            encoder.close()

    def _wait(self) -> bool:
        """Until there is something to do. False: the thread shall end."""
        with self._changed:
            while not self._is_closed and not self._is_new() and not self._can_describe():
                until_due = self._made_at + self._interval - time.monotonic()
                self._changed.wait(until_due if self._is_wanted and until_due > 0 else self._pause)
            return not self._is_closed

    def _is_new(self) -> bool:
        return (self._is_wanted and self._newest is not None and self._newest.number != self._done
                and time.monotonic() - self._made_at >= self._interval)

    def _can_describe(self) -> bool:
        return (self._newest is not None and self._newest.number != self._described_number
                and time.monotonic() - self._described_at >= self._pause)

    def _next(self) -> tuple[Shot, bool]:
        """The newest frame, and whether pictures of it are wanted."""
        with self._changed:
            is_new = self._is_new()
            if is_new:
                self._done = self._newest.number  # type: ignore[union-attr]
                self._is_wanted = False
                self._made_at = time.monotonic()
            return self._newest, is_new  # type: ignore[return-value]

    def _describe(self, shot: Shot) -> None:
        if time.monotonic() - self._described_at < self._pause:
            return
        self._tries = self._tries + 1 if shot.number == self._tried else 1
        self._tried = shot.number
        if self._described(shot) or self._tries == _TRIES:
            self._described_number = shot.number
        self._described_at = time.monotonic()

    def repeat(self) -> None:
        """Makes pictures of the newest frame once more."""
        with self._changed:
            self._done = 0
            self._is_wanted = True
            self._changed.notify()

    def _frames(self, shot: Shot) -> dict[str, Frame]:
        second = self._second(shot.frame.time)
        frames = {"input": shot.input, "result": _visible(*shot.result),
                  "second": _visible(*second) if second is not None else None}
        return {name: frame for name, frame in frames.items() if frame is not None}

    def encode(self, frames: dict[str, Frame]) -> dict[str, bytes]:
        """JPEG pictures by name. For the thread of this object."""
        found = {}
        for name, frame in frames.items():
            if name not in self._encoders:
                self._encoders[name] = Encoder(sharp=name != "input")
            jpeg = self._encoders[name].encode(*frame)
            if jpeg is not None:
                found[name] = jpeg
        return found


def _visible(buffer: Any, caps: Any) -> tuple[Any, Any]:
    """Of a frame that can be looked at: labels and distances of 16 bits would be nearly black."""
    if caps.get_structure(0).get_value("format") != "GRAY16_LE":
        return buffer, caps
    info = gstreamer().GstVideo.VideoInfo.new_from_caps(caps)
    words = numpy.ndarray((info.height, info.stride[0] // 2), "<u2", buffer.extract_dup(0, buffer.get_size()))
    words = words[:, :info.width]
    return as_frame(numpy.where(words == 0, 0, 64 + words % 192).astype(numpy.uint8))
