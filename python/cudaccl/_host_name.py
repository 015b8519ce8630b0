# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of hosts."""

from __future__ import annotations


def checked(host: str) -> str:
    """Raises ValueError, which says what is wrong, for a name that the system does not even look up: an empty part
    between two dots, or one of more than 63 letters."""
    try:
        host.encode("idna")
    except UnicodeError:
        raise ValueError(f"{host!r} is no name of a host") from None
    return host
