# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline that labels the frames of a source, for `cudaccl.gst.frames()`."""

from __future__ import annotations

import enum
import functools
import json
import logging
import os
import re
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy

from cudaccl import _regions
from cudaccl._file_size import early_end
from cudaccl._property_values import nanoseconds, similar, whole_number

_LOG = logging.getLogger("cudaccl.gst")

_PULL_NS = 100_000_000  # the bus is looked at this often, and the keyboard
_QUEUED = 2  # frames that wait for the loop
_LARGEST = 2**32 - 1  # only times can be larger
_MILLISECOND = 10**6
_V4L2 = 81  # the major number of its devices

# Format: channels and type of its pixels.
_FORMATS = {
    "GRAY8": (1, "u1"), "GRAY16_LE": (1, "<u2"), "RGB": (3, "u1"), "BGR": (3, "u1"),
    "RGBA": (4, "u1"), "BGRA": (4, "u1"), "ARGB": (4, "u1"), "ABGR": (4, "u1"),
}
_FORMAT_OF_OUTPUT = {"labels": "GRAY16_LE", "mask": "GRAY8", "distance": "GRAY16_LE"}


class PipelineError(RuntimeError):
    """GStreamer's text of an error, with the name of the element."""


class SettingsError(PipelineError):
    """The element cannot use its properties, or one of them has no effect."""


class MissingElement(PipelineError):
    """GStreamer does not find the plugin."""


_LOADING = threading.Lock()


def gstreamer() -> SimpleNamespace:
    """GStreamer's bindings, initialised. For any thread. ImportError says what to install."""
    with _LOADING:  # a cache has no lock, and the bindings cannot be loaded by two threads at once
        return _load()


@functools.cache
def _load() -> SimpleNamespace:
    try:
        import gi

        gi.require_version("Gst", "1.0")
        gi.require_version("GstApp", "1.0")
        gi.require_version("GstVideo", "1.0")
        from gi.repository import GLib, GObject, Gst, GstApp, GstVideo
    except (ImportError, ValueError) as missing:
        raise ImportError(
            f"cudaccl.gst needs GStreamer's Python packages ({missing}). On Debian and Ubuntu install python3-gi,"
            " python3-gst-1.0 and gir1.2-gst-plugins-base-1.0, and make the virtual environment with"
            " /usr/bin/python3 -m venv --system-site-packages: other installations of Python do not see them."
        ) from missing
    Gst.init(None)
    return SimpleNamespace(GLib=GLib, GObject=GObject, Gst=Gst, GstApp=GstApp, GstVideo=GstVideo)


