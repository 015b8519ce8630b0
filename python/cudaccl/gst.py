# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the GStreamer element `cudaccl` finds, in Python.

    import cudaccl.gst

    for time, image, records in cudaccl.gst.frames("clip.mp4", foreground="motion", min_area=150):
        print(time, len(records))

`records()`, `tracks()`, `events()`, `grey()`, `polygons()`, `info()` and `label_map()` read the metadata of any
Gst.Buffer, in a pipeline of your own. Metadata with a field that is missing, of another type or of another size is left
out, as by the header gstcudacclmeta.h.

GStreamer's own Python packages are needed, which no package index has. On Debian and Ubuntu they are python3-gi,
python3-gst-1.0 and gir1.2-gst-plugins-base-1.0; a virtual environment sees them if it was made with
`/usr/bin/python3 -m venv --system-site-packages`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import numpy

from cudaccl import _gst_meta, _gst_pipeline
from cudaccl._gst_meta import LabelMap, Metadata
from cudaccl._gst_pipeline import PipelineError
from cudaccl._types import COMPONENT, EVENT, TRACK

__all__ = [
    "Frame", "Info", "PipelineError", "Polygons", "events", "frames", "grey", "info", "label_map", "polygons",
    "records", "tracks",
]

_NO_TIME = 2**64 - 1  # GST_CLOCK_TIME_NONE


