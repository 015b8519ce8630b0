# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines to the operator, on standard error. What a command does goes on if they cannot be written."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

from cudaccl._visible import visible_lines


def show(text: str) -> None:
    """Writes a line, in one piece: other threads write lines, too. Names and errors in it may be those of others."""
    with contextlib.suppress(OSError):
        print(f"{visible_lines(text)}\n", end="", file=sys.stderr, flush=True)


class Terminal:
    """Standard error for a bar of tqdm. What cannot be written is left out."""

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError):
            sys.stderr.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)


def say(text: str) -> None:
    """Writes a line that begins with the name of the program."""
    show(f"cudaccl: {text}")


def fail(error: object, status: int) -> int:
    """Writes an error, and returns the status."""
    say(f"error: {error}")
    return status


def replace_missing() -> None:
    """Of a process without standard error: the next file that it opens would be taken for it."""
    if sys.stderr is None:
        null = os.open(os.devnull, os.O_WRONLY)
        if null != 2:
            os.dup2(null, 2)
            os.close(null)
        sys.stderr = open(2, "w", errors="backslashreplace")


def drop_unwritten() -> None:
    """What waits in memory would change the exit status at the end of Python."""
    try:
        sys.stderr.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
