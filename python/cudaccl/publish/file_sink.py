# SPDX-License-Identifier: LGPL-2.1-or-later
"""What sinks of files have in common: frames wait in memory while the disk is full or fails."""

from __future__ import annotations

import threading
from collections import Counter

from cudaccl.publish.report import Report
from cudaccl.publish.spool import RETRY_S, Account


class FileSink:
    """A `sink.Sink`. If its file does not take a frame now, what happens depends on the stream:

    - of one that did not `begin()`, `put()` returns False: files that are not complete serve nobody;
    - frames of all others wait in memory, which is bounded. Where that is used up, those of a stream that can be read
      again wait in `put()`, and those of any other, and for what is no file, are lost and counted.

    After `close()` it takes no frame.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.error: str | None = None
        self.before: dict[str, Account] = {}
        self._changed = threading.Condition()
        self._streams: dict[str, bool] = {}  # that have begun: whether they can be read again
        self._sent: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        self._released = False
        self._is_closed = False

    def interrupted(self, source: str, content: str) -> str | None:
        """None: files do not say how far they are."""

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        with self._changed:
            self._streams[source] = content is not None
        return 0

    def put(self, report: Report) -> bool:
        source = report.source
        with self._changed:
            while self._is_closed or not self._take(report, source in self._streams):
                if not (self._streams.get(source, False) and self._may_recover()):
                    self._lost[source] += 1
                    return False
                if self._released or self._is_closed:  # the next process reads the source from its beginning
                    return False
                self._changed.wait(RETRY_S)
            return True

    def skip(self, source: str, frame: int) -> None:
        with self._changed:
            self._skipped[source] += 1

    def _take(self, report: Report, may_wait: bool) -> bool:
        """Writes it, or keeps it in memory; says in `error` why it could not be written."""
        raise NotImplementedError

    def set_online(self, source: str, online: bool) -> None:
        """Files have no state."""

    def end(self, source: str) -> None:
        with self._changed:
            self._streams.pop(source, None)

    def accounts(self) -> dict[str, Account]:
        with self._changed:
            sources = self._sent.keys() | self._waiting.keys() | self._lost.keys() | self._skipped.keys()
            return {source: Account(self._sent[source], self._waiting[source], disk=self._lost[source],
                                    skipped=self._skipped[source])
                    for source in sources}

    def drain(self, timeout: float) -> bool:
        """Tries once more what waits for the disk."""
        with self._changed:
            return self._try_again() or self._changed.wait_for(lambda: False, timeout)

    def _may_recover(self) -> bool:
        """Whether it may take frames later: a disk may have room again."""
        return True

    def _try_again(self) -> bool:
        """Whether the disk takes what waits for it."""
        raise NotImplementedError

    def release(self) -> None:
        with self._changed:
            self._released = True
            self._changed.notify_all()
