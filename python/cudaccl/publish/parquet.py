# SPDX-License-Identifier: LGPL-2.1-or-later
"""Five tables in Parquet: frames, components, tracks, events and polygons."""

from __future__ import annotations

import io
import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from cudaccl.publish.errors import SinkError, need
from cudaccl.publish.report import Report
from cudaccl.publish.spool import Account

TABLES = ("frames", "components", "tracks", "events", "polygons")

_GROUP_ROWS = 1 << 16  # rows in memory, and in a row group


class _File(io.RawIOBase):
    """A file that remembers its first error, and takes what follows for written.

    An exception in the middle of pyarrow's C++ would have to pass code that cannot be relied on to let it pass: in a
    process with GStreamer, whose libunwind takes the place of the compiler's unwinder, the process crashes.
    """

    def __init__(self, path: Path) -> None:
        self.error: OSError | None = None
        self._size = 0
        self._file = open(path, "wb", buffering=0)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        left = memoryview(data).cast("B")
        size = len(left)
        try:
            while left and self.error is None:
                left = left[self._file.write(left):]
        except OSError as error:
            self.error = error
        self._size += size
        return size

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Only says where the next byte goes."""
        if (offset, whence) != (0, io.SEEK_CUR):
            raise io.UnsupportedOperation("seek")
        return self._size

    def close(self) -> None:
        try:
            self._file.close()
        except OSError as error:
            self.error = self.error or error
        super().close()


class ParquetSink:
    """FOLDER/frames/NAME.parquet, FOLDER/components/NAME.parquet, and so on.

    minutes: after so long the files are completed, and NAME-1, NAME-2, … follow. None: one file each.

    A file of Parquet can be read once it is complete: until then it ends with ".part", and its frames count as
    `spooled`. If the disk is full, they and all later ones are lost.

    Raises SinkError if the folder cannot be used, MissingPackage if pyarrow is not installed.
    """

    def __init__(self, folder: str | os.PathLike[str], name: str = "part", minutes: float | None = None) -> None:
        need("pyarrow.parquet", "parquet")
        from cudaccl.publish import parquet_schema

        self._schema = parquet_schema
        self.name = f"parquet:{os.fspath(folder)}"
        self.error: str | None = None
        self.before: dict[str, Account] = {}
        self._folder = Path(folder)
        self._file_name = name
        self._seconds = None if minutes is None else minutes * 60
        self._part = 0
        self._lock = threading.Lock()
        self._files: dict[str, _File] = {}
        self._writers: dict[str, Any] = {}
        self._reports: list[Report] = []
        self._rows = 0
        self._pending: Counter[str] = Counter()
        self._sent: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        try:
            self._open()
        except OSError as error:
            raise SinkError(f"{self._folder} cannot be written: {error.strerror or error}") from error

    def _paths(self, table: str) -> tuple[Path, Path]:
        """While the file is written, and then."""
        suffix = f"-{self._part}" if self._part else ""
        path = self._folder / table / f"{self._file_name}{suffix}.parquet"
        return path.with_name(path.name + ".part"), path

    def _open(self) -> None:
        self._opened = time.monotonic()
        for table in TABLES:
            path, _ = self._paths(table)
            path.parent.mkdir(parents=True, exist_ok=True)
            self._files[table] = _File(path)
            self._writers[table] = self._schema.writer(self._files[table], table)
        self._raise_error()

    def _raise_error(self) -> None:
        for file in self._files.values():
            if file.error is not None:
                raise file.error

    def interrupted(self, source: str, content: str) -> str | None:
        """None: files do not say how far they are."""

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        return 0

    def put(self, report: Report) -> bool:
        with self._lock:
            if self.error is not None:
                self._lost[report.source] += 1
                return False
            self._pending[report.source] += 1
            self._reports.append(report)
            self._rows += 1 + len(report.components)
            more = (report.tracks, report.events, report.polygons, report.vertices)
            self._rows += sum(len(records) for records in more if records is not None)
            if self._rows >= _GROUP_ROWS:
                self._attempt(self._flush)
            if self._seconds is not None and time.monotonic() - self._opened > self._seconds:
                self._attempt(self._next_part)
            return self.error is None

    def _attempt(self, function: Any) -> None:
        """An error is final: the files cannot be completed any more."""
        try:
            function()
        except OSError as error:
            self.error = f"{self.name}: {error.strerror or error}"
            self._lost.update(self._pending)
            self._pending.clear()
            self._reports.clear()

    def _flush(self) -> None:
        """Writes a row group of each table."""
        if self._reports:
            for table, rows in self._schema.tables(self._reports).items():
                if rows.num_rows:
                    self._writers[table].write_table(rows, row_group_size=_GROUP_ROWS)
        self._reports.clear()
        self._rows = 0
        self._raise_error()

    def _complete(self) -> None:
        self._flush()
        self._close_files()
        self._raise_error()
        for table in TABLES:
            os.replace(*self._paths(table))
        self._sent.update(self._pending)
        self._pending.clear()

    def _close_files(self) -> None:
        for table in TABLES:
            self._writers[table].close()
            self._files[table].close()

    def _next_part(self) -> None:
        self._complete()
        self._part += 1
        self._open()

    def end(self, source: str) -> None:
        """The files serve all sources."""

    def accounts(self) -> dict[str, Account]:
        with self._lock:
            sources = self._sent.keys() | self._pending.keys() | self._lost.keys()
            return {source: Account(self._sent[source], self._pending[source], disk=self._lost[source])
                    for source in sources}

    def release(self) -> None:
        """Nothing waits."""

    def drain(self, timeout: float) -> bool:
        return True

    def close(self) -> None:
        """Completes the files. `error` says whether that was possible."""
        with self._lock:
            if self.error is None:
                self._attempt(self._complete)
            if self.error is not None:
                self._close_files()
                for table in TABLES:
                    self._paths(table)[0].unlink(missing_ok=True)
