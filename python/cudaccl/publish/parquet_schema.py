# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of the tables in Parquet: the keys of docs/records.schema.json, flat, with their units."""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from cudaccl._types import COMPONENT, NO_COMPONENT, TRACK, TrackFlag
from cudaccl.publish.columns import (
    COMPONENT_COLUMNS, COMPONENT_FLAGS, NANOSECONDS, PIXELS, TRACK_COLUMNS, Columns)
from cudaccl.publish.report import SCHEMA, Report, events_as_dicts, zone_names


def _field(name: str, kind: Any, unit: str | None = None) -> pyarrow.Field:
    return pyarrow.field(name, kind, metadata={"unit": unit} if unit else None)


def _fields(columns: Columns, dtype: numpy.dtype) -> list[pyarrow.Field]:
    return [_field(name, pyarrow.from_numpy_dtype(dtype[field]), unit) for name, (field, unit) in columns.items()]


def _flags(flags: Any) -> list[pyarrow.Field]:
    return [_field(flag.name.lower(), pyarrow.bool_()) for flag in flags]


_KEY = [_field("source", pyarrow.string()), _field("run", pyarrow.string()), _field("frame", pyarrow.int64()),
        _field("pts", pyarrow.int64(), NANOSECONDS)]
_COUNTS = [
    _field("width", pyarrow.uint32(), PIXELS), _field("height", pyarrow.uint32(), PIXELS),
    _field("n_components", pyarrow.uint32()), _field("overflow", pyarrow.bool_()),
    _field("relearning", pyarrow.bool_()), _field("level", pyarrow.uint32())]
_EVENT = [
    _field("type", pyarrow.string()), _field("id", pyarrow.uint32()), _field("other", pyarrow.uint32()),
    _field("zone", pyarrow.string()), _field("line", pyarrow.string()), _field("time", pyarrow.int64(), NANOSECONDS),
    _field("position_x", pyarrow.float32(), PIXELS), _field("position_y", pyarrow.float32(), PIXELS)]
_METADATA = {"schema": SCHEMA}

SCHEMAS = {
    "frames": pyarrow.schema(_KEY + _COUNTS, _METADATA),
    "components": pyarrow.schema(_KEY + _fields(COMPONENT_COLUMNS, COMPONENT) + _flags(COMPONENT_FLAGS), _METADATA),
    "tracks": pyarrow.schema(
        _KEY + _fields(TRACK_COLUMNS, TRACK) + [_field("zones", pyarrow.list_(pyarrow.string()))] + _flags(TrackFlag),
        _METADATA),
    "events": pyarrow.schema(_KEY + _EVENT, _METADATA),
}


def writer(file: Any, table: str) -> pyarrow.parquet.ParquetWriter:
    """Of an empty file, which is open in Python."""
    return pyarrow.parquet.ParquetWriter(file, SCHEMAS[table], compression="zstd")


def tables(reports: list[Report]) -> dict[str, pyarrow.Table]:
    """The rows of these frames. Raises TypeError if an array has another dtype than COMPONENT, TRACK, EVENT."""
    tracked = [report for report in reports if report.tracks is not None and report.events is not None]
    return {"frames": _frames(reports), "components": _components(reports), "tracks": _tracks(tracked),
            "events": _events(tracked)}


def _table(name: str, columns: dict[str, Any]) -> pyarrow.Table:
    schema = SCHEMAS[name]
    arrays = [pyarrow.array(columns[field.name], field.type) for field in schema]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _key(reports: list[Report], counts: list[int]) -> dict[str, Any]:
    """The columns of the key, where the rows of each frame are so many."""
    rows = pyarrow.array(numpy.repeat(numpy.arange(len(reports)), counts))
    return {name: pyarrow.array([getattr(report, name) for report in reports], SCHEMAS["frames"].field(name).type)
            .take(rows) for name in ("source", "run", "frame", "pts")}


def _joined(arrays: list[numpy.ndarray], dtype: numpy.dtype) -> numpy.ndarray:
    for array in arrays:
        if array.dtype != dtype:
            raise TypeError(f"an array of {dtype} is needed, not of {array.dtype}")
    return numpy.concatenate([numpy.empty(0, dtype), *arrays])


def _columns(records: numpy.ndarray, columns: Columns, flags: Any) -> dict[str, Any]:
    found = {name: numpy.ascontiguousarray(records[field]) for name, (field, _) in columns.items()}
    return found | {flag.name.lower(): (records["flags"] & int(flag)) != 0 for flag in flags}


def _frames(reports: list[Report]) -> pyarrow.Table:
    return _table("frames", {name: [getattr(report, name) for report in reports] for name in SCHEMAS["frames"].names})


def _components(reports: list[Report]) -> pyarrow.Table:
    records = _joined([report.components for report in reports], COMPONENT)
    key = _key(reports, [len(report.components) for report in reports])
    return _table("components", key | _columns(records, COMPONENT_COLUMNS, COMPONENT_FLAGS))


def _tracks(reports: list[Report]) -> pyarrow.Table:
    records = _joined([report.tracks for report in reports], TRACK)
    columns = _key(reports, [len(report.tracks) for report in reports]) | _columns(records, TRACK_COLUMNS, TrackFlag)
    columns["component"] = pyarrow.array(columns["component"], mask=records["component"] == NO_COMPONENT)
    columns["zones"] = [
        zone_names(report.zones, bits) for report in reports for bits in report.tracks["zones"].tolist()]
    return _table("tracks", columns)


def _events(reports: list[Report]) -> pyarrow.Table:
    rows = [(report, event) for report in reports
            for event in events_as_dicts(report.events, report.zones, report.lines)]
    columns = _key(reports, [len(report.events) for report in reports])
    for name in ("type", "id", "other", "zone", "line", "time"):
        columns[name] = [event[name] for _, event in rows]
    columns["position_x"] = [event["position"][0] for _, event in rows]
    columns["position_y"] = [event["position"][1] for _, event in rows]
    return _table("events", columns)
