# SPDX-License-Identifier: LGPL-2.1-or-later
"""The compressed frames that wait for an event."""

import pytest

pytest.importorskip("gi", reason="python3-gi is missing")

from cudaccl.record.history import EncodedFrame, History  # noqa: E402


def encoded(time, is_key=False, size=10):
    return EncodedFrame(None, "caps", time, time, is_key, size)


def test_history():
    history = History(limit=100)
    assert history.earliest() is None and history.begin(5) is None and history.after(0, 5) == (0, [])
    for time in range(10):
        history.add(encoded(time, time in (2, 6)))
    assert history.begin(1) == 2 and history.begin(5) == 2 and history.begin(6) == 6 and history.begin(99) == 6
    number, frames = history.after(4, 7)
    assert number == 4 and [frame.time for frame in frames] == [4, 5, 6, 7]
    assert history.earliest() == 0
    history.forget(7)
    assert history.earliest() == 6
    number, frames = history.after(4, 7)
    assert number == 6 and [frame.time for frame in frames] == [6, 7]
    for time in range(10, 17):
        history.add(encoded(time, time == 12))
    assert history.after(0, 99)[0] == 12, "the oldest ones have left, up to a key frame"
    assert history.latest == 16


def test_frames_that_are_decoded_before_they_are_shown():
    """Those that the last one needs come with it."""
    history = History()
    for time in (0, 3, 1, 2, 6, 4, 5):
        history.add(encoded(time, time == 0))
    assert [frame.time for frame in history.after(0, 1)[1]] == [0, 3, 1]
    assert [frame.time for frame in history.after(3, 4)[1]] == [2, 6, 4]
