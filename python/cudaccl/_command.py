# SPDX-License-Identifier: LGPL-2.1-or-later
"""The program `cudaccl`. Loading it takes a part of a second, and so does the end of Python: a signal there ends the
process as one in between does, or with the exit status of what is done."""

from __future__ import annotations

import atexit
import os
import signal
import sys
from types import FrameType

_INTERRUPTED = 130  # of video/errors.py, which is not loaded yet
_TEXT = "cudaccl: error: interrupted\n"
_status: int | None = None  # None: not all is done


def main() -> int:
    """Runs the command line, and returns the exit status."""
    global _status
    atexit.register(_ignore_signals)  # first, so last: behind it, Python puts the handlers of the system back
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not of a program in the background
        signal.signal(signal.SIGINT, _end)
    try:
        from cudaccl.cli import main as run

        _status = run()
    except SystemExit as end:  # of argparse
        _status = 0 if end.code is None else end.code if isinstance(end.code, int) else 1
        raise
    except KeyboardInterrupt:
        print(_TEXT, end="", file=sys.stderr)
        _status = _INTERRUPTED
    return _status


def _ignore_signals() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def _end(_number: int, _frame: FrameType | None) -> None:
    """At once: NumPy, while it is loaded, would make another error of an exception."""
    if _status is None:
        os.write(2, _TEXT.encode())
    os._exit(_INTERRUPTED if _status is None else _status)
