# SPDX-License-Identifier: LGPL-2.1-or-later
"""Columns of the tables in Parquet: the keys of docs/records.schema.json, flat, with their units."""

from __future__ import annotations

from typing import Any

import numpy
import pyarrow
import pyarrow.parquet

from cudaccl._types import (
    COMPONENT, GREY, NO_COMPONENT, POLYGON, POLYGON_KINDS, TRACK, VERTEX, ComponentFlag, TrackFlag)
from cudaccl.publish.arrow_columns import UTC, column, lists, lists_of_names
from cudaccl.publish.columns import COMPONENT_COLUMNS, GREY_COLUMNS, NANOSECONDS, PIXELS, TRACK_COLUMNS, Columns
from cudaccl.publish.report import SCHEMA, Report, events_as_dicts, flag_names, zone_names


def _field(name: str, kind: Any, unit: str | None = None) -> pyarrow.Field:
    return pyarrow.field(name, kind, metadata={"unit": unit} if unit else None)


def _fields(columns: Columns, dtype: numpy.dtype) -> list[pyarrow.Field]:
    return [_field(name, pyarrow.from_numpy_dtype(dtype[field]), unit) for name, (field, unit) in columns.items()]


_KEY = [_field("source", pyarrow.string()), _field("run", pyarrow.string()), _field("frame", pyarrow.int64()),
        _field("pts", pyarrow.int64(), NANOSECONDS)]
_UTC = [_field("utc", UTC)]
_COUNTS = [
    _field("width", pyarrow.uint32(), PIXELS), _field("height", pyarrow.uint32(), PIXELS),
    _field("n_components", pyarrow.uint32()), _field("overflow", pyarrow.bool_()),
    _field("relearning", pyarrow.bool_()), _field("level", pyarrow.uint32()),
    _field("polygons_truncated", pyarrow.bool_())]
_NAMES = pyarrow.list_(pyarrow.string())
_FLAGS = [_field("flags", _NAMES)]
_EVENT = [
    _field("type", pyarrow.string()), _field("id", pyarrow.uint32()), _field("other", pyarrow.uint32()),
    _field("zone", pyarrow.string()), _field("line", pyarrow.string()), _field("time", pyarrow.int64(), NANOSECONDS),
    _field("position_x", pyarrow.float32(), PIXELS), _field("position_y", pyarrow.float32(), PIXELS)]
_POLYGON = [
    _field("label", pyarrow.uint32()), _field("id", pyarrow.uint32()), _field("kind", pyarrow.string()),
    _field("vertices_x", pyarrow.list_(pyarrow.float32()), PIXELS),
    _field("vertices_y", pyarrow.list_(pyarrow.float32()), PIXELS)]
_METADATA = {"schema": SCHEMA}

SCHEMAS = {
    "frames": pyarrow.schema(_KEY + _UTC + [_field("utc_clock", pyarrow.string())] + _COUNTS, _METADATA),
    "components": pyarrow.schema(
        _KEY + _fields(COMPONENT_COLUMNS, COMPONENT) + _FLAGS + _fields(GREY_COLUMNS, GREY), _METADATA),
    "tracks": pyarrow.schema(_KEY + _fields(TRACK_COLUMNS, TRACK) + [_field("zones", _NAMES)] + _FLAGS, _METADATA),
    "events": pyarrow.schema(_KEY + _UTC + _EVENT, _METADATA),
    "polygons": pyarrow.schema(_KEY + _POLYGON, _METADATA),
}


def writer(file: Any, table: str) -> pyarrow.parquet.ParquetWriter:
    """Of an empty file, which is open in Python."""
    return pyarrow.parquet.ParquetWriter(file, SCHEMAS[table], compression="zstd")


def tables(reports: list[Report]) -> dict[str, pyarrow.Table]:
    """The rows of these frames. Raises TypeError if an array has another dtype than its records have."""
    def having(name: str) -> list[Report]:
        return [report for report in reports if getattr(report, name) is not None]

    return {"frames": _frames(reports), "components": _components(having("components")),
            "tracks": _tracks(having("tracks")), "events": _events(having("events")),
            "polygons": _polygons(having("polygons"))}


def _table(name: str, columns: dict[str, Any]) -> pyarrow.Table:
    schema = SCHEMAS[name]
    arrays = [values if isinstance(values, pyarrow.Array) else column(values, field.type)
              for field in schema for values in [columns[field.name]]]
    return pyarrow.Table.from_arrays(arrays, schema=schema)


def _key(reports: list[Report], counts: list[int]) -> dict[str, Any]:
    """The columns of the key, where the rows of each frame are so many."""
    rows = column(numpy.repeat(numpy.arange(len(reports)), counts), pyarrow.int64())
    return {field.name: column([getattr(report, field.name) for report in reports], field.type).take(rows)
            for field in _KEY}