class Pipeline:
    """SOURCE ! cudaccl ! appsink. The constructor makes it, run() runs it once."""

    def __init__(
        self,
        source: str | os.PathLike[str],
        image_format: str | None,
        drop: bool | None,
        properties: dict[str, Any],
        warn: Callable[[str], None] = _LOG.warning,
        strict: bool = False,
    ) -> None:
        """warn: is called with GStreamer's warnings. strict: a warning about the properties is an error until the first
        frame has come.
        """
        self._warn = warn
        self._strict = strict
        properties = {"output": "passthrough"} | properties
        if image_format == "auto":
            image_format = _FORMAT_OF_OUTPUT.get(properties["output"], "RGB")
        if image_format is not None and image_format not in _FORMATS:
            raise ValueError(f"image_format is {image_format!r}; possible are auto, {', '.join(_FORMATS)} and None")
        self._image_format = image_format
        self._drop = drop
        self._reading = threading.Lock()  # held while a sample is
        self._is_seeking = False
        self._has_sought = False
        self._gst = gstreamer()
        element = _element(self._gst.Gst, properties)
        convert = f" ! videoconvert ! video/x-raw,format={image_format}" if image_format is not None else ""
        begin = source_line(source)
        self._decoded = None if begin == source else os.fspath(source)  # not of a launch line, which may have other links
        line = f"{begin} ! videoconvert ! {element}{convert} ! appsink name=cudaccl-sink"
        self._pipeline = parse(line, properties)
        self._pipeline.iterate_recurse().foreach(_ask_for_camera_time)
        self._pipeline.connect("deep-element-added", lambda _pipeline, _bin, element: _ask_for_camera_time(element))
        self._sink = self._pipeline.get_by_name("cudaccl-sink")
        self._sink.set_property("sync", False)
        self._sink.set_property("max-buffers", _QUEUED)

    def run(self) -> Iterator[tuple[int | None, numpy.ndarray | None, Any]]:
        """(running time in nanoseconds, image, Gst.Buffer) of each frame."""
        gst = self._gst.Gst
        try:
            if self._pipeline.set_state(gst.State.PLAYING) == gst.StateChangeReturn.FAILURE:
                raise self._pop_error() or PipelineError("the pipeline does not start, and gives no reason")
            n_frames = 0
            for frame in self._frames():
                if n_frames == 0 and (self._is_live() if self._drop is None else self._drop):
                    self._sink.set_property("max-buffers", 1)
                    self._sink.set_property("drop", True)
                n_frames += 1
                yield frame
            has_all = not self._has_sought and not self._sink.get_property("drop")
            if has_all and self._decoded is not None and os.path.isfile(self._decoded):
                missing = early_end(self._decoded, n_frames)
                if missing:
                    self._warn(f"{self._decoded}: {missing}")
        finally:
            self._pipeline.set_state(gst.State.NULL)

    def _is_live(self) -> bool:
        query = self._gst.Gst.Query.new_latency()
        # Not of the pipeline: a sink that does not wait for the clock answers that it is not live.
        return self._sink.get_static_pad("sink").peer_query(query) and query.parse_latency()[0]

    def seek(self, place: int) -> bool:
        """To a time in nanoseconds, in another thread than that of run(). False: the source cannot seek."""
        gst = self._gst.Gst
        self._is_seeking = self._has_sought = True
        with self._reading:
            self._is_seeking = False
            return self._pipeline.seek_simple(gst.Format.TIME, gst.SeekFlags.FLUSH | gst.SeekFlags.ACCURATE, place)

    def _frames(self) -> Iterator[Any]:
        """Until the end of the stream. Frames that were ready before an error come before its exception."""
        error = None
        left = _QUEUED
        while True:
            # In this order: frames that come between the two are pulled next time.
            error = error or self._pop_error()
            given = self._pull()
            if error is not None:
                if not given or left == 0:
                    raise error
                left -= 1
            if given:
                if self._strict:
                    error = error or self._pop_error()  # of this frame: it has not left yet
                    if isinstance(error, SettingsError):
                        raise error
                    self._strict = False
                yield given.pop()  # which this function does not keep
            elif self._sink.is_eos():
                error = self._pop_error()
                if error is not None:
                    raise error
                return

    def _pull(self) -> list[tuple[int | None, numpy.ndarray | None, Any]]:
        """One frame, as of run(), or none. No sample is kept: appsink uses it again when it gets other caps, and, in
        GStreamer 1.22, after a flush, also while another thread has it."""
        while self._is_seeking:  # a lock alone would be taken again at once
            time.sleep(0.001)
        gst = self._gst.Gst
        with self._reading:
            sample = self._sink.try_pull_sample(_PULL_NS)
            if sample is None:
                return []
            buffer = sample.get_buffer()
            running = sample.get_segment().to_running_time(gst.Format.TIME, buffer.pts)
            image = self._image(sample)
            del sample
        return [(running if running != gst.CLOCK_TIME_NONE else None, image, buffer)]

    def _pop_error(self) -> PipelineError | None:
        """The first error on the bus. Other messages than warnings are discarded."""
        for is_error, is_refusal, is_unlinked, name, text in _troubles(self._pipeline.get_bus()):
            line = f"{name}: {text}"
            if is_unlinked and self._decoded is not None:  # else an error of what reads it follows, and does not say why
                return PipelineError(f"{self._decoded} has no video, or none that can be decoded")
            if is_refusal and (is_error or self._strict):
                return SettingsError(line)
            if is_error:
                return PipelineError(line)
            self._warn(line)
        return None

    def _image(self, sample: Any) -> numpy.ndarray | None:
        if self._image_format is None:
            return None
        channels, kind = _FORMATS[self._image_format]
        video = self._gst.GstVideo
        buffer = sample.get_buffer()
        layout = video.VideoInfo.new_from_caps(sample.get_caps())
        placed = video.buffer_get_video_meta(buffer) or layout  # rows may be padded
        size = numpy.dtype(kind).itemsize
        ok, memory = buffer.map(self._gst.Gst.MapFlags.READ)
        if not ok:
            raise PipelineError("the pixels of a buffer cannot be read")
        try:
            view: numpy.ndarray = numpy.ndarray(
                (layout.height, layout.width, channels),
                kind,
                buffer=memory.data,
                offset=placed.offset[0],
                strides=(placed.stride[0], channels * size, size),
            )
            return view.copy() if channels > 1 else view[:, :, 0].copy()
        finally:
            buffer.unmap(memory)


