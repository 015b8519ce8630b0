# SPDX-License-Identifier: LGPL-2.1-or-later
"""Five files of Parquet that grow together, and can be completed on a full disk."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cudaccl.publish.disk_room import take_room
from cudaccl.publish.file_lock import ALONE, lock

TABLES = ("frames", "components", "tracks", "events", "polygons")

GROUP_ROWS = 1 << 16  # rows in a row group
_FOOTER = 8 << 10  # bytes at the end of a file, and for each row group of it


class _File(io.RawIOBase):
    """A file that collects what is written, until `settle()`.

    An exception in the middle of pyarrow's C++ would have to pass code that cannot be relied on to let it pass: in a
    process with GStreamer, whose libunwind takes the place of the compiler's unwinder, the process crashes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._late = bytearray()
        self._settled = 0  # bytes on the disk
        self.groups = 0
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            lock(self._file, ALONE)
            os.ftruncate(self._file, 0)
        except OSError:
            self.close()
            raise

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        data = memoryview(data).cast("B")
        self._late += data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Only says where the next byte goes."""
        if (offset, whence) != (0, io.SEEK_CUR):
            raise io.UnsupportedOperation("seek")
        return self._settled + len(self._late)

    def take_room(self, size: int) -> None:
        """For one more row group, and for the end of the file. Raises OSError."""
        take_room(self._file, self._settled + len(self._late) + size + (2 + self.groups) * _FOOTER)

    def settle(self) -> None:
        """Raises OSError; the rest is written by the next call then."""
        while self._late:
            count = os.pwrite(self._file, self._late, self._settled)
            del self._late[:count]
            self._settled += count

    def is_there(self) -> bool:
        """Whether the path still names this file."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except FileNotFoundError:
            return False
        except OSError:  # its disk may be there again
            return True

    def finish(self, path: Path) -> None:
        """Gives it its name, without the room that was not needed. Raises OSError."""
        if not self.closed:
            os.ftruncate(self._file, self._settled)
            os.replace(self.path, path)
            self.close()  # now: nobody else may write to the old name before

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._file)


class Part:
    """FOLDER/frames/NAME.parquet, FOLDER/components/NAME.parquet, and so on.

    Until `complete()` each one is a .NAME.parquet.part: readers of Parquet pass over files whose names begin with a dot.

    writer: makes a writer of a file and the name of a table.

    All functions raise OSError, and can be called again then.
    """

    def __init__(self, folder: Path, name: str, writer: Callable[[Any, str], Any]) -> None:
        self._files: dict[Path, _File] = {}  # by their name when they are complete
        self._writers = {}
        self.is_ending = False  #: `complete()` was called: nothing can be added
        try:
            for table in TABLES:
                path = folder / table / f"{name}.parquet"
                path.parent.mkdir(parents=True, exist_ok=True)
                file = self._files[path] = _File(path.with_name(f".{path.name}.part"))
                file.take_room(0)
                self._writers[table] = writer(file, table)
        except OSError:
            self.remove()
            raise

    def add(self, tables: Mapping[str, Any]) -> None:
        """A row group of each table, which is on the disk after `settle()`. Takes nothing if there is no room."""
        for file, table in zip(self._files.values(), TABLES):
            if tables[table].num_rows:
                file.take_room(2 * tables[table].nbytes)  # Parquet takes less than Arrow, except for short columns
        for file, table in zip(self._files.values(), TABLES):
            if tables[table].num_rows:
                self._writers[table].write_table(tables[table], row_group_size=GROUP_ROWS)
                file.groups += 1

    def settle(self) -> None:
        for file in self._files.values():
            file.settle()

    def complete(self) -> None:
        self.is_ending = True
        for writer in self._writers.values():
            writer.close()
        self.settle()
        for path, file in list(self._files.items()):
            file.finish(path)
            del self._files[path]

    def is_there(self) -> bool:
        return all(file.closed or file.is_there() for file in self._files.values())

    def remove(self) -> None:
        """What is not complete."""
        for writer in self._writers.values():
            writer.close()
        for file in self._files.values():
            try:
                file.close()
                file.path.unlink(missing_ok=True)
            except OSError:
                pass
