# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages that wait on disk for a broker, in order, and the account of every frame.

The file is an SQLite database in WAL mode: what `put()` has accepted survives a process that is killed. A power cut may
take the last moments, and leaves the file whole.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cudaccl.publish.errors import SinkError
from cudaccl.publish.spool_file import SpoolFile, is_damage

DEFAULT_LIMIT = 1 << 30  # bytes of messages

RETRY_S = 0.5  # a full disk is tried again this often by callers that wait

_OUTCOMES = ("sent", "full", "disk", "refused", "skipped")


@dataclasses.dataclass(frozen=True)
class Message:
    """One frame's message, as `put()` took it."""

    number: int  #: ascending in the order of `put()`, never used again
    source: str
    run: str
    frame: int
    payload: bytes

    @property
    def key(self) -> str:
        return f"{self.source}/{self.run}/{self.frame}"


@dataclasses.dataclass(frozen=True)
class Account:
    """Where the frames of a source are. Every frame of `put()` and `skip()` is in exactly one of the numbers."""

    sent: int = 0  #: the broker has acknowledged it
    spooled: int = 0  #: on disk
    full: int = 0  #: lost: the limit was reached
    disk: int = 0  #: lost: the disk was full or failed
    refused: int = 0  #: lost: the broker does not take this message at all, for example because of its size
    skipped: int = 0  #: the address of the sink does not ask for it

    @property
    def lost(self) -> int:
        return self.full + self.disk + self.refused

    @property
    def frames(self) -> int:
        return self.sent + self.spooled + self.lost + self.skipped


@dataclasses.dataclass
class _Stream:
    number: int
    source: str
    run: str
    content: str | None  #: None: it cannot be read again, so it does not wait
    next_frame: int
    is_behind: bool = False  #: the file has a lower next_frame
    waited_for: set[str] = dataclasses.field(default_factory=set)  #: reasons that were said
    is_interrupted: bool = False  #: a frame was not accepted: nothing that follows is, so that there is no gap


