# SPDX-License-Identifier: LGPL-2.1-or-later
"""How commands that run for long are stopped, and read their settings again."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType


def _heard() -> tuple[signal.Signals, ...]:
    """A process in the background ignores Ctrl-C."""
    is_heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
    return (signal.SIGINT, signal.SIGTERM) if is_heard else (signal.SIGTERM,)


@contextmanager
def stop_on_signals() -> Iterator[threading.Event]:
    """Set by the first Ctrl-C or SIGTERM. The second one, whichever it is, ends the process at once."""
    stopping = threading.Event()
    heard = _heard()

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()
        for number in heard:
            signal.signal(number, signal.default_int_handler)

    with _handled(heard, stop):
        yield stopping


_is_interrupted = threading.Event()


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C and SIGTERM raise KeyboardInterrupt, so that what is written is completed. Only the main thread receives
    signals.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        _is_interrupted.set()
        raise KeyboardInterrupt

    _is_interrupted.clear()
    with _handled(_heard(), interrupt):
        yield


def raise_if_interrupted() -> None:
    """For loops: a library that is called when a signal comes may lose the exception, as some functions of NumPy do."""
    if _is_interrupted.is_set():
        raise KeyboardInterrupt


@contextmanager
def reload_on_signal() -> Iterator[threading.Event]:
    """Set by each SIGHUP. The caller clears it when it reads the settings."""
    wanted = threading.Event()
    with _handled((signal.SIGHUP,), lambda _number, _frame: wanted.set()):
        yield wanted


@contextmanager
def _handled(numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
