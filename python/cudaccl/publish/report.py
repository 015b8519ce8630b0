# SPDX-License-Identifier: LGPL-2.1-or-later
"""What leaves the process about one frame, and its form in JSON (docs/records.schema.json)."""

from __future__ import annotations

import dataclasses
import functools
import json
from typing import Any

import numpy

from cudaccl._types import (
    COMPONENT, EVENT, EVENT_TYPES, EVENTS_AT_LINES, GREY, NO_COMPONENT, NO_PLACE, POLYGON, POLYGON_KINDS, TRACK, VERTEX,
    ComponentFlag, TrackFlag)

SCHEMA = "cudaccl-1"


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """What was found in a frame. `source`, `run` and `frame` are the key of a frame everywhere."""

    source: str  #: name of the stream
    run: str  #: which start of that stream; one that goes on after a restart keeps it. May be empty
    frame: int  #: number of the frame in the run, from 0
    pts: int | None  #: running time in nanoseconds; None: not known
    width: int  #: of the frame that coordinates refer to, in pixels
    height: int
    n_components: int  #: that the filters keep; there may be fewer records, see `overflow`
    overflow: bool
    relearning: bool
    level: int
    components: numpy.ndarray | None  #: of COMPONENT; None: left out
    tracks: numpy.ndarray | None = None  #: of TRACK; None: nothing is tracked, or left out
    events: numpy.ndarray | None = None  #: of EVENT; None: nothing is tracked
    zones: tuple[str, ...] = ()  #: names, by index
    lines: tuple[str, ...] = ()
    grey: numpy.ndarray | None = None  #: of GREY, one for each component; None: not measured
    polygons: numpy.ndarray | None = None  #: of POLYGON; None: not made
    vertices: numpy.ndarray | None = None  #: of VERTEX; None as polygons
    polygons_truncated: bool = False
    utc: int | None = None  #: when it was captured: nanoseconds since 1970 in UTC; None: not known
    utc_clock: str | None = None  #: which clock gave it: "camera", "system" or "start-time"; None: not known

    @classmethod
    def of_frame(
        cls, frame: Any, source: str, run: str, number: int, tracked: bool, start_time: int | None = None
    ) -> Report:
        """Of a `cudaccl.gst.Frame` that has metadata. The arrays are shared.

        number: of the frame in the run. tracked: whether the element has `track=true`. start_time: when the source
        began, in nanoseconds since 1970 in UTC, if the frames themselves do not say it.
        """
        info = frame.info
        time = info.utc, info.utc_clock
        if info.utc is None and start_time is not None and frame.time is not None:
            time = start_time + frame.time, "start-time"
        made = frame.polygons
        shapes = (None, None, False) if made is None else (made.table, made.vertices, made.truncated)
        return cls(
            source, run, number, frame.time, info.width, info.height, info.n_components, info.overflow,
            info.relearning, info.level, frame.records, frame.tracks if tracked else None,
            frame.events if tracked else None, info.zones, info.lines, frame.grey, *shapes, *time)

    def as_dict(self) -> dict[str, Any]:
        """The object of docs/records.schema.json, with the further key `run` if there is one."""
        result = {"schema": SCHEMA, "source": self.source} | ({"run": self.run} if self.run else {}) | {
            "frame": self.frame, "pts": self.pts} | _time_of_day(self.utc, self.utc_clock) | {
            "width": self.width, "height": self.height,
            "n_components": self.n_components, "overflow": self.overflow,
            "relearning": self.relearning, "level": self.level,
        }
        if self.components is not None:
            result["components"] = components_as_dicts(self.components, self.grey)
        if self.tracks is not None:
            result["tracks"] = tracks_as_dicts(self.tracks, self.zones)
        if self.events is not None:
            result["events"] = events_as_dicts(self.events, self.zones, self.lines, self.utc)
        if self.polygons is not None and self.vertices is not None:
            result["polygons_truncated"] = self.polygons_truncated
            result["polygons"] = polygons_as_dicts(self.polygons, self.vertices, self.components)
        return result

    @functools.cached_property
    def json(self) -> bytes:
        """`as_dict()` as one line of UTF-8 without its line break. Made once, for all sinks."""
        return json.dumps(self.as_dict(), separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


@functools.lru_cache(1024)  # there are few values, and enumerations are slow
def flag_names(flags: type[ComponentFlag] | type[TrackFlag], value: int) -> tuple[str, ...]:
    return tuple(flag.name.lower() for flag in flags if value & flag and flag is not ComponentFlag.LOST)


def _time_of_day(utc: int | None, clock: str | None = None) -> dict[str, str]:
    """The keys, if it is known."""
    if utc is None:
        return {}
    text = str(numpy.datetime_as_string(numpy.datetime64(utc, "ns"))) + "Z"
    return {"utc": text} | ({"utc_clock": clock} if clock else {})


def place_name(names: tuple[str, ...], index: int) -> str | None:
    """Returns the name of a zone or a line, None if there is none of this index."""
    return names[index] if index < len(names) else None


def zone_names(zones: tuple[str, ...], bits: int) -> list[str]:
    return [name for index, name in enumerate(zones) if bits >> index & 1]


def components_as_dicts(components: numpy.ndarray, grey: numpy.ndarray | None = None) -> list[dict[str, Any]]:
    """Of an array of COMPONENT, and of one of GREY with as many records, or None."""
    _check(components, COMPONENT)
    result = [
        {"label": label, "id": id_, "age": age, "area": area, "box": [x, y, width, height], "centroid": [cx, cy],
         "moments": [mxx, mxy, myy], "perimeter": perimeter, "euler": euler, "value": value,
         "flags": list(flag_names(ComponentFlag, flags))}
        for label, id_, area, x, y, width, height, cx, cy, mxx, mxy, myy, perimeter, euler, flags, value, age
        in _rows(components)]
    if grey is not None:
        for component, statistics in zip(result, grey_as_dicts(grey), strict=True):
            component["grey"] = statistics
    return result


def grey_as_dicts(grey: numpy.ndarray) -> list[dict[str, Any]]:
    """Converts an array of GREY."""
    _check(grey, GREY)
    return [
        {"sum": sum_, "min": low, "max": high, "mean": mean, "variance": variance, "centroid": [cx, cy]}
        for sum_, _, low, high, mean, variance, cx, cy in _rows(grey)]


def polygons_as_dicts(
    polygons: numpy.ndarray, vertices: numpy.ndarray, components: numpy.ndarray
) -> list[dict[str, Any]]:
    """Converts arrays of POLYGON and VERTEX. Polygons have the ids of their components, which may have new ones."""
    _check(polygons, POLYGON)
    _check(vertices, VERTEX)
    ids = dict(zip(components["label"].tolist(), components["id"].tolist()))
    points = list(map(list, _rows(vertices)))
    return [
        {"label": label, "id": ids.get(label, id_), "kind": POLYGON_KINDS[kind], "vertices": points[first:first + n]}
        for label, id_, kind, first, n in _rows(polygons)]


def tracks_as_dicts(tracks: numpy.ndarray, zones: tuple[str, ...]) -> list[dict[str, Any]]:
    """Converts an array of TRACK."""
    _check(tracks, TRACK)
    return [
        {"id": id_, "age": age, "component": None if component == NO_COMPONENT else component,
         "first_time": first_time, "last_time": last_time, "box": [x, y, width, height], "centroid": [cx, cy],
         "velocity": [vx, vy], "parent": parent, "zones": zone_names(zones, bits),
         "flags": list(flag_names(TrackFlag, flags))}
        for id_, flags, age, component, first_time, last_time, cx, cy, vx, vy, x, y, width, height, parent, bits
        in _rows(tracks)]


def events_as_dicts(
    events: numpy.ndarray, zones: tuple[str, ...], lines: tuple[str, ...], utc: int | None
) -> list[dict[str, Any]]:
    """Converts an array of EVENT. utc: of their frame."""
    _check(events, EVENT)
    result = []
    for kind, id_, other, where, time, x, y in _rows(events):
        name = EVENT_TYPES[kind]
        at_line = name in EVENTS_AT_LINES
        result.append({
            "type": name, "id": id_, "other": other,
            "zone": None if at_line or where == NO_PLACE else place_name(zones, where),
            "line": place_name(lines, where) if at_line else None,
            "time": time} | _time_of_day(utc) | {"position": [x, y]})
    return result


def _check(records: numpy.ndarray, dtype: numpy.dtype) -> None:
    if records.dtype != dtype:
        raise TypeError(f"an array of {dtype} is needed, not of {records.dtype}")


def _rows(records: numpy.ndarray) -> zip:
    """A tuple of each record. Reals have the shortest text that reads as the same 32-bit number."""
    columns = []
    for name in records.dtype.names:
        column = records[name]
        columns.append(map(float, column.astype("U16")) if column.dtype.kind == "f" else column.tolist())
    return zip(*columns)
