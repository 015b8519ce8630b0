# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a video file should be, by the lengths in its headers: a copy or a recording may have been cut off."""

from __future__ import annotations

import os
from typing import BinaryIO

_EBML, _SEGMENT = b"\x1aE\xdf\xa3", b"\x18S\x80g"
_FIRST_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide", b"styp", b"pnot")
_FRAMES_OF_AVI = 48  # where the main header has the number of frames, which all files have at the same place


def declared_size(path: str | os.PathLike[str]) -> int | None:
    """So many bytes an AVI, MP4, QuickTime, Matroska or WebM file should have at least; None: its headers do not say.

    Those of a recording that has not ended do not. Raises OSError.
    """
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        head = file.read(12)
        if head.startswith(b"RIFF"):
            return _end_of_chunks(file, size)
        if head[4:8] in _FIRST_BOXES:
            return _end_of_boxes(file, size)
        if head.startswith(_EBML):
            return _end_of_segment(file)
        return None


def frames_of_avi(path: str | os.PathLike[str]) -> int:
    """What the main header says; 0: it says nothing, or the file is no AVI. Raises OSError."""
    with open(path, "rb") as file:
        head = file.read(_FRAMES_OF_AVI + 4)
    is_avi = head[:4] == b"RIFF" and head[8:12] == b"AVI " and head[24:28] == b"avih"
    return int.from_bytes(head[_FRAMES_OF_AVI:], "little") if is_avi else 0


def early_end(path: str | os.PathLike[str], frames: int, expected: int = 0) -> str:
    """What is missing of a file of which so many frames came; "": nothing, as far as it says.

    expected: frames that its duration has; 0: not known.
    """
    try:
        declared, size = declared_size(path), os.path.getsize(path)
        expected = max(frames_of_avi(path), expected)
    except OSError:  # it was removed
        return ""
    if declared is None or declared <= size or 0 < expected <= frames:
        return ""
    of = f" of {expected}" if expected else ""
    return f"the file ends early: {frames} frames{of} came, at least {declared - size} bytes are missing"


def _end_of_chunks(file: BinaryIO, size: int) -> int | None:
    """Of RIFF: a large AVI has several, one behind the other."""
    end = 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(8)
        length = int.from_bytes(head[4:], "little")
        if head[:4] != b"RIFF":
            break
        if length in (0, 0xFFFFFFFF):
            return None
        end += 8 + length + length % 2
    return end or None


def _end_of_boxes(file: BinaryIO, size: int) -> int | None:
    """Of MP4 and QuickTime."""
    end = 0
    while end + 8 <= size:
        file.seek(end)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length = int.from_bytes(head[8:], "big")
        if length < 8 or not head[4:8].isalnum():  # 0: to the end, however far that is
            return None
        end += length
    return end


def _end_of_segment(file: BinaryIO) -> int | None:
    """Of Matroska and WebM."""
    file.seek(4)
    head = _read_number(file)
    if head is None:
        return None
    file.seek(head, os.SEEK_CUR)
    if file.read(4) != _SEGMENT:
        return None
    length = _read_number(file)
    return None if length is None else file.seek(length, os.SEEK_CUR)


def _read_number(file: BinaryIO) -> int | None:
    """Of EBML: the zeros before the first one say how many bytes follow. None: unknown, which is all ones."""
    first = file.read(1)
    if not first or not first[0]:
        return None
    more = 8 - first[0].bit_length()
    bits = 7 * (more + 1)
    value = int.from_bytes(first + file.read(more), "big") & ((1 << bits) - 1)
    return None if value == (1 << bits) - 1 else value
