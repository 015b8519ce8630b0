# SPDX-License-Identifier: LGPL-2.1-or-later
"""One fleet at a time writes the results of a folder."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cudaccl.publish.errors import SinkError


@contextmanager
def locked(output: str, say: Callable[[str], None]) -> Iterator[None]:
    """Raises SinkError if another fleet has it, or if the folder cannot be used.

    say: is called with a text if the file system has no locks.
    """
    path = Path(output, ".lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise SinkError(f"{output} cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise SinkError(f"another fleet writes to {output}; wait for its end, or choose another output") from None
    except OSError as error:
        say(f"{output} cannot be locked ({error.strerror}): no other fleet may write there")
    try:
        yield
    finally:
        os.close(file)