def _troubles(bus: Any) -> Iterator[tuple[bool, bool, bool, str, str]]:
    """Errors and warnings: whether it is an error, whether it is cudaccl's about its properties, whether a decoder has
    nothing for the element behind it, the name of the element, and GStreamer's text."""
    gst = gstreamer().Gst
    kinds = gst.MessageType
    while message := bus.pop_filtered(kinds.ERROR | kinds.WARNING):
        is_error = message.type == kinds.ERROR
        error, details = message.parse_error() if is_error else message.parse_warning()
        factory = message.src.get_factory() if isinstance(message.src, gst.Element) else None
        is_refusal = (factory is not None and factory.get_name() == "cudaccl"
                      and error.matches(gst.ResourceError.quark(), gst.ResourceError.SETTINGS))
        more = _without_place(details or "")
        is_unlinked = error.matches(gst.ParseError.quark(), gst.ParseError.DELAYED_LINK)
        yield is_error, is_refusal, is_unlinked, message.src.get_name(), error.message + (f" ({more})" if more else "")


def first_error(pipeline: Any) -> PipelineError | None:
    """On the bus of a pipeline; what came before it is discarded."""
    return next((PipelineError(text) for is_error, _, _, _, text in _troubles(pipeline.get_bus()) if is_error), None)


def _without_place(details: str) -> str:
    """What an element says beside its message, without the place in GStreamer's source that comes first."""
    place, _, more = details.partition("\n")
    return " ".join((more if re.match(r"\S+\(\d+\): ", place) else details).split())


# What is possible depends on the machine; and the command sets the output.
_OF_A_MACHINE = {"backend": "cpu", "cuda-device-id": "-1", "algorithm": "auto", "output": "passthrough"}


def check_properties(properties: dict[str, Any]) -> None:
    """Raises TypeError for one that the element does not have, and PipelineError for a value that it refuses or that has
    no effect.

    MissingElement and ImportError: nothing can be checked on this machine.
    """
    gst = gstreamer().Gst
    make_element(properties)
    element = make_element(properties | _OF_A_MACHINE)
    bus = gst.Bus.new()
    element.set_bus(bus)
    try:
        element.set_state(gst.State.PAUSED)
        for _, is_refusal, _, _, text in _troubles(bus):
            if is_refusal:
                raise SettingsError(text)
    finally:
        element.set_state(gst.State.NULL)
        element.set_bus(None)


def element_line(properties: dict[str, Any]) -> str:
    """The element in a launch line. Raises as `make_element()`."""
    return _element(gstreamer().Gst, properties)


