# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors of sinks, and the import of optional packages."""

from __future__ import annotations

import importlib
from types import ModuleType


class SinkError(RuntimeError):
    """A sink that cannot be opened, or that has failed for good. The text says which one and why."""


class Unavailable(SinkError):
    """A broker that cannot be reached now. Trying again later may help."""


class Refused(Unavailable):
    """A broker that refuses what it is asked, such as a password. Trying again helps once somebody changes that."""


class MissingPackage(ImportError):
    """An optional package is not installed. The text names the extra that installs it."""


def need(module: str, extra: str) -> ModuleType:
    """Imports a module of an optional package.

    Raises MissingPackage, which says what to install.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise MissingPackage(
            f"this needs the Python module {module} ({missing}): install it with pip install 'cudaccl[{extra}]'"
        ) from missing
