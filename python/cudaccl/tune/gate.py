# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where frames enter the element: they wait here for their time, for a step, or while the picture is paused.

Frames are held before the element and not behind it, so that a frame is labelled with the settings of the moment at
which it is shown. A frame that is on the screen can enter once more, with other settings.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import gstreamer

_NS = 1e9
_LATE_S = 0.5  # later than this, what is missed is not caught up
_KEPT = 12  # frames that are in the element at most, and those that the loop has not seen yet


class Gate:
    """A pad probe. Its methods are for any thread; frames wait in GStreamer's."""

    def __init__(self, entered: Callable[[Any, Any], None], ended: Callable[[], None]) -> None:
        """entered: is called with the buffer and its caps, for each frame. ended: when the last one has
        entered. Both in GStreamer's thread."""
        self._entered = entered
        self._ended = ended
        self._changed = threading.Condition()
        self._inputs: deque[tuple[int, Any, Any, float, bool]] = deque(maxlen=_KEPT)
        self.is_paused = False
        self.speed = 1.0  #: of files; 0: as fast as possible
        self.is_live = False  #: frames come at their time, and cannot wait
        self.at_end = False
        self._is_flushing = False
        self._is_closed = False
        self._wants_again = False
        self._is_again = False  # the frame on the screen is entering once more
        self._steps = 0
        self._until: int | None = None
        self._until_after_flush: int | None = None
        self._anchor: tuple[float, int] | None = None
        self._last: tuple[Any, Any] | None = None

    def attach(self, pad: Any) -> None:
        """To the sink pad of an element of a new pipeline."""
        kinds = gstreamer().Gst.PadProbeType
        with self._changed:
            self._is_closed = self._is_flushing = self.at_end = self._wants_again = False
            self._steps, self._until, self._until_after_flush, self._anchor, self._last = 0, None, None, None, None
            self._inputs.clear()
        pad.add_probe(kinds.BUFFER, self._buffer)
        pad.add_probe(kinds.EVENT_DOWNSTREAM | kinds.EVENT_FLUSH, self._event)

    def close(self) -> None:
        """Lets everything pass, so that the pipeline can stop."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()

    def pause(self) -> None:
        """Nothing happens if frames cannot wait."""
        with self._changed:
            self.is_paused = not self.is_live

    def play(self) -> None:
        with self._changed:
            self.is_paused = False
            self._anchor = None
            self._changed.notify_all()

    def set_speed(self, speed: float) -> None:
        with self._changed:
            self.speed = speed
            self._anchor = None
            self._changed.notify_all()

    def step(self) -> None:
        """Lets one frame pass, and pauses."""
        with self._changed:
            self.is_paused = not self.is_live
            self._steps += 1
            self._changed.notify_all()

    def skip_until(self, until: int) -> None:
        """Frames before this time do not wait; nothing shows them. The one at this time is shown, also if paused."""
        with self._changed:
            self._until = until

    def skip_until_after_flush(self, until: int | None) -> None:
        """The same from the next flush on: frames that come before it are not those of the new place."""
        with self._changed:
            self._until_after_flush = until

    @property
    def is_skipping(self) -> bool:
        return self._until is not None

    @property
    def is_holding(self) -> bool:
        """A frame waits, or the end does, so that nothing can come out of the element."""
        return self.is_paused or self.at_end

    def again(self) -> None:
        """The frame on the screen enters once more, if no other one is going to."""
        with self._changed:
            self._wants_again = self.is_holding and not self.is_live
            self._changed.notify_all()

    def input_of(self, pts: int) -> tuple[int, Any, Any, float, bool] | None:
        """Time, buffer, caps, when it entered, and whether once more: of the frame that came out with this time."""
        with self._changed:
            for one in reversed(self._inputs):
                if one[0] == pts:
                    return one
            return self._inputs[-1] if self._inputs else None

    def _buffer(self, pad: Any, info: Any) -> Any:
        gst = gstreamer().Gst
        buffer = info.get_buffer()
        if not self._is_again and not self._wait(pad, buffer.pts):
            return gst.PadProbeReturn.DROP
        caps = pad.get_current_caps()
        with self._changed:
            self._last = buffer, caps
            self._inputs.append((buffer.pts, buffer, caps, time.monotonic(), self._is_again))
        self._entered(buffer, caps)
        return gst.PadProbeReturn.OK

    def _wait(self, pad: Any, pts: int) -> bool:
        """Until the frame may enter. False: it must not, since the pipeline is seeking."""
        while True:
            with self._changed:
                if self._is_flushing:
                    return False
                if self._is_closed:
                    return True
                wait = self._seconds_to_wait(pts)
                if wait == 0:
                    return True
                if not self._wants_again:
                    self._changed.wait(wait)
                    continue
                self._wants_again = False
            self._enter_again(pad)

    def _seconds_to_wait(self, pts: int) -> float | None:
        """0: it may enter. None: until something changes."""
        if self.is_live:
            return 0
        if self._until is not None:
            if pts < self._until:
                return 0
            self._until = None
            self._anchor = None
            return 0
        if self.is_paused:
            if self._last is not None and self._steps == 0:
                return None
            self._steps = max(0, self._steps - 1)
            return 0
        now = time.monotonic()
        if self.speed == 0:
            return 0
        if self._anchor is None:
            self._anchor = now, pts
        due = self._anchor[0] + (pts - self._anchor[1]) / _NS / self.speed
        if not -_LATE_S < due - now < 60:  # late, or the time has jumped
            self._anchor = now, pts
            return 0
        return max(0.0, due - now)

    def _enter_again(self, pad: Any) -> None:
        """In the thread that holds the pad's lock, which may take it again."""
        if self._last is None:
            return
        self._is_again = True
        try:
            pad.chain(self._last[0].copy())
        finally:
            self._is_again = False

    def _event(self, pad: Any, info: Any) -> Any:
        gst = gstreamer().Gst
        kind = info.get_event().type
        if kind == gst.EventType.FLUSH_START:
            with self._changed:
                self._is_flushing = True
                self._changed.notify_all()
        elif kind == gst.EventType.FLUSH_STOP:
            with self._changed:
                self._is_flushing = self.at_end = False
                self._until, self._until_after_flush = self._until_after_flush, None
                self._inputs.clear()
                self._anchor = self._last = None
                self._steps = 0
        elif kind == gst.EventType.EOS and not self.is_live:
            return self._hold_end(pad)
        return gst.PadProbeReturn.OK

    def _hold_end(self, pad: Any) -> Any:
        """Until the pipeline stops or seeks: the last frame can enter again."""
        with self._changed:
            self.at_end = True
            self._until = None
        self._ended()
        while True:
            with self._changed:
                if self._is_flushing or self._is_closed:
                    drop = self._is_flushing
                    break
                if not self._wants_again:
                    self._changed.wait()
                    continue
                self._wants_again = False
            self._enter_again(pad)
        results = gstreamer().Gst.PadProbeReturn
        return results.DROP if drop else results.OK