def _joined(arrays: list[numpy.ndarray], dtype: numpy.dtype) -> numpy.ndarray:
    for array in arrays:
        if array.dtype != dtype:
            raise TypeError(f"an array of {dtype} is needed, not of {array.dtype}")
    return numpy.concatenate([numpy.empty(0, dtype), *arrays])


def _columns(records: numpy.ndarray, columns: Columns) -> dict[str, Any]:
    return {name: records[field] for name, (field, _) in columns.items()}


def _flags(records: numpy.ndarray, flags: type[ComponentFlag] | type[TrackFlag]) -> dict[str, Any]:
    """The column, made of the few lists that differ."""
    values, which = numpy.unique(records["flags"], return_inverse=True)
    names = lists_of_names([flag_names(flags, value) for value in values.tolist()])
    return {"flags": names.take(column(which, pyarrow.int64()))}


def _microseconds(report: Report) -> int | None:
    return None if report.utc is None else report.utc // 1000


def _frames(reports: list[Report]) -> pyarrow.Table:
    columns = {name: [getattr(report, name) for report in reports] for name in SCHEMAS["frames"].names}
    columns["utc"] = [_microseconds(report) for report in reports]
    columns["polygons_truncated"] = [
        None if report.polygons is None else report.polygons_truncated for report in reports]
    return _table("frames", columns)


def _components(reports: list[Report]) -> pyarrow.Table:
    records = _joined([report.components for report in reports], COMPONENT)
    counts = [len(report.components) for report in reports]
    columns = _key(reports, counts) | _columns(records, COMPONENT_COLUMNS) | _flags(records, ComponentFlag)
    return _table("components", columns | _grey(reports, counts))


def _grey(reports: list[Report], counts: list[int]) -> dict[str, Any]:
    """Null where nothing was measured."""
    arrays = [numpy.zeros(count, GREY) if report.grey is None else report.grey
              for report, count in zip(reports, counts)]
    if [len(array) for array in arrays] != counts:
        raise ValueError("each component needs its grey statistics")
    is_missing = numpy.repeat([report.grey is None for report in reports], counts).astype(bool)
    found = _columns(_joined(arrays, GREY), GREY_COLUMNS)
    types = SCHEMAS["components"]
    return {name: column(values, types.field(name).type, is_missing) for name, values in found.items()}


def _polygons(reports: list[Report]) -> pyarrow.Table:
    """With the ids of their components, as in JSON."""
    records = _joined([report.polygons for report in reports], POLYGON)
    columns = _key(reports, [len(report.polygons) for report in reports])
    columns["label"] = records["label"]
    columns["id"] = [
        id_ for report in reports
        for ids in [dict(zip(report.components["label"].tolist(), report.components["id"].tolist()))]
        for id_ in map(ids.get, report.polygons["label"].tolist(), report.polygons["id"].tolist())]
    columns["kind"] = [POLYGON_KINDS[kind] for kind in records["kind"].tolist()]
    vertices = _joined(
        [report.vertices[first:first + count] for report in reports
         for first, count in zip(report.polygons["first"].tolist(), report.polygons["n_vertices"].tolist())], VERTEX)
    for name in ("x", "y"):
        columns[f"vertices_{name}"] = lists(column(vertices[name], pyarrow.float32()), records["n_vertices"])
    return _table("polygons", columns)


def _tracks(reports: list[Report]) -> pyarrow.Table:
    records = _joined([report.tracks for report in reports], TRACK)
    columns = _key(reports, [len(report.tracks) for report in reports]) | _columns(records, TRACK_COLUMNS)
    columns |= _flags(records, TrackFlag)
    columns["component"] = column(records["component"], pyarrow.uint32(), records["component"] == NO_COMPONENT)
    columns["zones"] = lists_of_names(
        [zone_names(report.zones, bits) for report in reports for bits in report.tracks["zones"].tolist()])
    return _table("tracks", columns)


def _events(reports: list[Report]) -> pyarrow.Table:
    rows = [(report, event) for report in reports
            for event in events_as_dicts(report.events, report.zones, report.lines, None)]
    columns = _key(reports, [len(report.events) for report in reports])
    for name in ("type", "id", "other", "zone", "line", "time"):
        columns[name] = [event[name] for _, event in rows]
    columns["utc"] = [_microseconds(report) for report, _ in rows]
    columns["position_x"] = [event["position"][0] for _, event in rows]
    columns["position_y"] = [event["position"][1] for _, event in rows]
    return _table("events", columns)
