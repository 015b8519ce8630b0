# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program `cudaccl`. Loading it takes a part of a second, in which Ctrl-C ends it as later, without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType

_INTERRUPTED = 130  # of video/errors.py, which is not loaded yet
_TEXT = "cudaccl: error: interrupted\n"


def main() -> int:
    """Runs the command line, and returns the exit status."""
    is_heard = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not of a program in the background
    try:
        if is_heard:
            signal.signal(signal.SIGINT, _end)
        from cudaccl.cli import main as run

        if is_heard:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        print(_TEXT, end="", file=sys.stderr)
        return _INTERRUPTED


def _end(_number: int, _frame: FrameType | None) -> None:
    """At once: nothing is done yet, and NumPy would make another error of an exception."""
    os.write(2, _TEXT.encode())
    os._exit(_INTERRUPTED)
