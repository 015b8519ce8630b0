# SPDX-License-Identifier: LGPL-2.1-or-later
"""The records as NumPy sees them: the layouts of component.h, track.h, grey.h and polygon.h in cuda/ccl."""

from __future__ import annotations

import enum

import numpy

COMPONENT = numpy.dtype([
    ("label", "u4"), ("id", "u4"), ("area", "u4"),
    ("x", "u4"), ("y", "u4"), ("width", "u4"), ("height", "u4"),
    ("cx", "f4"), ("cy", "f4"), ("mxx", "f4"), ("mxy", "f4"), ("myy", "f4"),
    ("perimeter", "u4"), ("euler", "i4"), ("flags", "u2"), ("value", "u2"), ("age", "u4"),
])
"""One connected component, 64 bytes. docs/metadata.md describes the fields."""

TRACK = numpy.dtype([
    ("id", "u4"), ("flags", "u4"), ("age", "u4"), ("component", "u4"), ("first_time", "i8"), ("last_time", "i8"),
    ("cx", "f4"), ("cy", "f4"), ("vx", "f4"), ("vy", "f4"),
    ("x", "u2"), ("y", "u2"), ("width", "u2"), ("height", "u2"), ("parent", "u4"), ("zones", "u4"),
])
"""One object over time, as it is in one frame, 64 bytes. docs/metadata.md describes the fields."""

EVENT = numpy.dtype([
    ("type", "u4"), ("id", "u4"), ("other", "u4"), ("where", "u4"), ("time", "i8"), ("x", "f4"), ("y", "f4"),
])
"""Something that happened to a track, in a zone, or in the whole frame, 32 bytes."""

GREY = numpy.dtype([
    ("sum", "u8"), ("label", "u4"), ("min", "u2"), ("max", "u2"), ("mean", "f4"), ("variance", "f4"),
    ("cx", "f4"), ("cy", "f4"),
])
"""Statistics of the source's values in one component, 32 bytes. docs/features.md describes the fields."""

POLYGON = numpy.dtype([("label", "u4"), ("id", "u4"), ("kind", "u4"), ("first", "u4"), ("n_vertices", "u4")])
"""One polygon of a component, 20 bytes: its vertices are `first` to `first + n_vertices` of an array of VERTEX."""

VERTEX = numpy.dtype([("x", "f4"), ("y", "f4")])
"""A vertex of a polygon, 8 bytes, at a corner of pixels: those of the first pixel are (0, 0) to (1, 1)."""

POLYGON_KINDS = ("", "rectangle", "hull", "outline", "hole", "circle")
"""By the field `kind` of a polygon: its name. docs/features.md describes the kinds."""

EVENT_TYPES = (
    "", "born", "died", "merged", "split", "entered", "left", "dwelled", "crossed-left", "crossed-right", "crowded",
    "started", "stopped",
)
"""By the field `type` of an event: its name. docs/events.md describes the types."""

EVENTS_AT_LINES = tuple(name for name in EVENT_TYPES if name.startswith("crossed"))
"""Names of those whose field `where` is a line; that of all others is a zone, or NO_PLACE."""

NO_COMPONENT = 0xffffffff
"""The field `component` of a track that no component shows in this frame."""

NO_DISTANCE = 0xffffffff
"""The squared distance of a pixel whose component is the whole image, or that is farther than 32 bits can say."""

NO_PLACE = 0xffffffff
"""The field `where` of an event at no zone and no line."""


class ComponentFlag(enum.IntFlag):
    """Bits of the field `flags` of a component."""

    TOUCHES_BORDER = 1 << 0
    NEWBORN = 1 << 1
    MERGED = 1 << 2
    SPLIT = 1 << 3
    LOST = 1 << 4
    SCALED = 1 << 5
    CUT = 1 << 6


class TrackFlag(enum.IntFlag):
    """Bits of the field `flags` of a track."""

    CONFIRMED = 1 << 0
    PREDICTED = 1 << 1
    MERGED = 1 << 2
    FRAGMENTED = 1 << 3
    NEWBORN = 1 << 4
    SPLIT = 1 << 5
    TOUCHES_BORDER = 1 << 6


class DeviceError(RuntimeError):
    """There is no GPU that serves, or CUDA has failed: then the engine must be made again."""
