# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the library can do."""

from __future__ import annotations

from typing import NamedTuple

from cudaccl import _core


class Algorithm(NamedTuple):
    """An algorithm that labels components."""

    name: str
    source: str  #: the paper that it follows
    on_cpu: bool
    on_cuda: bool  #: in this build


def algorithms() -> list[Algorithm]:
    """All algorithms; "auto" is the default."""
    return [Algorithm(*fields) for fields in _core.algorithms()]


def device_count() -> int:
    """The number of GPUs that serve; 0 without a driver, and in a build without CUDA."""
    return _core.device_count()


def has_cuda() -> bool:
    """Whether this build has the CUDA backend."""
    return _core.has_cuda()


def version() -> str:
    """Of the library, such as "1.0.0"; also `cudaccl.__version__`."""
    return _core.version()
