# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lines of events beside a clip are whole, whatever the disk does."""

import errno
import json
import os

import pytest

from cudaccl.record.clip import Clip

LINE = b'{"type":"entered","id":1}\n'


@pytest.fixture
def clip(tmp_path):
    """Without a pipeline, which notes do not need."""
    made = Clip.__new__(Clip)
    made.path = tmp_path / "clip.mkv.part"
    made.size = 0
    made._events = None
    yield made
    if made._events is not None:
        os.close(made._events)


def lines_of(clip):
    text = clip.path.with_suffix("").with_suffix(".jsonl").read_text()
    assert text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def test_a_write_of_a_part_is_continued(clip, monkeypatch):
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:7]))
    clip.note(LINE * 3)
    assert len(lines_of(clip)) == 3 and clip.size == 3 * len(LINE)


def test_what_does_not_fit_leaves_no_part(clip, monkeypatch):
    clip.note(LINE)
    write = os.write
    room = [10]

    def full_disk(file, data):
        if not room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, data[:room.pop()])

    monkeypatch.setattr(os, "write", full_disk)
    with pytest.raises(OSError):
        clip.note(LINE * 2)
    monkeypatch.setattr(os, "write", write)
    clip.note(LINE)
    assert len(lines_of(clip)) == 2 and clip.size == 2 * len(LINE)
