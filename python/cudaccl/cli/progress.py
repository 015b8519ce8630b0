# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a terminal shows while videos are read."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any

from cudaccl.cli.operator import Terminal
from cudaccl.publish.errors import MissingPackage, need


class Progress:
    """A bar of frames, frames per second and time left on standard error; nothing where that is no terminal."""

    def __init__(self, title: str, show: bool | None = None) -> None:
        """show: None: on a terminal, if tqdm is installed."""
        self._bar: Any = None
        try:
            if sys.stderr.isatty() if show is None else show:
                self._bar = need("tqdm", "cli").tqdm(desc=title, unit=" frames", dynamic_ncols=True, file=Terminal())
        except MissingPackage:
            if show:
                raise

    def expect(self, frames: int | None) -> None:
        """Sets how many there are in all."""
        if self._bar is not None:
            self._bar.total = frames

    def step(self) -> None:
        """One frame is done."""
        if self._bar is not None:
            self._bar.update()

    def complete(self) -> None:
        """There are no more frames: the bar is full, also if another number was expected."""
        if self._bar is not None:
            self._bar.total = self._bar.n

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()
