# SPDX-License-Identifier: LGPL-2.1-or-later
"""Where a worker begins in its file: at a key frame in the middle."""

from __future__ import annotations

import threading
from typing import Any

from cudaccl._gst_pipeline import gstreamer
from cudaccl.fleet.video_index import VideoIndex, digest

CUT = "cudaccl-cut"  #: name of the element `identity` in front of the decoder


class Beginning:
    """Lets coded frames through from a key frame on.

    With seeking, the demuxer goes to that key frame. Its segment then begins there, and running time would begin again
    at 0. So the pad behind gets the difference to the segment with which the file begins as its offset, and what
    follows has the times of the whole file. Each coded frame that follows is compared with the index. Without seeking,
    all is read and parsed, and the frames before are dropped; also if the file or its demuxer cannot seek.

    time: running time of the key frame in the whole file, in nanoseconds.
    """

    def __init__(self, stream: Any, index: VideoIndex, time: int, with_seek: bool) -> None:
        self._gst = gstreamer().Gst
        self._index = index
        self._time = time
        self._pad = stream.pipeline.get_by_name(CUT).get_static_pad("sink")
        self._behind = stream.pipeline.get_by_name(CUT).get_static_pad("src")
        self._shift = 0  #: of running times on this pad, to those of the whole file
        self._origin: Any = None  #: the segment with which the file begins
        self._block = 0
        self.dropped = 0  #: coded frames before the key frame
        self.has_sought = False
        self.differs = False  #: a coded frame behind the place that was sought is not that of the index
        self.is_there = False  #: the key frame has come
        kinds = self._gst.PadProbeType
        if with_seek:
            self._pad.add_probe(kinds.EVENT_DOWNSTREAM | kinds.EVENT_FLUSH, self._look_at_event)
            self._block = self._pad.add_probe(kinds.BLOCK | kinds.BUFFER, self._blocked)
        self._pad.add_probe(kinds.BUFFER, self._look_at_frame)

    def _blocked(self, pad: Any, info: Any) -> Any:
        """The first frame waits. Seeking needs another thread: it waits for this one."""
        if self._origin is None:
            self._origin = pad.get_sticky_event(self._gst.EventType.SEGMENT, 0).parse_segment().copy()
            threading.Thread(target=self._seek, name="cudaccl-seek", daemon=True).start()
        return self._gst.PadProbeReturn.OK

    def _seek(self) -> None:
        gst = self._gst
        place = self._origin.position_from_running_time(gst.Format.TIME, self._time)
        place = self._origin.to_stream_time(gst.Format.TIME, place)
        if place == gst.CLOCK_TIME_NONE:
            self._unblock()
            return
        flags = gst.SeekFlags.FLUSH | gst.SeekFlags.KEY_UNIT
        event = gst.Event.new_seek(1.0, gst.Format.TIME, flags, gst.SeekType.SET, place, gst.SeekType.NONE, -1)
        self.has_sought = True  # before the segment comes
        if not self._pad.push_event(event):
            self.has_sought = False
            self._unblock()

    def _unblock(self) -> None:
        if self._block:
            self._pad.remove_probe(self._block)
            self._block = 0

    def _look_at_event(self, pad: Any, info: Any) -> Any:
        gst = self._gst
        event = info.get_event()
        if self.has_sought and event.type in (gst.EventType.FLUSH_START, gst.EventType.FLUSH_STOP):
            return gst.PadProbeReturn.DROP  # nothing has gone through
        if self.has_sought and event.type == gst.EventType.SEGMENT:
            segment = event.parse_segment()
            begin = self._origin.to_running_time(gst.Format.TIME, segment.start)
            self._shift = begin - segment.to_running_time(gst.Format.TIME, segment.start)
            self._behind.set_offset(self._shift)
            self._unblock()
        return gst.PadProbeReturn.OK

    def _look_at_frame(self, pad: Any, info: Any) -> Any:
        gst = self._gst
        buffer = info.get_buffer()
        event = pad.get_sticky_event(gst.EventType.SEGMENT, 0)
        running = event.parse_segment().to_running_time(gst.Format.TIME, buffer.pts)
        time = None if running == gst.CLOCK_TIME_NONE else running + self._shift
        if not self.is_there:
            if time != self._time or buffer.has_flags(gst.BufferFlags.DELTA_UNIT):
                self.dropped += 1
                return gst.PadProbeReturn.DROP
            self.is_there = True
        if not self.has_sought:
            return gst.PadProbeReturn.REMOVE
        if time is not None:  # None: it is before the segment, and no decoder shows it
            self.differs = self.differs or self._index.digest_at(time) != digest(gst, buffer)
        return gst.PadProbeReturn.OK
