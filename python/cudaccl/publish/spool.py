# SPDX-License-Identifier: LGPL-2.1-or-later
"""Messages that wait on disk for a broker, in order, and the account of every frame.

The file is an SQLite database in WAL mode: what `put()` has accepted survives a process that is killed. A power cut may
take the last moments, and leaves the file whole.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from cudaccl.publish.errors import SinkError

DEFAULT_LIMIT = 1 << 30  # bytes of messages

_MODE = 0o600  # messages are nobody else's business
_RETRY_S = 0.5  # a full disk is tried again this often by callers that wait

_TABLES = """
CREATE TABLE IF NOT EXISTS streams (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  run TEXT NOT NULL,
  content TEXT,
  next_frame INTEGER NOT NULL,
  ended INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  stream INTEGER NOT NULL,
  frame INTEGER NOT NULL,
  payload BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS accounts (
  source TEXT PRIMARY KEY,
  sent INTEGER NOT NULL DEFAULT 0,
  full INTEGER NOT NULL DEFAULT 0,
  disk INTEGER NOT NULL DEFAULT 0,
  refused INTEGER NOT NULL DEFAULT 0
);
"""
_VERSION = 1


def _open_private(path: str, flags: int) -> int:
    """A descriptor of a file that only this user reads."""
    descriptor = os.open(path, flags, _MODE)
    os.fchmod(descriptor, _MODE)
    return descriptor


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
    """Where the frames of a source are. Every frame that was offered to `put()` is in exactly one of the numbers."""

    sent: int = 0  #: the broker has acknowledged it
    spooled: int = 0  #: on disk
    full: int = 0  #: lost: the limit was reached
    disk: int = 0  #: lost: the disk was full or failed
    refused: int = 0  #: lost: the broker does not take this message at all, for example because of its size

    @property
    def lost(self) -> int:
        return self.full + self.disk + self.refused

    @property
    def frames(self) -> int:
        return self.sent + self.spooled + self.lost


@dataclasses.dataclass
class _Stream:
    number: int
    source: str
    run: str
    next_frame: int
    can_wait: bool
    waited_for: set[str] = dataclasses.field(default_factory=set)  #: reasons that were said
    is_interrupted: bool = False  #: a frame was not accepted: nothing that follows is, so that there is no gap


class Spool:
    """A queue of messages on disk. Threads may share it; another process that opens the same file is refused.

    path: the file, which is made if it is missing, and belongs to one broker.
    limit: bytes of messages that may wait. At the limit, or if the disk is full, frames of a stream that cannot be read
        again are lost and counted; for all others `put()` waits.

    Raises SinkError if the file cannot be used.
    """

    def __init__(self, path: str | os.PathLike[str], limit: int = DEFAULT_LIMIT) -> None:
        self.path = Path(path)
        self._limit = limit
        self._changed = threading.Condition()
        self._streams: dict[str, _Stream] = {}
        self._lost: Counter[tuple[str, str]] = Counter()  # (source, reason), not written yet: the disk was full
        self._settled: dict[int, str] = {}  # numbers whose removal is not written yet, and what became of them
        self._closed = False
        self.listener: Callable[[], None] = lambda: None  #: is called for each new message
        self.say: Callable[[str], None] = lambda text: None  #: is called with a text when `put()` waits, and why
        self.disk_error: str | None = None  #: why the disk did not take the last message of put(); else None
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock_file = open(f"{self.path}.lock", "w", encoding="ascii", opener=_open_private)
        except OSError as error:
            raise SinkError(f"the spool {self.path} cannot be made: {error.strerror}: {error.filename}") from error
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock_file.close()
            raise SinkError(f"the spool {self.path} is in use by another process") from None
        try:
            self._open()
        except (sqlite3.Error, OSError) as error:
            self._lock_file.close()
            raise SinkError(f"the spool {self.path} cannot be used: {error}") from error

    def _open(self) -> None:
        os.close(_open_private(str(self.path), os.O_RDWR | os.O_CREAT))
        for suffix in ("-wal", "-shm"):  # SQLite makes them as the file is; those of an earlier version are open
            if os.path.exists(f"{self.path}{suffix}"):
                os.chmod(f"{self.path}{suffix}", _MODE)
        self._database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")
        version = self._database.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"it has version {version}, this program knows {_VERSION}")
        self._database.executescript(_TABLES)
        self._database.execute(f"PRAGMA user_version={_VERSION}")
        self._bytes = self._database.execute("SELECT coalesce(sum(length(payload)), 0) FROM messages").fetchone()[0]

    def interrupted(self, source: str, content: str) -> str | None:
        """The run of a stream that began earlier and did not end; None if there is none.

        content: what is read, such as a file's path, size and time. Another content is another stream.
        """
        with self._changed:
            row = self._database.execute(
                "SELECT run FROM streams WHERE source=? AND content=? AND NOT ended", (source, content)).fetchone()
        return row[0] if row else None

    def begin(self, source: str, run: str, content: str | None = None) -> int:
        """Begins a stream, or goes on with it, and returns the number of the first frame that is expected.

        content: see `interrupted()`. None: the stream cannot be read again, such as a camera's; it does not wait for
            room.
        """
        with self._changed:
            old = self._database.execute(
                "SELECT id, next_frame FROM streams WHERE source=? AND run=? AND NOT ended", (source, run)).fetchone()
            if old:
                self._streams[source] = _Stream(old[0], source, run, old[1], content is not None)
                return old[1]
            try:
                with self._database:
                    self._database.execute("BEGIN IMMEDIATE")
                    # A stream that was interrupted, and does not go on.
                    self._database.execute("UPDATE streams SET ended=1 WHERE source=?", (source,))
                    self._forget_ended()
                    cursor = self._database.execute(
                        "INSERT INTO streams (source, run, content, next_frame) VALUES (?, ?, ?, 0)",
                        (source, run, content))
                    self._database.execute("INSERT OR IGNORE INTO accounts (source) VALUES (?)", (source,))
            except sqlite3.Error as error:
                raise SinkError(f"the spool {self.path} cannot be written: {error}") from error
            self._streams[source] = _Stream(cursor.lastrowid, source, run, 0, content is not None)
            return 0

    def end(self, source: str) -> None:
        """The stream is complete: what comes next from this source is another one.

        If `put()` has not accepted a frame, the stream goes on with it later.
        """
        with self._changed:
            stream = self._streams.pop(source)
            if stream.is_interrupted:
                return
            try:
                with self._database:
                    self._database.execute("BEGIN IMMEDIATE")
                    self._database.execute("UPDATE streams SET ended=1 WHERE id=?", (stream.number,))
                    self._forget_ended()
            except sqlite3.Error:  # the next begin() will do it
                pass

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
                if not stream.can_wait or len(payload) > self._limit:
                    stream.next_frame = frame + 1
                    self._lost[source, reason] += 1
                    self._write_losses()
                    break
                if self._closed:
                    stream.is_interrupted = True
                else:
                    self._say_wait(stream, reason)
                    self._changed.wait(None if reason == "full" else _RETRY_S)
            return False

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
        self.disk_error = None
        if self._bytes + len(payload) > self._limit:
            return "full"
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._database.execute(
                    "INSERT INTO messages (stream, frame, payload) VALUES (?, ?, ?)", (stream.number, frame, payload))
                self._database.execute("UPDATE streams SET next_frame=? WHERE id=?", (frame + 1, stream.number))
                self._account_losses()
        except sqlite3.Error as error:
            self.disk_error = str(error)
            return "disk"
        self._lost.clear()
        stream.next_frame = frame + 1
        self._bytes += len(payload)
        return None

    def _account_losses(self) -> None:
        """In a transaction; if it succeeds, they are no longer to be written."""
        for (source, reason), count in self._lost.items():
            self._database.execute(f"UPDATE accounts SET {reason}={reason}+? WHERE source=?", (count, source))

    def _write_losses(self) -> None:
        """Now, or with the next write that the disk takes."""
        try:
            with self._database:
                self._database.execute("BEGIN IMMEDIATE")
                self._account_losses()
                for stream in self._streams.values():
                    self._database.execute(
                        "UPDATE streams SET next_frame=? WHERE id=?", (stream.next_frame, stream.number))
        except sqlite3.Error:
            return
        self._lost.clear()

    def fetch(self, after: int, count: int) -> list[Message]:
        """The oldest messages of a higher number than `after`, at most `count`."""
        with self._changed:
            rows = self._database.execute(
                "SELECT messages.id, source, run, frame, payload FROM messages JOIN streams ON streams.id=stream"
                " WHERE messages.id>? ORDER BY messages.id LIMIT ?", (after, count + len(self._settled)))
            return [Message(*row) for row in rows if row[0] not in self._settled][:count]

    def settle(self, sent: Iterable[int], refused: Iterable[int] = ()) -> None:
        """Removes messages that the broker has acknowledged, and those that it does not take at all."""
        with self._changed:
            self._settled |= dict.fromkeys(sent, "sent") | dict.fromkeys(refused, "refused")
            if not self._settled:
                return
            try:
                removed = self._remove_settled()
            except sqlite3.Error:  # they are not fetched again, and removed with the next ones
                return
            self._settled.clear()
            self._lost.clear()
            self._bytes -= removed
            self._changed.notify_all()

    def _remove_settled(self) -> int:
        """The number of bytes."""
        removed = 0
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            for number, outcome in self._settled.items():
                source, size = self._database.execute(
                    "SELECT source, length(payload) FROM messages JOIN streams ON streams.id=stream"
                    " WHERE messages.id=?", (number,)).fetchone()
                self._database.execute("DELETE FROM messages WHERE id=?", (number,))
                self._database.execute(f"UPDATE accounts SET {outcome}={outcome}+1 WHERE source=?", (source,))
                removed += size
            self._account_losses()
            self._forget_ended()
        return removed

    def _forget_ended(self) -> None:
        """In a transaction: streams without messages that will not go on."""
        self._database.execute("DELETE FROM streams WHERE ended AND id NOT IN (SELECT stream FROM messages)")

    def accounts(self) -> dict[str, Account]:
        """Returns the account of each source since the file was made."""
        with self._changed:
            rows = self._database.execute("SELECT source, sent, full, disk, refused FROM accounts").fetchall()
            waiting = dict(self._database.execute(
                "SELECT source, count(*) FROM messages JOIN streams ON streams.id=stream GROUP BY source"))
            lost = dict(self._lost)
        return {
            source: Account(sent, waiting.get(source, 0), full + lost.get((source, "full"), 0),
                            disk + lost.get((source, "disk"), 0), refused)
            for source, sent, full, disk, refused in rows}

    def count(self) -> int:
        """Messages that wait."""
        with self._changed:
            return self._database.execute("SELECT count(*) FROM messages").fetchone()[0] - len(self._settled)

    def size(self) -> int:
        """Bytes of the messages that wait."""
        with self._changed:
            return self._bytes

    def drain(self, timeout: float) -> bool:
        """Waits until no message waits; False if the time is over before."""
        with self._changed:
            return self._changed.wait_for(self._is_empty, timeout)

    def _is_empty(self) -> bool:
        return self._database.execute("SELECT NOT EXISTS (SELECT 1 FROM messages)").fetchone()[0] == 1

    def stop_waiting(self) -> None:
        """Callers that wait in `put()` return."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def close(self) -> None:
        """Messages stay on disk for the next process."""
        self.stop_waiting()
        with self._changed:
            if self._lost:
                self._write_losses()
            self._database.close()
            self._lock_file.close()
