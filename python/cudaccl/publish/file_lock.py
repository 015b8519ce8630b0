# SPDX-License-Identifier: LGPL-2.1-or-later
"""Locks of bytes of an open file."""

from __future__ import annotations

import errno
import fcntl
import os
import struct

SHARED, ALONE, NONE = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK


def lock(file: int, kind: int, byte: int = 0, wait: bool = False) -> None:
    """kind: one of the constants above.

    The lock ends when the file is closed. It is of the open file, because others are of the process, and end when it
    closes the same file a second time. A file system that has no locks has none here.

    Raises BlockingIOError if another process, or another open file of this one, has a lock that excludes it.
    """
    try:
        fcntl.fcntl(file, fcntl.F_OFD_SETLKW if wait else fcntl.F_OFD_SETLK,
                    struct.pack("hhqqi4x", kind, os.SEEK_SET, byte, 1, 0))
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            raise BlockingIOError(error.errno, "another process writes it") from None