@dataclasses.dataclass(frozen=True)
class Info:
    """The fields of a buffer's metadata beside the records. docs/metadata.md describes them."""

    layout_version: int
    width: int  #: of the frame that coordinates refer to, in pixels
    height: int
    n_components: int  #: that the filters keep; there may be fewer records, see `overflow`
    overflow: bool  #: there are more components than `max-components`: only the largest have a record
    relearning: bool  #: the background is being learned, so there are no components
    level: int  #: with `foreground=otsu`: the threshold of this frame; else 0
    labels_saturated: bool  #: with `output=labels`: labels above 65535 are written as 65535
    source: str  #: which element it is
    frame: int  #: number of the frame in the stream, from 0
    utc: int | None  #: when it was captured: nanoseconds since 1970 in UTC; None: not known, as for files
    utc_clock: str | None  #: which clock gave it: "camera" or "system", docs/metadata.md; None: not known
    zones: tuple[str, ...]  #: names, by index
    lines: tuple[str, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Polygons:
    """The polygons of a frame, those of the largest components first. docs/features.md describes them."""

    table: numpy.ndarray  #: of POLYGON
    vertices: numpy.ndarray  #: of VERTEX
    truncated: bool  #: some components have no polygons, because they have too many vertices

    def __iter__(self) -> Iterator[tuple[numpy.void, numpy.ndarray]]:
        """Each record of `table` with its vertices, of VERTEX."""
        for polygon in self.table:
            yield polygon, self.vertices[polygon["first"]:polygon["first"] + polygon["n_vertices"]]


@dataclasses.dataclass(frozen=True, eq=False)
class Frame:
    """A frame of `frames()`. It unpacks as `time, image, records`. All arrays are its own and may be changed."""

    time: int | None  #: running time in nanoseconds; None if the buffer has no time stamp
    image: numpy.ndarray | None  #: (height, width) or (height, width, channels); None with `image_format=None`
    records: numpy.ndarray  #: of COMPONENT, ascending labels
    tracks: numpy.ndarray  #: of TRACK, ascending ids; empty without `track=True`
    events: numpy.ndarray  #: of EVENT; empty without `track=True`
    info: Info | None  #: None if the element attached no metadata
    label_map: numpy.ndarray | None  #: as of `label_map()`; None without `label_map="labels"` or `"ids"`
    grey: numpy.ndarray | None  #: as of `grey()`; None without `features="grey"`
    polygons: Polygons | None  #: None without `features="rectangle"`, `"hull"`, `"contour"` or `"inradius"`

    def __iter__(self) -> Iterator[Any]:
        return iter((self.time, self.image, self.records))


def records(buffer: Any, source: str | None = None) -> numpy.ndarray:
    """The component records of a Gst.Buffer.

    source: the element's `meta-name`, or its name, if several elements labelled the buffer; None: the last one that
        did.

    Returns an array of dtype `COMPONENT` by ascending label. It is a copy, and yours. It is empty if the frame has no
    component, and also if the buffer has no metadata (of this source): `info()` distinguishes the two.

    Raises TypeError if `buffer` is no Gst.Buffer.
    """
    return _copy(_find(buffer, source), "components", COMPONENT)


def tracks(buffer: Any, source: str | None = None) -> numpy.ndarray:
    """The track records of a Gst.Buffer: an array of dtype `TRACK` by ascending id; else as `records()`.

    It is empty without the element's property `track=true`.
    """
    return _copy(_find(buffer, source), "tracks", TRACK)


def events(buffer: Any, source: str | None = None) -> numpy.ndarray:
    """The events of a Gst.Buffer: an array of dtype `EVENT`, in the order of docs/events.md; else as `records()`.

    `cudaccl.EVENT_TYPES` has the names of the types, and the `Info` of the buffer those of zones and lines.
    """
    return _copy(_find(buffer, source), "events", EVENT)


def grey(buffer: Any, source: str | None = None) -> numpy.ndarray | None:
    """The grey statistics of a Gst.Buffer: an array of dtype `GREY`, one for each of `records()`.

    source, errors: as of `records()`. None if the buffer has none (of this source): the element measures them with
    `features=grey`.
    """
    return _grey(_find(buffer, source))


def polygons(buffer: Any, source: str | None = None) -> Polygons | None:
    """The polygons of a Gst.Buffer. Their arrays are copies, and yours.

    source, errors: as of `records()`. None if the buffer has none (of this source): the element makes them with
    `features=rectangle`, `hull`, `contour` or `inradius`.
    """
    return _polygons(_find(buffer, source))


def info(buffer: Any, source: str | None = None) -> Info | None:
    """The other fields of a Gst.Buffer's metadata. None if it has none (of this source)."""
    return _info(_find(buffer, source))


def label_map(buffer: Any, source: str | None = None) -> numpy.ndarray | None:
    """The label map of a Gst.Buffer: the label of each pixel, or the id, and 0 where there is no component.

    source: as of `records()`.

    Returns an int32 array of (height, width). It is a copy, and yours, on the host also if the map lies in CUDA memory.
    None if the buffer has no map (of this source): the element attaches one with `label-map=labels` or `label-map=ids`.

    Raises TypeError if `buffer` is no Gst.Buffer.
    """
    found = _find(buffer, source, LabelMap)
    return found.pixels() if found is not None else None


def frames(
    source: str | os.PathLike[str],
    *,
    image_format: str | None = "auto",
    drop: bool | None = None,
    **properties: Any,
) -> Iterator[Frame]:
    """Labels the frames of a video, and iterates over `(time, image, records)` of each; see `Frame` for more.

    source: what to read, tried in this order:
        - a URI, such as "rtsp://camera/stream" or "https://example.org/clip.mp4";
        - a camera, such as "/dev/video0";
        - a file: a video or an image;
        - the beginning of a launch line, such as "videotestsrc num-buffers=10 ! video/x-raw,width=640,height=480".
    image_format: the pixels of `image`. "RGB", "BGR", "RGBA", "BGRA", "ARGB", "ABGR" and "GRAY8" are uint8,
        "GRAY16_LE" is uint16. "auto" is GRAY16_LE for `output="labels"` and `output="distance"`, GRAY8 for
        `output="mask"`, else RGB. None: there is no image, which saves time.
    drop: frames that come while the loop still works on an earlier one are dropped. None: only those of live sources.
    properties: of the element, with _ for -: `foreground="motion"`, `min_area=150`. Values are numbers, booleans and
        strings as in a launch line; several flags are a list, and `regions` may be a dictionary. `output` is
        "passthrough" unless it is set here: then `image` is the frame that was labelled.

    The pipeline starts with the first step of the loop, and ends with the loop, also if it is left early; `close()` of
    the iterator ends it too. A file that is shorter than its headers say gives the frames that it has, and a warning in
    the log.

    Raises FileNotFoundError if `source` is none of the above, ValueError for a wrong `image_format`, TypeError for a
    property that the element does not have, ImportError if GStreamer's Python packages are missing, and
    `PipelineError` with GStreamer's text for everything that GStreamer refuses, at once or while the loop runs.
    """
    pipeline = _gst_pipeline.Pipeline(source, image_format, drop, properties)
    return labelled(pipeline)


def labelled(pipeline: _gst_pipeline.Pipeline) -> Iterator[Frame]:
    """The frames of a pipeline that this package has made; not for others."""
    for time, image, buffer in pipeline.run():
        yield _frame(time, image, buffer)


def frame_of(buffer: Any) -> Frame:
    """What a Gst.Buffer has; not for others than this package. The image is left out."""
    return _frame(time_of(buffer), None, buffer)


def time_of(buffer: Any) -> int | None:
    """Of its presentation, in nanoseconds; None: it has none. Not for others than this package."""
    return buffer.pts if buffer.pts < _NO_TIME else None


def _frame(time: int | None, image: numpy.ndarray | None, buffer: Any) -> Frame:
    meta = _find(buffer, None)
    return Frame(
        time, image, _copy(meta, "components", COMPONENT), _copy(meta, "tracks", TRACK),
        _copy(meta, "events", EVENT), _info(meta), label_map(buffer), _grey(meta), _polygons(meta))


def _find(buffer: Any, source: str | None, kind: Any = Metadata) -> Any:
    gst = _gst_pipeline.gstreamer().Gst
    if not isinstance(buffer, gst.Buffer):
        raise TypeError(f"a Gst.Buffer is needed, not {type(buffer).__name__}")
    return _gst_meta.find(hash(buffer), source, kind)  # PyGObject: the hash of a boxed value is its address


def _copy(meta: Metadata | None, name: str, dtype: numpy.dtype) -> numpy.ndarray:
    return getattr(meta, name).copy() if meta is not None else numpy.empty(0, dtype)


def _grey(meta: Metadata | None) -> numpy.ndarray | None:
    return meta.grey.copy() if meta is not None and meta.grey is not None else None


def _polygons(meta: Metadata | None) -> Polygons | None:
    if meta is None or meta.polygons is None:
        return None
    return Polygons(meta.polygons.copy(), meta.vertices.copy(), meta.polygons_truncated)


def _info(meta: Metadata | None) -> Info | None:
    if meta is None:
        return None
    return Info(**{field.name: getattr(meta, field.name) for field in dataclasses.fields(Info)})
