# SPDX-License-Identifier: LGPL-2.1-or-later
"""Five tables in Parquet: frames, components, tracks, events and polygons."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.file_sink import FileSink
from cudaccl.publish.parquet_part import GROUP_ROWS, Part
from cudaccl.publish.report import Report
from cudaccl.publish.spool import RETRY_S


class ParquetSink(FileSink):
    """FOLDER/frames/NAME.parquet, FOLDER/components/NAME.parquet, and so on.

    minutes: after so long the files are completed, and NAME-1, NAME-2, … follow. None: one file each.

    A file of Parquet can be read once it is complete: until then its name begins with a dot, and its frames count as
    `spooled`. Room for its end is taken before, so that files can be completed on a full disk. If they are of streams
    that did not begin, they are removed then. Nobody else may write files of this name at the same time.

    Raises SinkError if the folder cannot be used, MissingPackage if pyarrow is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str = "part", minutes: float | None = None) -> None:
        need("pyarrow.parquet", "parquet")
        from cudaccl.publish import parquet_schema

        super().__init__(f"parquet:{os.fspath(folder)}")
        self._schema = parquet_schema
        self._folder = Path(folder)
        self._file_name = name
        self._seconds = None if minutes is None else minutes * 60
        self._is_whole_or_nothing = False  # it has a stream that must not wait
        self._number = 0  # of the part
        self._part: Part | None = None
        self._opened = self._tried = time.monotonic()
        self._in_part: Counter[str] = Counter()  # of those that wait
        self._reports: list[Report] = []  # the others
        self._rows = 0
        self._tables: tuple[int, Any] = 0, None  # of so many reports
        try:
            self._open()
        except OSError as error:
            raise SinkError(f"{self._folder} cannot be written: {error.strerror or error}") from error

    def _open(self) -> Part:
        suffix = f"-{self._number}" if self._number else ""
        self._part = Part(self._folder, f"{self._file_name}{suffix}", self._schema.writer)
        self._opened = time.monotonic()
        return self._part

    def _take(self, report: Report, may_wait: bool) -> bool:
        self._is_whole_or_nothing = self._is_whole_or_nothing or not may_wait
        if self.error is not None and not may_wait:
            return False
        if self._rows >= GROUP_ROWS and not self._attempt(self._flush):
            return False
        self._waiting[report.source] += 1
        self._reports.append(report)
        more = (report.components, report.tracks, report.events, report.polygons, report.vertices)
        self._rows += 1 + sum(len(records) for records in more if records is not None)
        if self._seconds is not None and time.monotonic() - self._opened > self._seconds:
            self._attempt(self._next_part)
        elif self._rows >= GROUP_ROWS or self.error is not None:
            self._attempt(self._flush)
        return True

    def _attempt(self, function: Callable[[], None], now: bool = False) -> bool:
        """Not more often than the disk deserves, unless it shall be `now`."""
        if self.error is not None and not now and time.monotonic() - self._tried < RETRY_S:
            return False
        self._tried = time.monotonic()
        try:
            function()
        except OSError as error:
            self.error = f"{self.name}: {error.strerror or error}"
            if self._part is not None and not self._part.is_there():
                self._lose_part()
            return False
        self.error = None
        return True

    def _flush(self) -> None:
        """Writes a row group of each table."""
        if self._part is not None and self._part.is_ending:
            self._complete()  # which has failed
        part = self._part or self._open()
        part.settle()
        if self._reports:
            if self._tables[0] != len(self._reports):
                self._tables = len(self._reports), self._schema.tables(self._reports)
            part.add(self._tables[1])
            self._in_part.update(report.source for report in self._reports)
            self._reports.clear()
            self._tables = 0, None
            self._rows = 0
            part.settle()

    def _complete(self) -> None:
        if self._part is not None:
            self._part.complete()
            self._part = None
            self._number += 1
            self._sent.update(self._in_part)
            self._waiting.subtract(self._in_part)
            self._in_part.clear()

    def _next_part(self) -> None:
        if self._part is None or not self._part.is_ending:
            self._flush()
        self._complete()
        self._open()

    def _lose_part(self) -> None:
        """With its frames. The next one has another name: a disk may be there again, with what is left of this one."""
        if self._part is not None:
            self._part.remove()
            self._part = None
            self._number += 1
        self._lost.update(self._in_part)
        self._waiting.subtract(self._in_part)
        self._in_part.clear()

    def _try_again(self) -> bool:
        return self.error is None or self._attempt(self._flush)

    def close(self) -> None:
        """Completes the files. What the disk has no room for is lost, and `error` says why."""
        with self._changed:
            self._is_closed = True
            self._attempt(self._flush, now=True)
            error = self.error
            is_whole = error is None and not self._lost
            if is_whole or self._in_part and not self._is_whole_or_nothing:
                self._attempt(self._complete, now=True)
            self._lose_part()
            self._lost.update(report.source for report in self._reports)
            self._reports.clear()
            self._waiting.clear()
            self.error = error or self.error
