# SPDX-License-Identifier: LGPL-2.1-or-later
"""One JSON object a line, in a file or on standard output."""

from __future__ import annotations

import os
import threading
from collections import Counter

from cudaccl.publish.errors import SinkError
from cudaccl.publish.report import Report
from cudaccl.publish.spool import Account


class JsonLinesSink:
    """path: "-" is standard output. append: what the file has is kept.

    A line is written whole or not at all: if the disk is full, the frame is lost, counted, and the next one is tried.

    Raises SinkError if the file cannot be opened, and BrokenPipeError in `put()` if nobody reads standard output.
    """

    def __init__(self, path: str | os.PathLike[str], append: bool = False) -> None:
        self.name = f"jsonl:{os.fspath(path)}"
        self.error: str | None = None
        self.before: dict[str, Account] = {}
        self._lock = threading.Lock()
        self._sent: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._is_file = False
        if os.fspath(path) == "-":
            self._file = os.dup(1)
            return
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | (0 if append else os.O_TRUNC), 0o666)
            self._is_file = os.path.isfile(path)
            if self._is_file:
                self._end = os.lseek(self._file, 0, os.SEEK_END)
                self._separate()
        except OSError as error:
            raise SinkError(f"{path} cannot be written: {error.strerror}") from error

    def _separate(self) -> None:
        """A line that an earlier process did not complete stays alone."""
        if self._end and os.pread(self._file, 1, self._end - 1) != b"\n":
            self._write(b"\n")

    def _write(self, data: bytes) -> None:
        """All of it. A file is left as it was if that fails."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._file, left):]
        except OSError:
            if self._is_file:
                os.ftruncate(self._file, self._end)
                os.lseek(self._file, self._end, os.SEEK_SET)
            raise
        if self._is_file:
            self._end += len(data)

    def interrupted(self, source: str, content: str) -> str | None:
        """None: files do not say how far they are."""

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        return 0

    def put(self, report: Report) -> bool:
        lines = self._lines(report)
        with self._lock:
            try:
                self._write(lines)
            except BrokenPipeError:
                raise
            except OSError as error:
                self.error = f"{self.name}: {error.strerror}"
                self._lost[report.source] += 1
                return False
            self.error = None
            self._sent[report.source] += 1
            return True

    def _lines(self, report: Report) -> bytes:
        return report.json + b"\n"

    def end(self, source: str) -> None:
        """Nothing is open."""

    def accounts(self) -> dict[str, Account]:
        with self._lock:
            return {source: Account(sent=self._sent[source], disk=self._lost[source])
                    for source in self._sent.keys() | self._lost.keys()}

    def release(self) -> None:
        """Nothing waits."""

    def drain(self, timeout: float) -> bool:
        return True

    def close(self) -> None:
        os.close(self._file)
