# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines that a camera causes, as many as a log can bear."""

from __future__ import annotations

import time
from collections.abc import Callable

LINES = 60
PERIOD_S = 60.0


class BoundedLines:
    """Passes 60 lines a minute on. A decoder may warn of each frame that it gets, and a camera may send anything."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._clock = clock
        self._end = -float("inf")  # of the minute
        self._lines = 0  # in it

    def __call__(self, text: str) -> None:
        now = self._clock()
        left_out = self._lines - LINES
        if now >= self._end:
            self._end = now + PERIOD_S
            self._lines = 0
            if left_out > 0:
                self._say(f"{left_out} lines were left out")
        self._lines += 1
        if self._lines <= LINES:
            self._say(text)
        elif left_out == 0:
            self._say("more lines follow, which are left out until a minute is over")
