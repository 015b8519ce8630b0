# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which process runs a fleet, so that another command can make it read its file again."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


def state_folder() -> Path:
    """Of this user's programs."""
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else _home() / ".local/state") / "cudaccl"


def _home() -> Path:
    """For a user that the system does not know it is /, as in containers. A spool then says that it cannot be made."""
    try:
        return Path.home()
    except RuntimeError:
        return Path("/")


def _path(file: str) -> Path:
    return state_folder() / "fleets" / hashlib.sha256(os.path.realpath(file).encode()).hexdigest()[:16]


@contextmanager
def announced(file: str) -> Iterator[None]:
    """While the context lasts, `find()` returns this process, unless another one was first. The lock, and not the
    number in the file, says that the process lives. Where no file can be written, a signal still works."""
    lock = _locked(_path(file))
    try:
        yield
    finally:
        if lock is not None:
            lock.truncate(0)
            lock.close()


def _locked(path: Path) -> TextIO | None:
    """With the number of this process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = open(path, "a+")
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
    except OSError:
        lock.close()
        return None
    return lock


def find(file: str) -> int | None:
    """The process that runs a fleet; None: there is none."""
    try:
        with open(_path(file)) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(lock.read() or 0) or None
    except FileNotFoundError:
        pass
    return None
