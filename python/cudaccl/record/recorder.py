# SPDX-License-Identifier: LGPL-2.1-or-later
"""Decides which frames of a source become clips."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import Any

import numpy

from cudaccl._gst_pipeline import PipelineError, gstreamer
from cudaccl._types import EVENT_TYPES, NO_COMPONENT, NO_PLACE, TrackFlag
from cudaccl.publish.report import Report, events_as_dicts
from cudaccl.record.clip import Clip
from cudaccl.record.clip_folder import ClipFolder
from cudaccl.record.encoded_frames import EncodedFrames
from cudaccl.record.history import EncodedFrame
from cudaccl.video.errors import UsageError
from cudaccl.video.stream import Stream

_NS = 10**9
_LONGEST = 600 * _NS
_LATEST = 5 * _NS  # an encoder's last frame of a clip
_PATIENCE_S = 10.0  # until a clip is written, at the end of a stream
_MOST_NOTES = 1000  # that are kept
_OF_NOISE = [EVENT_TYPES.index(name) for name in ("started", "stopped")]


def check_elements() -> None:
    """Raises UsageError if GStreamer cannot write clips."""
    for name, package in (("matroskamux", "good"), ("appsrc", "base")):
        if gstreamer().Gst.ElementFactory.find(name) is None:
            raise UsageError(f"GStreamer has no {name}, which clips need: install gstreamer1.0-plugins-{package}")


class Recorder:
    """For one source, which may be opened many times. All but `failed` is of the thread that labels.

    before, after: nanoseconds around events. say: is called with a text for the operator.

    What goes wrong here is said and remembered, and stops nothing else.
    """

    def __init__(
        self, source: str, folder: ClipFolder, before: int, after: int, say: Callable[[str], None]
    ) -> None:
        self.failed = False  #: something could not be recorded
        self._source = source
        self._folder = folder
        self._before = before
        self._after = after
        self._say = say
        self._said = ""
        self._saying = threading.Lock()
        self._reset(None)
        self._finishing: list[Clip] = []

    def _reset(self, encoded: EncodedFrames | None) -> None:
        self._encoded = encoded
        self._clip: Clip | None = None
        self._since = 0  # the first event that waits for a clip
        self._until: int | None = None  # frames up to this time are wanted
        self._next = 0  # number of the frame that comes next into the clip
        self._needs_key = False  # frames before the next one are missing
        self._lost = 0  # by the encoder, before the clip
        self._notes: list[tuple[int, dict[str, Any]]] = []  # time and event, of frames that may be in a clip
        self._noted = 0  # events up to this time are in the file of the clip
        self._utc_at_0: int | None = None

    def attach(self, stream: Stream) -> None:
        """A stream that has not begun."""
        self._reset(EncodedFrames(stream, self._fail))

    def observe(self, report: Report) -> None:
        """A frame that was labelled."""
        if self._encoded is None:
            return
        if report.pts is None:
            self._fail(PipelineError("its frames have no time stamps"))
            return
        if report.utc is not None:
            self._utc_at_0 = report.utc - report.pts
        try:
            self._want(report, report.pts)
            self._write(report.pts)
            self._encoded.history.forget(report.pts - self._before)
            self._look_after_finished(0)
        except Exception as error:  # of any kind: events go on
            self._give_up(error)

    def detach(self) -> None:
        """The stream has ended."""
        encoded = self._encoded
        if encoded is None:
            return
        encoded.finish()
        try:
            if self._until is not None:
                self._write(self._until)
                self._note(self._until)
            self._end_clip()
        except Exception as error:  # of any kind: events go on
            self._give_up(error)
        self._look_after_finished(_PATIENCE_S)
        self._reset(None)

    def _want(self, report: Report, time: int) -> None:
        """Whether this frame begins a clip, or lets it go on."""
        if report.events is None or report.tracks is None:
            return
        has_places = bool(report.zones or report.lines)
        events, tracks = report.events, report.tracks
        counts = events["where"] != NO_PLACE if has_places else ~numpy.isin(events["type"], _OF_NOISE)
        seen = (tracks["flags"] & TrackFlag.CONFIRMED != 0) & (tracks["component"] != NO_COMPONENT)
        there = seen & (tracks["zones"] != 0) if has_places else seen
        is_wanted = self._until is not None and time <= self._until
        if counts.any() or (is_wanted and there.any()):
            if not is_wanted and self._clip is None:
                self._since = time
            self._until = time + self._after
            is_wanted = True
        key = {"source": report.source, "run": report.run, "frame": report.frame}
        self._notes += [(time, key | event) for event in
                        events_as_dicts(events, report.zones, report.lines, report.utc)]
        self._forget_notes()

    def _forget_notes(self) -> None:
        """Of frames that are in no clip that may begin now, or waits for its first frame."""
        earliest = self._encoded.history.earliest() if self._encoded is not None else None
        if earliest is not None and self._until is not None and self._clip is None:
            earliest = min(earliest, self._since)
        if earliest is not None:
            self._notes = [note for note in self._notes if note[0] >= earliest]
        del self._notes[:-_MOST_NOTES]

    def _write(self, time: int) -> None:
        """Frames up to this time."""
        encoded, until = self._encoded, self._until
        if encoded is None or until is None:
            return
        if self._clip is None:
            self._begin(encoded)
        if self._clip is not None:
            number, frames = encoded.history.after(self._next, min(time, until))
            self._needs_key = self._needs_key or number != self._next
            for frame in frames:
                is_long = frame.time - self._clip.begin >= _LONGEST or self._clip.size >= self._folder.clip_limit
                self._needs_key = self._needs_key or frame.caps is not self._clip.caps
                if frame.is_key and (self._needs_key or is_long):
                    self._note(min(frame.time - 1, time))
                    self._end_clip()
                    self._clip = self._new_clip(frame)
                    self._needs_key = False
                if not self._needs_key:
                    self._clip.add(frame)
                    self._folder.wrote(frame.size)
            self._next = number + len(frames)
            self._note(min(self._clip.latest, time))  # frames come later than their events, or are decoded earlier
        latest = encoded.history.latest
        if time > until and ((latest is not None and latest > until) or time > until + _LATEST):
            self._note(until)
            self._end_clip()
            self._until = None

    def _begin(self, encoded: EncodedFrames) -> None:
        """With the last key frame before the event, as soon as there is one."""
        wanted = self._since - self._before
        begin = encoded.history.begin(wanted)
        if begin is None:
            return
        number, frames = encoded.history.after(begin, 2**63)
        if not frames:
            return
        self._next, self._needs_key = number, False
        self._lost = encoded.lost
        self._clip = self._new_clip(frames[0])
        self._noted = min(self._clip.begin, self._since) - 1
        if frames[0].time > self._since:
            late = (frames[0].time - self._since) / 1e9
            self._tell(f"{self._clip.path.with_suffix('').name} begins {late:.1f} s after its event, with the first key"
                       " frame")

    def _new_clip(self, first: EncodedFrame) -> Clip:
        utc = None if self._utc_at_0 is None else self._utc_at_0 + first.time
        return Clip(*self._folder.new_file(self._source, utc, first.time), first)

    def _note(self, time: int) -> None:
        """Events up to this time, into the file of the clip. The next clip may have them, too."""
        notes = [note for note in self._notes if self._noted < note[0] <= time]
        self._noted = max(self._noted, time)
        if notes and self._clip is not None:
            lines = (event | {"at": round(self._clip.position(when), 9)} for when, event in notes)
            text = "".join(json.dumps(line, separators=(",", ":"), ensure_ascii=False) + "\n" for line in lines)
            self._clip.note(text.encode())

    def _end_clip(self) -> None:
        clip, self._clip, encoded = self._clip, None, self._encoded
        if clip is None or encoded is None:
            if self._until is not None and encoded is not None and not encoded.has_failed:
                self._fail(PipelineError("no compressed frame came"))
            return
        clip.finish()
        self._finishing.append(clip)
        lost = encoded.lost - self._lost
        self._lost += lost
        if lost:
            self.failed = True
            self._tell(f"{clip.path.with_suffix('').name} lacks {lost} frames, for which the encoder had no time")

    def _look_after_finished(self, seconds: float) -> None:
        """Clips that have ended get their names when all is written."""
        for clip in list(self._finishing):
            try:
                if not clip.wait(seconds):
                    if not seconds:
                        continue
                    raise PipelineError("the disk is too slow")
                path = clip.close()
                self._said = ""
                if path is not None:
                    self._tell(f"recorded {path}")
            except (OSError, PipelineError) as error:
                self._close_broken(clip)
                self._fail(error)
            self._finishing.remove(clip)

    def _give_up(self, error: Exception) -> None:
        """Until the next event."""
        clip, self._clip = self._clip, None
        self._until = None
        self._notes.clear()
        if clip is not None:
            self._close_broken(clip)
        self._fail(error)

    def _close_broken(self, clip: Clip) -> None:
        try:
            clip.close()
        except OSError:  # the first error is the reason
            pass

    def _fail(self, error: Exception) -> None:
        """Says it once, until something was recorded."""
        self.failed = True
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        text = f"a clip cannot be recorded in {self._folder.path}: {reason}"
        with self._saying:
            is_new, self._said = text != self._said, text
        if is_new:
            self._tell(text)

    def _tell(self, text: str) -> None:
        self._say(f"{self._source}: {text}")
