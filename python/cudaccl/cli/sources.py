# SPDX-License-Identifier: LGPL-2.1-or-later
"""The sources that a command line names, and the pipelines that label them."""

from __future__ import annotations

import argparse
import dataclasses
import os
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from cudaccl import _regions
from cudaccl.cli.errors import UsageError

_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NAMED = re.compile(r"([A-Za-z0-9_.-]+)=(.+)", re.DOTALL)
_NS = 1e9
_STEP_S = 0.1


@dataclasses.dataclass(frozen=True)
class Source:
    """A video with a name."""

    name: str
    text: str  #: URI, device, file or launch line

    @property
    def path(self) -> str | None:
        """Of a file; None: it is something else. The file of a URI may be missing."""
        if os.path.isfile(self.text):
            return self.text
        uri = urlsplit(self.text)
        return unquote(uri.path) if uri.scheme == "file" else None

    @property
    def is_launch_line(self) -> bool:
        return self.path is None and "://" not in self.text.split("!")[0] and not self.text.startswith("/dev/")

    def content(self, properties: dict[str, str]) -> str | None:
        """Names what is read and how, so that a later process knows it again; None: it cannot be read again."""
        if self.path is None or not os.path.isfile(self.path):
            return None
        status = os.stat(self.path)
        settings = " ".join(f"{name}={value}" for name, value in sorted(properties.items()))
        return f"{os.path.realpath(self.path)} {status.st_size} {status.st_mtime_ns} {settings}"


def parse_sources(texts: list[str]) -> list[Source]:
    """Parses texts such as SOURCE or NAME=SOURCE. Raises UsageError."""
    sources: dict[str, Source] = {}
    for text in texts:
        source = _parse_source(text)
        if source.name in sources:
            raise UsageError(
                f"two sources have the name {source.name}: {sources[source.name].text} and {source.text};"
                " give them names: NAME=SOURCE")
        sources[source.name] = source
    return list(sources.values())


def _parse_source(text: str) -> Source:
    named = _NAMED.fullmatch(text)
    if named and not os.path.exists(text):
        return Source(named[1], named[2])
    if "://" in text.split("!")[0]:
        name = text.partition("://")[2].rpartition("@")[2]
    elif os.path.exists(text):
        name = Path(text).stem
    else:
        name = text.split(maxsplit=1)[0] if text.strip() else ""
    name = "-".join(_NAME.findall(name)).strip("-.")
    if not name:
        raise UsageError(f"the source {text!r} needs a name: NAME=SOURCE")
    return Source(name, text)


def parse_properties(texts: list[str]) -> dict[str, str]:
    """Parses texts such as NAME=VALUE. Raises UsageError."""
    properties = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {text}: a property is set by NAME=VALUE")
        properties[name.replace("_", "-")] = value
    for name in ("name", "meta-name", "output", "metadata"):
        if name in properties:
            raise UsageError(f"--set {name}=…: this program sets {name} itself")
    try:
        _regions.check(properties)
    except ValueError as error:
        raise UsageError(f"--set regions: {error}") from error
    return properties


def seconds(text: str) -> float:
    """The value of an option."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return number


def add_stall(parser: argparse.ArgumentParser, default: float) -> None:
    """Adds an option."""
    parser.add_argument(
        "--stall", type=seconds, default=default, metavar="SECONDS",
        help="a source without a frame for so long has failed (default: %(default)g)")


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


class Stream:
    """The frames of a source, labelled.

    Raises PipelineError or FileNotFoundError of `cudaccl.gst.frames()`, and UsageError for an unknown property.
    """

    def __init__(self, source: Source, properties: dict[str, str]) -> None:
        from cudaccl import _gst_pipeline, gst

        class Pipeline(_gst_pipeline.Pipeline):
            """Open for this module."""

            def parts(self) -> tuple[Any, Any, Any]:
                return self._gst.Gst, self._pipeline, self._sink

        text = Path(source.path) if source.path is not None else source.text
        try:
            pipeline = Pipeline(text, None, False, {"name": source.name, **properties})
        except TypeError as error:
            raise UsageError(f"--set: {error}") from error
        self._gst, self._pipeline, self._sink = pipeline.parts()
        self._element = self._pipeline.get_by_name(source.name)
        self._labelled = gst._labelled(pipeline)
        self._stopped = threading.Event()
        self._waiting_since: float | None = None
        self.stalled = False  #: `stop_if_silent()` has ended the loop

    def __iter__(self) -> Iterator[Any]:
        """Each `cudaccl.gst.Frame` that has metadata. Raises PipelineError."""
        from cudaccl.gst import PipelineError

        while not self._stopped.is_set():
            self._waiting_since = time.monotonic()
            frame = next(self._labelled, None)
            self._waiting_since = None
            if frame is None or self._stopped.is_set():
                break
            if frame.info is not None:
                yield frame
        if self.stalled:
            raise PipelineError("no frame came for a long time")

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
        self._pipeline.set_state(self._gst.State.NULL)

    @property
    def stopped(self) -> bool:
        return self._stopped.is_set()

    def close(self) -> None:
        """In the thread of the loop, also if that was left early."""
        self._labelled.close()

    @property
    def is_live(self) -> bool:
        """Frames come when they are captured. Known while frames flow."""
        query = self._gst.Query.new_latency()
        # Not of the pipeline: its sink does not wait for the clock, and so never is live.
        return self._element.get_static_pad("sink").peer_query(query) and query.parse_latency()[0]

    def latency(self, running_time: int | None) -> float | None:
        """Seconds since a frame of a live source was captured."""
        clock = self._pipeline.get_clock()
        if running_time is None or clock is None:
            return None
        return (clock.get_time() - self._pipeline.get_base_time() - running_time) / _NS

    def expected_frames(self) -> int | None:
        """From the duration and the frame rate; None: not known. While frames flow."""
        from cudaccl._gst_pipeline import gstreamer

        caps = self._sink.get_static_pad("sink").get_current_caps()
        known, duration = self._pipeline.query_duration(self._gst.Format.TIME)
        if caps is None or not known or duration <= 0:
            return None
        video = gstreamer().GstVideo.VideoInfo.new_from_caps(caps)
        return round(duration / _NS * video.fps_n / video.fps_d) or None

    def stats(self) -> dict[str, Any]:
        """The element's property `stats`: its numbers."""
        structure = self._element.get_property("stats")
        names = (structure.nth_field_name(index) for index in range(structure.n_fields()))
        return {name: structure.get_value(name) for name in names if name not in ("zones", "lines")}
