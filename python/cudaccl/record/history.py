# SPDX-License-Identifier: LGPL-2.1-or-later
"""The latest compressed frames of a source, from which a clip begins before its event."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

from cudaccl._gst_pipeline import gstreamer

MEMORY = 64 << 20  #: bytes of frames that wait for an event


@dataclasses.dataclass(frozen=True)
class EncodedFrame:
    """In the order in which frames are decoded."""

    buffer: Any  #: Gst.Buffer, with time stamps of the source
    caps: Any  #: Gst.Caps; the same object for frames of the same format
    time: int  #: running time at which it is shown, in nanoseconds
    decoding_time: int
    is_key: bool
    size: int


def retimed(buffer: Any, shown: int, decoded: int) -> Any:
    """A buffer of the same memory, with other time stamps. The method copy() of a Gst.Buffer in Python is no copy."""
    flags = gstreamer().Gst.BufferCopyFlags
    made = buffer.copy_region(flags.MEMORY | flags.FLAGS, 0, buffer.get_size())
    made.pts, made.dts = shown, decoded
    return made


class History:
    """For threads that add frames, and one that reads them. Each frame has a number, from 0."""

    def __init__(self, limit: int = MEMORY) -> None:
        self._limit = limit
        self._lock = threading.Lock()
        self._frames: list[EncodedFrame] = []
        self._first = 0  # number of the first of them
        self._size = 0
        self.latest: int | None = None  #: the largest time that was added

    def add(self, frame: EncodedFrame) -> None:
        """At the limit, the oldest frames leave, up to a key frame."""
        with self._lock:
            self._frames.append(frame)
            self._size += frame.size
            self.latest = frame.time if self.latest is None else max(self.latest, frame.time)
            if self._size > self._limit:
                keys = (i for i, one in enumerate(self._frames) if i and one.is_key)
                self._remove(next(keys, len(self._frames)))

    def begin(self, time: int) -> int | None:
        """The number of the last key frame up to this time, or of the first one after it. None: there is none."""
        with self._lock:
            found = self._key_before(time)
            if found is None:
                found = next((i for i, frame in enumerate(self._frames) if frame.is_key), None)
            return None if found is None else self._first + found

    def after(self, number: int, time: int) -> tuple[int, list[EncodedFrame]]:
        """Frames from a number on, up to the last one that is shown up to this time, and the number of the first of
        them: a larger one, if frames have left."""
        with self._lock:
            begin = max(number - self._first, 0)
            end = next((i + 1 for i in range(len(self._frames) - 1, begin - 1, -1) if self._frames[i].time <= time), 0)
            return self._first + begin, self._frames[begin:end]

    def earliest(self) -> int | None:
        """The time of the first frame."""
        with self._lock:
            return self._frames[0].time if self._frames else None

    def forget(self, time: int) -> None:
        """What is not needed to show frames from this time on."""
        with self._lock:
            self._remove(self._key_before(time) or 0)

    def _key_before(self, time: int) -> int | None:
        found = None
        for i, frame in enumerate(self._frames):
            if frame.is_key and frame.time <= time:
                found = i
        return found

    def _remove(self, count: int) -> None:
        self._size -= sum(frame.size for frame in self._frames[:count])
        del self._frames[:count]
        self._first += count
