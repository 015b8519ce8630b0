# SPDX-License-Identifier: LGPL-2.1-or-later
"""One JSON object a line, in a file or on standard output."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import select
import stat
from collections import deque

from cudaccl.publish.errors import SinkError
from cudaccl.publish.file_lock import ALONE, NONE, SHARED, lock
from cudaccl.publish.file_sink import FileSink
from cudaccl.publish.report import Report

_log = logging.getLogger(__name__)
_MEMORY = 16 << 20  # bytes of lines that wait for a disk
_USE, _WRITE = 0, 1  # bytes of a file that are locked: while it is open, and while a line is written


class JsonLinesSink(FileSink):
    """path: "-" is standard output. So is /dev/stdout: a file that this process has open goes on where it is.
    append: what the file has is kept, and others may append to it at the same time; else nobody else may write it.
    clear: what the file has is removed at once; else by `clear()`, before the first report.

    A line is written whole or not at all, and the next one is tried if that fails.

    Raises SinkError if the file cannot be opened, and BrokenPipeError in `put()` if nobody reads standard output.
    """

    def __init__(self, path: str | os.PathLike[str], append: bool = False, clear: bool = True) -> None:
        super().__init__(f"jsonl:{os.fspath(path)}")
        self._path = path
        self._is_shared = append
        self._descriptor = _descriptor_of(os.fspath(path))
        self._is_file = False
        self._file: int | None = None  # None: to be opened again
        self._late: deque[tuple[str, bytes]] = deque()  # source and lines that wait
        self._late_bytes = 0
        try:
            self._file = self._open()
        except OSError as error:
            raise self._failure(error) from error
        if clear and not append:
            self.clear()

    def clear(self) -> None:
        """Raises SinkError."""
        try:
            if self._is_own and self._file is not None:
                os.ftruncate(self._file, 0)
        except OSError as error:
            raise self._failure(error) from error

    def _failure(self, error: OSError) -> SinkError:
        self._close_file()
        return SinkError(f"{self._path} cannot be written: {error.strerror}")

    @property
    def _is_own(self) -> bool:
        """A file that was opened here: another one is also written by other processes."""
        return self._is_file and self._descriptor is None

    def _open(self) -> int:
        file = _open_to_append(self._path) if self._descriptor is None else os.dup(self._descriptor)
        try:
            self._is_file = stat.S_ISREG(os.fstat(file).st_mode)
            if self._is_own:
                lock(file, SHARED if self._is_shared else ALONE, _USE)
        except OSError:
            os.close(file)
            raise
        return file

    def _close_file(self) -> None:
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                os.close(file)

    def _write(self, data: bytes) -> None:
        """All of it. A file is left as it was if that fails, and opened again by the next call."""
        if self._file is None:
            self._file = self._open()
        if not self._is_own:
            write_whole(self._file, data)
            return
        try:
            lock(self._file, ALONE, _WRITE, wait=True)
            self._append(self._file, data)
            lock(self._file, NONE, _WRITE)
        except OSError:
            self._close_file()
            raise

    @staticmethod
    def _append(file: int, data: bytes) -> None:
        end = os.fstat(file).st_size
        if end and os.pread(file, 1, end - 1) != b"\n":
            data = b"\n" + data  # a line that somebody could not complete stays alone
        write_whole(file, data)

    def _take(self, report: Report, may_wait: bool) -> bool:
        lines = self._lines(report)
        was_broken = self.error is not None
        if self._try_write(lines):
            self._sent[report.source] += 1
            return True
        if may_wait and self._is_file and not was_broken:
            _log.warning("%s; its frames wait", self.error)
        if not may_wait or not self._is_file or self._late_bytes + len(lines) > _MEMORY:
            return False
        self._late.append((report.source, lines))
        self._late_bytes += len(lines)
        self._waiting[report.source] += 1
        return True

    def _try_write(self, lines: bytes) -> bool:
        """Behind those that wait."""
        try:
            while self._late:
                source, late = self._late[0]
                self._write(late)
                self._late.popleft()
                self._late_bytes -= len(late)
                self._waiting[source] -= 1
                self._sent[source] += 1
            self._write(lines)
        except BrokenPipeError:
            raise
        except OSError as error:
            self.error = f"{self.name}: {error.strerror}"
            return False
        self.error = None
        return True

    def _lines(self, report: Report) -> bytes:
        return report.json + b"\n"

    def _may_recover(self) -> bool:
        return self._is_file

    def _try_again(self) -> bool:
        return not self._late or self._try_write(b"")

    def close(self) -> None:
        """What its file still does not take is lost."""
        with self._changed:
            self._is_closed = True
            if not self._try_again():
                self._lost.update(source for source, _ in self._late)
                self._late.clear()
                self._waiting.clear()
            self._close_file()


def _descriptor_of(path: str) -> int | None:
    """The number of an open file of this process, if that is what the path names. Opened again, a file would lose what
    is in it, and a pipe would have a writer that nobody closes."""
    if path in ("-", "/dev/stdout", "/dev/stderr"):
        return 2 if path == "/dev/stderr" else 1
    found = re.fullmatch(r"(?:/dev|/proc/self)/fd/([0-9]{1,9})", path)
    return int(found[1]) if found else None


def _open_to_append(path: str | os.PathLike[str]) -> int:
    """A pipe only to write: a process that can read it never sees that nobody else does."""
    if os.path.exists(path) and not os.path.isfile(path):
        return os.open(path, os.O_WRONLY)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)


def write_whole(file: int, data: bytes) -> None:
    """All of it, at the end of a file, or with an OSError none. What is no file may have got a part."""
    left = memoryview(data)
    try:
        while left:
            try:
                left = left[os.write(file, left):]
            except BlockingIOError:  # a pipe or terminal that another process has set so
                _wait_for_room(file)
    except OSError:
        with contextlib.suppress(OSError):
            _take_back(file, len(data) - len(left))
        raise


def _wait_for_room(file: int) -> None:
    waiting = select.poll()
    waiting.register(file, select.POLLOUT)
    waiting.poll()


def _take_back(file: int, size: int) -> None:
    """The last bytes that were written, unless somebody has written behind them. Raises OSError."""
    end = os.lseek(file, 0, os.SEEK_CUR)
    if size and os.fstat(file).st_size == end:
        os.ftruncate(file, end - size)
        os.lseek(file, end - size, os.SEEK_SET)
