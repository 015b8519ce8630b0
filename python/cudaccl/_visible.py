# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts of others on a terminal or in a log."""

from __future__ import annotations

_ESCAPES = {code: f"\\x{code:02x}" for code in [*range(32), *range(127, 160)]}
_OF_LINES = {code: escape for code, escape in _ESCAPES.items() if chr(code) not in "\t\n"}


def visible(text: str) -> str:
    """A word in a line: control characters, which may move a terminal's cursor or begin a line, are escaped."""
    return text.translate(_ESCAPES)


def visible_lines(text: str) -> str:
    """Likewise lines, with their ends and tabs."""
    return text.translate(_OF_LINES)
