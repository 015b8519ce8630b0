# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clip that is being written."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from cudaccl._gst_pipeline import PipelineError, first_error, gstreamer, parse
from cudaccl.publish.json_lines import write_whole
from cudaccl.record.clip_folder import complete
from cudaccl.record.encoded_frames import parser_of
from cudaccl.record.history import MEMORY, EncodedFrame, retimed


class Clip:
    """file, path: as of `ClipFolder.new_file()`; the file is closed with the clip. first: its first frame, a key frame.

    Compressed frames go into Matroska, in a thread of GStreamer. Raises PipelineError.
    """

    def __init__(self, file: int, path: Path, first: EncodedFrame) -> None:
        self.path = path
        self.caps = first.caps
        self.begin = first.time
        self.latest = first.time  #: when the last frame is shown that it has
        self.size = 0
        self._gst = gstreamer().Gst
        self._file: int | None = file
        self._events: int | None = None
        parser = parser_of(first.caps)
        self._pipeline = parse(
            f"appsrc name=in format=time max-bytes=0 ! {f'{parser} ! ' if parser else ''}matroskamux"
            f" ! fdsink fd={file} sync=false async=false")
        self._in = self._pipeline.get_by_name("in")
        self._in.set_property("caps", first.caps)
        self._pipeline.set_state(self._gst.State.PLAYING)

    def add(self, frame: EncodedFrame) -> None:
        """Raises PipelineError if an earlier one could not be written."""
        if frame.time < self.begin:
            return  # a frame before a key frame that is decoded after it, and needs what is not here
        self._raise_error()
        if self._in.get_property("current-level-bytes") > MEMORY:
            raise PipelineError("the disk is too slow")
        decoded = max(0, frame.decoding_time - self.begin)  # only of their order, as Matroska has no such time
        self._in.emit("push-buffer", retimed(frame.buffer, frame.time - self.begin, decoded))
        self.size += frame.size
        self.latest = max(self.latest, frame.time)

    def position(self, time: int) -> float:
        """Of a running time, in seconds."""
        return (time - self.begin) / 1e9

    def note(self, lines: bytes) -> None:
        """Into the file beside the clip: all of them, or with an OSError none."""
        if self._events is None:
            path = self.path.with_suffix("").with_suffix(".jsonl")
            self._events = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
        write_whole(self._events, lines)
        self.size += len(lines)

    def finish(self) -> None:
        """No frame follows."""
        self._in.emit("end-of-stream")

    def wait(self, seconds: float) -> bool:
        """After `finish()`: whether all is written. Raises PipelineError."""
        kinds = self._gst.MessageType.EOS | self._gst.MessageType.ERROR
        message = self._pipeline.get_bus().timed_pop_filtered(int(seconds * 1e9), kinds)
        if message is not None and message.type == self._gst.MessageType.ERROR:
            self._pipeline.get_bus().post(message)
            self._raise_error()
        return message is not None

    def close(self) -> Path | None:
        """Gives it its name, also if it could not be completed. None: it has nothing, or was closed before. Raises
        OSError."""
        self._pipeline.set_state(self._gst.State.NULL)
        file, self._file = self._file, None
        if file is None:
            return None
        try:
            if os.fstat(file).st_size == 0:
                self.path.unlink(missing_ok=True)
                return None
            return complete(self.path)
        finally:
            os.close(file)
            if self._events is not None:
                os.close(self._events)

    def _raise_error(self) -> None:
        error: Any = first_error(self._pipeline)
        if error is not None:
            reason = re.search(r"file descriptor \d+: ([^)]*)", str(error))
            raise PipelineError((reason[1] if reason else str(error)).rstrip(". "))