class Spool:
    """A queue of messages on disk. Threads may share it; another process that opens the same file is refused.

    path: the file, which is made if it is missing, and belongs to one broker. A damaged one is put aside, what waits in
        it is counted as lost, and a new one begins.
    limit: bytes of messages that may wait. At the limit, or if the disk is full, frames of a stream that cannot be read
        again are lost and counted; for all others `put()` waits.
    say: is called with a text for the operator.

    Raises SinkError if the file cannot be used.
    """

    def __init__(
        self, path: str | os.PathLike[str], limit: int = DEFAULT_LIMIT, say: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.path = Path(path)
        self._limit = limit
        self.say = say  #: see above
        self._changed = threading.Condition()
        self._streams: dict[str, _Stream] = {}
        self._written: dict[str, Counter[str]] = {}  # by source: outcomes that the file has
        self._unwritten: Counter[tuple[str, str]] = Counter()  # (source, outcome): since then
        self._waiting: Counter[str] = Counter()  # by source
        self._bytes = 0  # that wait
        self._fetched: dict[int, tuple[str, int]] = {}  # source and size of messages that are on their way
        self._settled: set[int] = set()  # numbers of messages that have left, and are in the file still
        self._last = 0  # the highest number
        self._is_new = False  # the file does not have the accounts and streams yet
        self._closed = False
        self.listener: Callable[[], None] = lambda: None  #: is called for each new message
        self.disk_error: str | None = None  #: why the disk did not take the last message of put(); else None
        self.is_damaged = False  #: a file was put aside
        self._file = SpoolFile(self.path, limit)
        try:
            self._open()
        except (sqlite3.Error, OSError) as error:
            self._file.close()
            raise SinkError(f"the spool {self.path} cannot be used: {error}") from error
        except SinkError:
            self._file.close()
            raise

    def _open(self) -> None:
        damage = None
        try:
            self._load()
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            damage = error
        self.before = self.accounts()  #: what earlier processes did
        if damage is not None:
            self._begin_again(damage)
            self._write(makes_room=True)

    def _load(self) -> None:
        execute = self._file.database.execute
        for source, *counts in execute(f"SELECT source, {', '.join(_OUTCOMES)} FROM accounts"):
            self._written[source] = Counter(dict(zip(_OUTCOMES, counts)))
        self._last = execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence").fetchone()[0]
        # Row by row, so that of a damaged file what comes before the damage is counted.
        for source, size in execute(
                "SELECT source, length(payload) FROM messages JOIN streams ON streams.id=stream"):
            self._waiting[source] += 1
            self._bytes += size

    def _begin_again(self, damage: sqlite3.Error) -> None:
        """With a new file. What waits is lost. Raises OSError."""
        aside = self._file.put_aside()
        self.is_damaged = self._is_new = True
        lost = sum(self._waiting.values())
        for source, count in self._waiting.items():
            self._unwritten[source, "disk"] += count
        self._waiting.clear()
        self._fetched.clear()
        self._settled.clear()
        self._bytes = 0
        self.say(f"the spool {self.path} is damaged ({damage}), and a new one begins; {lost} messages that could be"
                 f" counted are lost, and may be in {aside}")

    def _write(
        self, change: Callable[[sqlite3.Connection], Any] = lambda database: None, makes_room: bool = False
    ) -> Any:
        """One transaction: what messages have become, and a change. Raises sqlite3.Error, OSError: nothing is written
        then."""
        def all_of_it(database: sqlite3.Connection) -> Any:
            if self._is_new:
                self._fill_new(database)
            database.executemany("DELETE FROM messages WHERE id=?", [(number,) for number in self._settled])
            for (source, outcome), count in self._unwritten.items():
                database.execute("INSERT OR IGNORE INTO accounts (source) VALUES (?)", (source,))
                database.execute(f"UPDATE accounts SET {outcome}={outcome}+? WHERE source=?", (count, source))
            for stream in self._streams.values():
                if stream.is_behind:
                    database.execute("UPDATE streams SET next_frame=? WHERE id=?", (stream.next_frame, stream.number))
            return change(database)

        try:
            result = self._file.write(all_of_it, makes_room)
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self._begin_again(error)
            result = self._file.write(all_of_it, makes_room)
        for (source, outcome), count in self._unwritten.items():
            self._written.setdefault(source, Counter())[outcome] += count
        self._unwritten.clear()
        self._settled.clear()
        self._is_new = False
        for stream in self._streams.values():
            stream.is_behind = False
        return result

    def _fill_new(self, database: sqlite3.Connection) -> None:
        """With what is known of the file before."""
        for source, counts in self._written.items():
            database.execute(
                f"INSERT INTO accounts (source, {', '.join(_OUTCOMES)}) VALUES (?{', ?' * len(_OUTCOMES)})",
                (source, *(counts[outcome] for outcome in _OUTCOMES)))
        for stream in self._streams.values():
            stream.number = self._insert(database, stream.source, stream.run, stream.content)
            stream.is_behind = True
        database.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('messages', ?)", (self._last,))

    @staticmethod
    def _insert(database: sqlite3.Connection, source: str, run: str, content: str | None) -> int:
        cursor = database.execute(
            "INSERT INTO streams (source, run, content, next_frame) VALUES (?, ?, ?, 0)", (source, run, content))
        return int(cursor.lastrowid or 0)

    def interrupted(self, source: str, content: str) -> str | None:
        """The run of a stream that began earlier and did not end; None if there is none.

        content: what is read, such as a file's path, size and time. Another content is another stream.
        """
        rows = self._read(
            "SELECT run FROM streams WHERE source=? AND content=? AND NOT ended", (source, content), lambda rows: [*rows])
        return rows[0][0] if rows else None

    def _read(
        self, query: str, parameters: tuple[Any, ...], take: Callable[[Iterable[tuple[Any, ...]]], list[Any]]
    ) -> list[Any]:
        """What is taken of the rows. Raises SinkError."""
        with self._changed:
            try:
                with contextlib.closing(self._file.database.execute(query, parameters)) as rows:
                    return take(rows)
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise SinkError(f"the spool {self.path} cannot be read: {error}") from error
                self._begin_again(error)
                self._settle_file(makes_room=True)
                return []

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        """Begins a stream, or goes on with it, and returns the number of the first frame that is expected.

        content: see `interrupted()`. None: the stream cannot be read again, such as a camera's; it does not wait for
            room.
        """
        def change(database: sqlite3.Connection) -> int:
            # A stream that was interrupted, and does not go on.
            database.execute("UPDATE streams SET ended=1 WHERE source=?", (source,))
            self._forget_ended(database)
            database.execute("INSERT OR IGNORE INTO accounts (source) VALUES (?)", (source,))
            return self._insert(database, source, run, content)

        with self._changed:
            old = self._read(
                "SELECT id, next_frame FROM streams WHERE source=? AND run=? AND NOT ended", (source, run),
                lambda rows: [*rows])
            try:
                number, first = old[0] if old else (self._write(change, makes_room=True), 0)
            except (sqlite3.Error, OSError) as error:
                raise SinkError(f"the spool {self.path} cannot be written: {error}") from error
            self._written.setdefault(source, Counter())
            self._streams[source] = _Stream(number, source, run, content, first)
            return first

    def end(self, source: str) -> None:
        """The stream is complete: what comes next from this source is another one.

        If `put()` has not accepted a frame, the stream goes on with it later.
        """
        def change(database: sqlite3.Connection) -> None:
            database.execute("UPDATE streams SET ended=1 WHERE id=?", (stream.number,))
            self._forget_ended(database)

        with self._changed:
            stream = self._streams[source]
            if not stream.is_interrupted:
                try:
                    self._write(change)
                except (sqlite3.Error, OSError):  # the next begin() will do it
                    pass
            del self._streams[source]

    def put(self, source: str, frame: int, payload: bytes) -> bool:
        """Accepts the message of a frame; False: the frame is lost, and counted.

        A frame of a lower number than expected was accepted before the last restart: True, and nothing happens. After
        `stop_waiting()` a frame that would wait, and all that follow it in its stream, are not accepted, and not
        counted: the stream goes on with them later.
        """
        with self._changed:
            stream = self._streams[source]
            if frame < stream.next_frame:
                return True
            while not stream.is_interrupted:
                reason = self._try_put(stream, frame, payload)
                if reason is None:
                    self._say_end_of_wait(stream)
                    self.listener()
                    return True
                # A message of more than the limit never fits.
                if stream.content is None or len(payload) > self._limit:
                    self._count(stream, frame, reason)
                    break
                if self._closed:
                    stream.is_interrupted = True
                else:
                    self._say_wait(stream, reason)
                    self._changed.wait(None if reason == "full" else RETRY_S)
            return False

    def skip(self, source: str, frame: int) -> None:
        """Counts a frame that has no message. As with `put()`, one of a lower number is counted already."""
        with self._changed:
            stream = self._streams[source]
            if frame >= stream.next_frame and not stream.is_interrupted:
                self._count(stream, frame, "skipped")

    def _count(self, stream: _Stream, frame: int, outcome: str) -> None:
        """Of a frame that does not come again."""
        stream.next_frame = frame + 1
        stream.is_behind = True
        self._unwritten[stream.source, outcome] += 1
        self._settle_file(makes_room=False)

    def _say_wait(self, stream: _Stream, reason: str) -> None:
        """The limit is said once: behind a slow broker, a stream waits for each message."""
        if reason in stream.waited_for:
            return
        stream.waited_for.add(reason)
        what = {"full": f"has reached its limit of {self._limit} bytes", "disk": f"has no room: {self.disk_error}"}
        self.say(f"{stream.source} waits: the spool {self.path} {what[reason]}")

    def _say_end_of_wait(self, stream: _Stream) -> None:
        if "disk" in stream.waited_for:
            stream.waited_for.remove("disk")
            self.say(f"{stream.source} goes on: the spool has room again")

    def _try_put(self, stream: _Stream, frame: int, payload: bytes) -> str | None:
        """None, or the reason why the message does not fit."""
        def change(database: sqlite3.Connection) -> int:
            cursor = database.execute(
                "INSERT INTO messages (stream, frame, payload) VALUES (?, ?, ?)", (stream.number, frame, payload))
            database.execute("UPDATE streams SET next_frame=? WHERE id=?", (frame + 1, stream.number))
            return int(cursor.lastrowid or 0)

        self.disk_error = None
        if self._bytes + len(payload) > self._limit:
            return "full"
        if self._settled:  # what has left makes room
            self._settle_file(makes_room=True)
        try:
            self.disk_error = self._file.lacks_room(len(payload))
            if self.disk_error is not None:
                return "disk"
            self._last = self._write(change)
        except (sqlite3.Error, OSError) as error:
            self.disk_error = str(error)
            return "disk"
        stream.next_frame = frame + 1
        self._waiting[stream.source] += 1
        self._bytes += len(payload)
        return None

    def _settle_file(self, makes_room: bool) -> None:
        """Now, or with the next write that the disk takes."""
        try:
            self._write(makes_room=makes_room)
        except (sqlite3.Error, OSError):
            pass

    def fetch(self, after: int, count: int) -> list[Message]:
        """The oldest messages of a higher number than `after`, at most `count`."""
        def take(rows: Iterable[tuple[Any, ...]]) -> list[Message]:
            return [*itertools.islice((Message(*row) for row in rows if row[0] not in self._settled), count)]

        with self._changed:
            found: list[Message] = self._read(
                "SELECT messages.id, source, run, frame, payload FROM messages JOIN streams ON streams.id=stream"
                " WHERE messages.id>? ORDER BY messages.id", (after,), take)
            self._fetched |= {one.number: (one.source, len(one.payload)) for one in found}
            return found

    def settle(self, sent: Iterable[int], refused: Iterable[int] = ()) -> None:
        """Removes messages that the broker has acknowledged, and those that it does not take at all."""
        with self._changed:
            for outcome, numbers in (("sent", sent), ("refused", refused)):
                for number in numbers:
                    if number not in self._fetched:  # of a file that was put aside: it is counted already
                        continue
                    source, size = self._fetched.pop(number)
                    self._settled.add(number)
                    self._unwritten[source, outcome] += 1
                    self._waiting[source] -= 1
                    self._bytes -= size
            if self._settled:
                self._settle_file(makes_room=True)
                self._changed.notify_all()

    def _forget_ended(self, database: sqlite3.Connection) -> None:
        """Streams without messages that will not go on."""
        database.execute("DELETE FROM streams WHERE ended AND id NOT IN (SELECT stream FROM messages)")

    def accounts(self) -> dict[str, Account]:
        """Returns the account of each source since the file was made."""
        with self._changed:
            sources = self._written.keys() | self._waiting.keys() | {source for source, _ in self._unwritten}
            return {
                source: Account(spooled=self._waiting[source], **{
                    outcome: self._written.get(source, Counter())[outcome] + self._unwritten[source, outcome]
                    for outcome in _OUTCOMES})
                for source in sources}

    def count(self) -> int:
        """Messages that wait."""
        with self._changed:
            return sum(self._waiting.values())

    def size(self) -> int:
        """Bytes of the messages that wait."""
        with self._changed:
            return self._bytes

    def drain(self, timeout: float) -> bool:
        """Waits until no message waits; False if the time is over before."""
        with self._changed:
            return self._changed.wait_for(lambda: self.count() == 0, timeout)

    def stop_waiting(self) -> None:
        """Callers that wait in `put()` return."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Messages stay on disk for the next process."""
        self.stop_waiting()
        with self._changed:
            if self._unwritten:
                self._settle_file(makes_room=True)
            self._file.close()