def make_element(properties: dict[str, Any]) -> Any:
    """An element with these properties, in no pipeline. Raises as `check_properties()`, which checks more."""
    return parse(_element(gstreamer().Gst, properties), properties)


def change_properties(element: Any, before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """For an element that labels; `after` was checked. A file of regions is read again.

    Returns the names of those that it takes at its next start.
    """
    gst = gstreamer().Gst
    fresh = element.get_factory().create(None)
    later = []
    for name in sorted(before.keys() | after.keys()):
        spec = element.find_property(name)
        if before.get(name) == after.get(name) and name != "regions":
            continue
        if not spec.flags & gst.PARAM_MUTABLE_PLAYING:
            later.append(name)
        elif name not in after:
            element.set_property(name, fresh.get_property(name))
        elif name == "regions":
            element.set_property(name, str(after[name]))
        else:
            gst.util_set_object_arg(element, name, _text_for(spec, after[name]))
    return later


def parse(line: str, properties: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """A launch line in which the properties stand. Raises PipelineError."""
    try:
        return gstreamer().Gst.parse_launch(line)
    except gstreamer().GLib.Error as error:
        raise PipelineError(error.message + _possible(properties, error.message)) from None


def quoted(text: str) -> str:
    """As a value in a launch line."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _ask_for_camera_time(element: Any) -> None:
    """Lets frames of RTSP cameras have the camera's own time of day."""
    if element.find_property("add-reference-timestamp-meta") is not None:
        element.set_property("add-reference-timestamp-meta", True)


def _element(gst: Any, properties: dict[str, Any]) -> str:
    """The element in a launch line."""
    # Not make(), which raises an exception of its own from GStreamer 1.28 on.
    factory = gst.ElementFactory.find("cudaccl")
    element = factory.create(None) if factory is not None else None
    if element is None:
        raise MissingElement(
            "GStreamer has no element cudaccl: install the plugin, or use the shell of `meson devenv -C build`, or set"
            " GST_PLUGIN_PATH to the folder of libgstcudaccl.so; README.md has more"
        )
    words = ["cudaccl"]
    for key, value in properties.items():
        name = key.replace("_", "-")
        spec = element.find_property(name)
        if spec is None:
            meant = similar(name, [spec.name for spec in element.list_properties()])
            raise TypeError(f"the element cudaccl has no property {name}{meant}")
        if not spec.flags & gstreamer().GObject.ParamFlags.WRITABLE:
            raise PipelineError(f"{name} can be read, and not set")
        text = _text_for(spec, value)
        if not text and spec.value_type.name != "gchararray":
            raise PipelineError(f"{name} has no value")
        _check_range(spec, text, _text(value))
        words.append(f"{name}={quoted(text)}")
    return " ".join(words)


def _check_range(spec: Any, text: str, given: str) -> None:
    """Raises PipelineError where GObject would warn, and keep the default. given: as the user wrote it.

    What is no number, GStreamer refuses itself. Of a negative one it makes a large one where a property has no sign; -1
    is the largest. The element refuses times below a millisecond, and cannot know that they were seconds.
    """
    if not hasattr(spec, "minimum"):
        return
    try:
        number = float(text) if isinstance(spec.minimum, float) else whole_number(text)
    except ValueError:
        return
    if number is None or (number == -1 and spec.maximum == _LARGEST):
        return
    if not spec.minimum <= number <= spec.maximum:
        raise PipelineError(f"{spec.name} is {text}; {_range(spec)}")
    if _is_time(spec) and 0 < number < _MILLISECOND:
        advice = f": write {text}s or {text}ms" if given == text else ""
        raise PipelineError(f"{spec.name} is {text} nanoseconds, and only whole milliseconds count{advice}")


def _possible(properties: Mapping[str, Any], error: str) -> str:
    """What a property can be that GStreamer could not set, as the continuation of its text."""
    refused = re.search(r'could not set property "([^"]+)"', error)
    if refused is None or refused[1].replace("-", "_") not in {key.replace("-", "_") for key in properties}:
        return ""
    values = _values(gstreamer().Gst.ElementFactory.make("cudaccl"), refused[1])
    return f"; {values}" if values else ""


def _values(element: Any, name: str) -> str:
    """The values of a property; empty if they are not known."""
    # Not the specification's `enum_class`, which is another thing in each version of PyGObject.
    kind = type(element.get_property(name))
    if issubclass(kind, enum.Enum):
        values = list(kind)
    else:  # PyGObject 3.50 and earlier
        values = list(getattr(kind, "__enum_values__", getattr(kind, "__flags_values__", {})).values())
    if not values:
        return _range(element.find_property(name))
    if hasattr(values[0], "value_nicks"):
        return "possible are " + ", ".join(nick for value in values for nick in value.value_nicks) + ", joined by +"
    return "possible are " + ", ".join(value.value_nick for value in values)


def _is_time(spec: Any) -> bool:
    return not isinstance(spec.maximum, float) and spec.maximum > _LARGEST


def _range(spec: Any) -> str:
    """The numbers that a property can be; empty for other kinds."""
    if not hasattr(spec, "minimum"):
        return ""
    kind = "" if isinstance(spec.minimum, float) else "whole "
    if _is_time(spec):
        return f"possible are times such as 2s and 500ms, and whole numbers of nanoseconds up to {spec.maximum}"
    return f"possible are {kind}numbers from {spec.minimum} to {spec.maximum}"


def _text_for(spec: Any, value: Any) -> str:
    """A value as GStreamer reads it; of times also 2s and 500ms."""
    text = _text(value)
    return nanoseconds(text) if getattr(spec, "maximum", 0) > _LARGEST else text


def _text(value: Any) -> str:
    """Of a property's value, as GStreamer reads it."""
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, set, frozenset)):
        return "+".join(_text(part) for part in value)
    if isinstance(value, Mapping):  # regions
        return _regions.source_of(value).decode()
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _is_camera(path: str) -> bool:
    """Of V4L2, also by another name of its device, as in /dev/v4l, which is missing while the camera is."""
    if not path.startswith("/dev/"):
        return False
    if re.match(r"/dev/(v4l/|video\d+$)", path):
        return True
    try:
        found = os.stat(path)
    except OSError:
        return False
    return stat.S_ISCHR(found.st_mode) and os.major(found.st_rdev) == _V4L2


