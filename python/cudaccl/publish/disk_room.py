# SPDX-License-Identifier: LGPL-2.1-or-later
"""Room on a disk, taken before it is needed."""

from __future__ import annotations

import errno
import os


def take_room(file: int, size: int) -> None:
    """So that a file can grow to this size. Raises OSError.

    Where a file system cannot do this, there is nothing to rely on.
    """
    try:
        os.posix_fallocate(file, 0, size)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
