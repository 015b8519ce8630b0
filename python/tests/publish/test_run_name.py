# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names of runs."""

import re
from datetime import datetime, timezone

from cudaccl.publish import run_name


def test_processes_that_begin_at_the_same_time_have_other_names(monkeypatch):
    class Clock:
        @staticmethod
        def now(zone):
            return datetime(2026, 1, 31, 12, tzinfo=zone)

    monkeypatch.setattr(run_name, "datetime", Clock)
    names = {run_name.new_run_name() for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch(r"20260131T120000\.000000Z-[0-9a-f]{8}", name) for name in names)


def test_names_begin_with_the_time():
    before, name, after = (f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%fZ}", run_name.new_run_name(),
                           f"{datetime.now(timezone.utc):%Y%m%dT%H%M%S.%fZ}")
    assert before <= name[:len(before)] <= after
