# SPDX-License-Identifier: LGPL-2.1-or-later
"""Addresses without their secrets."""

from __future__ import annotations

import logging
import re

_HIDDEN = "…"
# One scheme is not longer; without a limit a long word would be read again from each of its letters.
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,30}://|\b(?:mqtts?|kafka|rtsps?):)([^\s\"]*)")
_SECRET = re.compile(
    r"\b((?:[A-Za-z]{1,20}[-_.]){0,5}(?:pw|pwd|pass|passwd|password|passphrase|secret|token|auth|authorization|cookies"
    r"|(?:secret|access|api)[-_]key)\s{0,9}=\s{0,9})"
    r"(\"[^\"]*\"|'[^']*'|\S+)")


def redacted(text: object) -> str:
    """A text for the operator or a name: users, passwords and values of options in addresses are replaced, and values
    of properties of a launch line whose name says that they are secret."""
    return _SECRET.sub(rf"\1{_HIDDEN}", _ADDRESS.sub(_hide, str(text)))


def _hide(address: re.Match[str]) -> str:
    text = address[2].rstrip("'")  # which may end the address; before, it may be a part of a password
    _, at, rest = text.rpartition("@")
    # Cameras take a password as /user=NAME&password=PASSWORD, too, in a path.
    hidden = re.sub(r"=[^&]*", "=" + _HIDDEN, rest)
    return address[1] + (_HIDDEN + at if at else "") + hidden + address[2][len(text):]


def name_of(address: str) -> str:
    """Host and path of the first address in a text, without options: what a source is called."""
    rest = redacted(address).partition("://")[2].rpartition("@")[2]
    return re.sub(rf"[^/?&;\s]*={_HIDDEN}", "", re.split(r"[\s!]", rest, maxsplit=1)[0])


class Formatter(logging.Formatter):
    """For logs: GStreamer names addresses in its warnings."""

    def format(self, record: logging.LogRecord) -> str:
        return redacted(super().format(record))
