# SPDX-License-Identifier: LGPL-2.1-or-later
"""How commands that run for long are stopped."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM. The second one, whichever it is, ends the process at once."""
    stopping = threading.Event()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()
        for number in _SIGNALS:
            signal.signal(number, signal.default_int_handler)

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
