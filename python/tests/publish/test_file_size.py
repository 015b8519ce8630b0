# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long files should be, by their headers."""

import pytest

from cudaccl._file_size import declared_size, frames_of_avi


def chunk(name, data):
    return name + len(data).to_bytes(4, "little") + data + bytes(len(data) % 2)


def box(name, data, wide=False):
    if wide:
        return (1).to_bytes(4, "big") + name + (16 + len(data)).to_bytes(8, "big") + data
    return (8 + len(data)).to_bytes(4, "big") + name + data


MAIN = chunk(b"LIST", b"hdrl" + chunk(b"avih", bytes(16) + (795).to_bytes(4, "little") + bytes(36)))
AVI = chunk(b"RIFF", b"AVI " + MAIN + bytes(81)) + chunk(b"RIFF", b"AVIX" + bytes(40))
MP4 = box(b"ftyp", b"isom") + box(b"mdat", bytes(99), wide=True) + box(b"moov", bytes(10))
HEADER = b"\x1aE\xdf\xa3" + b"\x84" + b"webm"
WEBM = HEADER + b"\x18S\x80g" + b"\x40\x64" + bytes(100)


@pytest.mark.parametrize("data", [AVI, MP4, WEBM])
def test_a_file_that_is_cut_off_is_shorter_than_its_headers_say(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert declared_size(path) == len(data)
    path.write_bytes(data + b"junk")
    assert declared_size(path) in (None, len(data))
    path.write_bytes(data[:len(data) * 2 // 3])
    assert len(data) * 2 // 3 < declared_size(path) <= len(data)
    assert frames_of_avi(path) == (795 if data is AVI else 0)


@pytest.mark.parametrize("data", [
    b"", b"RIFF", b"RIFF" + bytes(4) + b"AVI ", b"RIFF" + b"\xff" * 4 + b"AVI ",  # recordings that were not ended
    box(b"ftyp", b"isom") + bytes(4) + b"mdat" + bytes(99), box(b"ftyp", b"isom") + bytes(99),
    HEADER + b"\x18S\x80g" + b"\x01" + b"\xff" * 7 + bytes(9), HEADER, b"\x1aE\xdf\xa3" + bytes(9),
    b"\x89PNG\r\n\x1a\n" + bytes(99), b"G" + bytes(187)])
def test_other_files_do_not_say(tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    assert declared_size(path) is None and frames_of_avi(path) == 0