def _names_of_elements(line: str) -> list[str]:
    """The first word of each part, behind parentheses of a bin."""
    words = [re.search(r"[A-Za-z][\w-]*", part) for part in line.split("!")]
    return [word[0] for word in words if word is not None]


def source_line(source: str | os.PathLike[str]) -> str:
    """The beginning of the launch line, whose frames are not converted yet. Raises FileNotFoundError."""
    gst = gstreamer().Gst
    text = os.fspath(source)
    if not isinstance(text, str):
        raise TypeError(f"a source is text or a path, not {type(source).__name__}")
    is_path = isinstance(source, os.PathLike)
    if not is_path and gst.uri_is_valid(text):
        return f"uridecodebin uri={quoted(text)}"
    if _is_camera(text):
        return f"v4l2src device={quoted(text)} ! decodebin"
    if os.path.isfile(text):
        return f"uridecodebin uri={quoted(gst.filename_to_uri(os.path.abspath(text)))}"
    if not is_path and any(gst.ElementFactory.find(name) is not None for name in _names_of_elements(text)):
        return text
    if os.path.isdir(text):
        raise FileNotFoundError(f"{text!r} is a folder: name the files in it")
    if not is_path and "!" in text:
        raise FileNotFoundError(f"there is no file {text!r}, and GStreamer has no element of such a launch line")
    raise FileNotFoundError(f"{text!r} is no URI, no camera, no file and no launch line")
