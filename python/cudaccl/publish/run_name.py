# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of runs, and of the files that belong to one."""

from __future__ import annotations

import secrets
from datetime import datetime, timezone


def new_run_name() -> str:
    """The time in UTC, and what no other process or machine has that begins at the same time, or has another clock.

    Names are in the order of time. They may be part of a file's name.
    """
    return f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%fZ}-{secrets.token_hex(4)}"
