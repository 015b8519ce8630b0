# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the worker of a segment leaves: the reports of consecutive frames, in one file."""

from __future__ import annotations

import dataclasses
import json
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy

from cudaccl._types import COMPONENT, EVENT, GREY, POLYGON, TRACK, VERTEX
from cudaccl.publish.report import Report

FRAME = numpy.dtype([
    ("frame", "i8"), ("pts", "i8"), ("width", "u4"), ("height", "u4"), ("n_components", "u4"), ("level", "u4"),
    ("overflow", "?"), ("relearning", "?"), ("components", "u4"), ("tracks", "u4"), ("events", "u4"), ("grey", "u4"),
    ("polygons", "u4"), ("vertices", "u4"), ("has_grey", "?"), ("has_polygons", "?"), ("polygons_truncated", "?"),
    ("names", "u4"), ("digest", "u4")])
RECORDS = {"components": COMPONENT, "tracks": TRACK, "events": EVENT, "grey": GREY, "polygons": POLYGON,
           "vertices": VERTEX}
_NO_TIME = -(1 << 63)


@dataclasses.dataclass(frozen=True)
class Span:
    """Frames [first, end) of a file, for which a worker decodes from frame `start` on: a key frame."""

    start: int
    first: int
    end: int | None  #: None: the whole file, which is not cut

    @property
    def text(self) -> str:
        return f"{self.start}-{self.first}-{'end' if self.end is None else self.end}"


@dataclasses.dataclass(frozen=True, eq=False)
class Piece:
    """Reports of one span, column by column. `frames` also has those of [start, first)."""

    frames: numpy.ndarray  #: (n,) of FRAME; the names of RECORDS are counts of records
    components: numpy.ndarray  #: of COMPONENT, those of all frames one after the other
    tracks: numpy.ndarray
    events: numpy.ndarray
    grey: numpy.ndarray
    polygons: numpy.ndarray
    vertices: numpy.ndarray
    names: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]  #: (zones, lines), by `names` of a frame

    def offsets(self, field: str) -> numpy.ndarray:
        """(n + 1,) where the records of each frame begin."""
        return numpy.concatenate([[0], numpy.cumsum(self.frames[field], dtype="i8")])

    def behind(self, first: int) -> Piece:
        """Its frames from this number on."""
        row = int(numpy.searchsorted(self.frames["frame"], first))
        parts = {field: getattr(self, field)[self.offsets(field)[row]:] for field in RECORDS}
        return dataclasses.replace(self, frames=self.frames[row:], **parts)

    def reports(self, source: str, tracked: bool, run: str = "") -> Iterator[Report]:
        ends = {field: self.offsets(field) for field in RECORDS}
        for i, frame in enumerate(self.frames):
            components, tracks, events, grey, polygons, vertices = (
                getattr(self, field)[ends[field][i]:ends[field][i + 1]] for field in RECORDS)
            has_polygons = bool(frame["has_polygons"])
            zones, lines = self.names[frame["names"]]
            yield Report(
                source, run, int(frame["frame"]), None if frame["pts"] == _NO_TIME else int(frame["pts"]),
                int(frame["width"]), int(frame["height"]), int(frame["n_components"]), bool(frame["overflow"]),
                bool(frame["relearning"]), int(frame["level"]), components, tracks if tracked else None,
                events if tracked else None, zones, lines, grey if frame["has_grey"] else None,
                polygons if has_polygons else None, vertices if has_polygons else None,
                bool(frame["polygons_truncated"]))


class PieceMaker:
    """Collects reports."""

    def __init__(self) -> None:
        self._frames: list[tuple] = []
        self._parts: dict[str, list[numpy.ndarray]] = {field: [] for field in RECORDS}
        self._names: dict[tuple[tuple[str, ...], tuple[str, ...]], int] = {}

    def add(self, report: Report, digest: int = 0) -> None:
        """digest: of the picture, where it will be compared."""
        names = self._names.setdefault((report.zones, report.lines), len(self._names))
        records = {field: getattr(report, field) for field in RECORDS}
        for field, array in records.items():
            if array is not None:
                self._parts[field].append(array)
        counts = (0 if array is None else len(array) for array in records.values())
        self._frames.append((
            report.frame, _NO_TIME if report.pts is None else report.pts, report.width, report.height,
            report.n_components, report.level, report.overflow, report.relearning, *counts, report.grey is not None,
            report.polygons is not None, report.polygons_truncated, names, digest))

    def piece(self) -> Piece:
        joined = {
            field: numpy.concatenate([numpy.empty(0, dtype), *self._parts[field]])
            for field, dtype in RECORDS.items()}
        return Piece(numpy.array(self._frames, FRAME), **joined, names=tuple(self._names))


def sync_folder(folder: Path) -> None:
    """A rename in it is on the disk then."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def publish_file(temporary: Path, path: Path) -> None:
    """The file appears whole, or not at all, also after a power failure."""
    handle = os.open(temporary, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    os.replace(temporary, path)
    sync_folder(path.parent)


def save(piece: Piece, path: Path) -> None:
    """Atomically. Two workers that write the same piece do not disturb each other. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.part")
    try:
        with open(temporary, "wb") as file:
            numpy.savez(
                file, frames=piece.frames, names=numpy.frombuffer(json.dumps(piece.names).encode(), "u1"),
                **{field: getattr(piece, field) for field in RECORDS})
        publish_file(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


class Damaged(Exception):
    """A piece that is not as this version writes it. The text says why."""


def load(path: Path) -> Piece:
    """Raises Damaged, and OSError if the file cannot be opened."""
    with open(path, "rb") as file:
        try:
            return _read(file)
        except (MemoryError, Damaged):
            raise
        except Exception as error:  # of zipfile, zlib, numpy, json: each has several, and advice that does not fit
            raise Damaged(type(error).__name__) from error


def _read(file: BinaryIO) -> Piece:
    with zipfile.ZipFile(file) as archive:
        if archive.testzip() is not None:  # before anything believes what it says
            raise Damaged("a check sum differs")
    file.seek(0)
    with numpy.load(file, allow_pickle=False) as arrays:
        names = json.loads(arrays["names"].tobytes())
        piece = Piece(
            arrays["frames"], **{field: arrays[field] for field in RECORDS},
            names=tuple((tuple(zones), tuple(lines)) for zones, lines in names))
    if piece.frames.dtype != FRAME or any(getattr(piece, field).dtype != dtype for field, dtype in RECORDS.items()):
        raise Damaged("it is of another version")
    return piece
