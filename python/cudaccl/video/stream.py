# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline that labels a source, and what stops it when it is silent."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from cudaccl import _gst_pipeline, gst
from cudaccl._file_size import early_end
from cudaccl.video.errors import UsageError
from cudaccl.video.sources import Source

_NS = 1e9
_STEP_S = 0.1


class Watchdog:
    """A thread that calls `stop_if_silent()` of a stream. A context."""

    def __init__(self, stream: Stream, seconds: float) -> None:
        self._stream = stream
        self._seconds = seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="cudaccl-watchdog", daemon=True)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_STEP_S):
            self._stream.stop_if_silent(self._seconds)


class Stream(_gst_pipeline.Pipeline):
    """The frames of a source, labelled.

    warn: is called with GStreamer's warnings; None: they are logged.
    strict: properties that the element does not take, or that have no effect, raise UsageError before the first frame;
        else they are a PipelineError or a warning.

    Raises PipelineError or FileNotFoundError of `cudaccl.gst.frames()`, and UsageError for an unknown property.
    """

    def __init__(
        self, source: Source, properties: dict[str, str], warn: Callable[[str], None] | None = None,
        strict: bool = True,
    ) -> None:
        self._path = source.path
        text = Path(source.path) if source.path is not None else source.text
        self._refuses = strict
        options = {"warn": warn} if warn is not None else {}
        try:
            super().__init__(text, None, False, {"name": source.name, **properties}, strict=strict, **options)
        except TypeError as error:
            raise UsageError(f"--set: {error}") from error
        except _gst_pipeline.MissingElement as missing:
            raise UsageError(str(missing)) from None
        self.element = self._pipeline.get_by_name(source.name)
        self._labelled = gst.labelled(self)
        self._stopped = threading.Event()
        self._waiting_since: float | None = None
        self._expected: int | None = None
        self.stalled = False  #: `stop_if_silent()` has ended the loop

    def __iter__(self) -> Iterator[Any]:
        """Each `cudaccl.gst.Frame` that has metadata. Raises PipelineError."""
        while not self._stopped.is_set():
            self._waiting_since = time.monotonic()
            frame = self._next()
            self._waiting_since = None
            self._refuses = False
            if frame is None or self._stopped.is_set():
                break
            if self._expected is None and self._path is not None:
                self._expected = self.expected_frames() or 0
            if frame.info is not None:
                yield frame
        if self.stalled:
            raise gst.PipelineError("no frame came for a long time")

    def _next(self) -> Any:
        try:
            return next(self._labelled, None)
        except _gst_pipeline.SettingsError as refusal:
            if not self._refuses:
                raise
            raise UsageError(str(refusal)) from refusal

    def change(self, before: dict[str, str], after: dict[str, str]) -> list[str]:
        """Properties, which were checked, for the frames that follow. For any thread. Returns the names of those that
        wait for the next start."""
        return _gst_pipeline.change_properties(self.element, before, after)

    def stop_if_silent(self, seconds: float) -> None:
        """For another thread, which calls it now and then: ends the loop if it has waited so long for a frame.

        Some sources do not end and do not fail: a camera whose network is gone, and now and then a broken file.
        """
        since = self._waiting_since
        if since is not None and time.monotonic() - since > seconds:
            self.stalled = True
            self.stop()

    def stop(self) -> None:
        """Ends the loop of another thread."""
        self._stopped.set()
        self._pipeline.set_state(self._gst.Gst.State.NULL)

    @property
    def pipeline(self) -> Any:
        """The Gst.Pipeline."""
        return self._pipeline

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def close(self) -> None:
        """In the thread of the loop, also if that was left early."""
        self._labelled.close()

    @property
    def is_live(self) -> bool:
        """Frames come when they are captured. Known while frames flow."""
        query = self._gst.Gst.Query.new_latency()
        # Not of the pipeline: its sink does not wait for the clock, and so never is live.
        return self.element.get_static_pad("sink").peer_query(query) and query.parse_latency()[0]

    def latency(self, running_time: int | None) -> float | None:
        """Seconds since a frame of a live source was captured."""
        clock = self._pipeline.get_clock()
        if running_time is None or clock is None:
            return None
        return (clock.get_time() - self._pipeline.get_base_time() - running_time) / _NS

    def expected_frames(self) -> int | None:
        """From the duration and the frame rate; None: not known. While frames flow."""
        caps = self._sink.get_static_pad("sink").get_current_caps()
        known, duration = self._pipeline.query_duration(self._gst.Gst.Format.TIME)
        if caps is None or not known or duration <= 0:
            return None
        video = self._gst.GstVideo.VideoInfo.new_from_caps(caps)
        return round(duration / _NS * video.fps_n / video.fps_d) or None

    def early_end(self, frames: int) -> str:
        """What is missing of a file of which so many frames came; "": nothing, as far as it says."""
        if self._path is None or self._stopped.is_set():
            return ""
        return early_end(self._path, frames, self._expected or 0)

    def stats(self) -> dict[str, Any]:
        """The element's property `stats`: its numbers."""
        structure = self.element.get_property("stats")
        names = (structure.nth_field_name(index) for index in range(structure.n_fields()))
        return {name: structure.get_value(name) for name in names if name not in ("zones", "lines")}
