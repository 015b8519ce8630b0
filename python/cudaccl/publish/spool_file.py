# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file of a spool: an SQLite database, which one process has to itself, and head-room on its disk.

To remove a message, SQLite writes to its log first. So a spool that may fill its disk could never be emptied. The lock
file therefore takes head-room before messages do, and gives it back when the disk is full and a message has left.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cudaccl.publish.disk_room import take_room
from cudaccl.publish.errors import SinkError

Result = TypeVar("Result")

_MODE = 0o600  # messages are nobody else's business
_PAGE = 4096  # bytes, SQLite's default
_LEAST_HEAD_ROOM = 64 << 10
_PART = 64  # of the disk and of the limit
_SLACK = 64 << 10  # bytes that a change needs in free pages beside its message

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
  refused INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0
);
"""
_FROM_VERSION_1 = "ALTER TABLE accounts ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;"
_VERSION = 2
_open: set[str] = set()  # paths of the spools of this process


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is no database, or its pages contradict each other. What a disk refuses is another error."""
    return type(error) is sqlite3.DatabaseError


def _open_private(path: str, flags: int) -> int:
    """A descriptor of a file that only this user reads."""
    descriptor = os.open(path, flags, _MODE)
    os.fchmod(descriptor, _MODE)
    return descriptor


class SpoolFile:
    """limit: bytes of messages that may be in it.

    Raises SinkError if the folder cannot be used, or another process has the file. All functions raise sqlite3.Error
    and OSError.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _open_private(f"{path}.lock", os.O_RDWR | os.O_CREAT)
            disk = os.statvfs(path.parent)
        except OSError as error:
            raise SinkError(f"the spool {path} cannot be made: {error.strerror}: {error.filename}") from error
        self._key = os.path.realpath(path)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            is_here = self._key in _open
            other = "another sink of this process: two have one broker and topic" if is_here else "another process"
            raise SinkError(f"the spool {path} is in use by {other}") from None
        _open.add(self._key)
        self._least = max(_LEAST_HEAD_ROOM, min(limit, disk.f_blocks * disk.f_frsize) // _PART)
        self._head_room = os.fstat(self._lock).st_size

    @property
    def database(self) -> sqlite3.Connection:
        """Opens the file if that is necessary. Raises SinkError if it is of another version."""
        if self._database is None:
            try:
                self._database = self._open()
            except sqlite3.OperationalError:
                if not self._give_head_room():
                    raise
                self._database = self._open()
        return self._database

    def _open(self) -> sqlite3.Connection:
        os.close(_open_private(str(self.path), os.O_RDWR | os.O_CREAT))
        for suffix in ("-wal", "-shm"):  # SQLite makes them as the file is; those of an earlier version are open
            if os.path.exists(f"{self.path}{suffix}"):
                os.chmod(f"{self.path}{suffix}", _MODE)
        database = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        try:
            log = self._least // 4  # so that the head-room takes what of the log is not in the database yet, and more
            # Of one process: then there is no file -shm, for which a full disk has no room.
            for pragma in ("locking_mode=EXCLUSIVE", "journal_mode=WAL", "synchronous=NORMAL", "secure_delete=OFF",
                           f"wal_autocheckpoint={log // _PAGE}"):
                database.execute(f"PRAGMA {pragma}")
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version in (0, 1):
                change = _FROM_VERSION_1 if version else _TABLES
                database.executescript(f"BEGIN; {change} PRAGMA user_version={_VERSION}; COMMIT;")
            elif version != _VERSION:
                raise SinkError(f"the spool {self.path} has version {version}, this program knows {_VERSION}")
        except BaseException:
            database.close()
            raise
        return database

    def write(self, change: Callable[[sqlite3.Connection], Result], makes_room: bool = False) -> Result:
        """A transaction. makes_room: it may use the head-room."""
        for remedy in (self._restart_log, self._give_head_room)[:1 + makes_room]:
            with contextlib.suppress(sqlite3.OperationalError):
                return self._write(change)
            remedy()
        return self._write(change)

    def _restart_log(self) -> None:
        """What it has goes to the database, and its place on the disk can be used again."""
        with contextlib.suppress(sqlite3.OperationalError):
            self.database.execute("PRAGMA wal_checkpoint(RESTART)")

    def _write(self, change: Callable[[sqlite3.Connection], Result]) -> Result:
        with self.database as database:
            database.execute("BEGIN IMMEDIATE")
            return change(database)

    def lacks_room(self, size: int) -> str | None:
        """Why no message of so many bytes may come now; None: it may.

        What is in the log goes to the database later, which must have room to grow, too. Where the disk has no room for
        the head-room, pages from which messages have left will do: then nothing grows.
        """
        pages, free = (
            self.database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count"))
        grows = max(0, pages * _PAGE - os.stat(self.path).st_size)
        wanted = self._least + 2 * (size + grows)
        if self._head_room >= wanted:
            return None
        try:
            take_room(self._lock, wanted)
            self._head_room = wanted
            return None
        except OSError as error:
            if not grows and free * _PAGE >= size + _SLACK:
                return None
            return f"its disk has no head-room: {error.strerror}"

    def _give_head_room(self) -> bool:
        """False: there is none."""
        size = os.fstat(self._lock).st_size  # an attempt that failed may have taken a part
        os.ftruncate(self._lock, 0)
        self._head_room = 0
        return size > 0

    def put_aside(self) -> Path:
        """A damaged file gets another name, which is returned, and the next access makes a new one."""
        if self._database is not None:
            self._database.close()
            self._database = None
        number = 1
        while (aside := Path(f"{self.path}.damaged-{number}")).exists():
            number += 1
        os.rename(self.path, aside)
        if os.path.exists(f"{self.path}-wal"):
            os.rename(f"{self.path}-wal", f"{aside}-wal")
        return aside

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
        os.close(self._lock)
        _open.discard(self._key)
