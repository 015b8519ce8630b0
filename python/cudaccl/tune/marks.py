# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a user has marked: all objects of some frames. The form is that of MARKS.json in docs/tune.md."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cudaccl.tune.agreement import SAME_OBJECT, overlaps

_VERSION = 1
_MOST_FRAMES = 1000
_MOST_OBJECTS = 1000  # of a frame
_LARGEST_SIDE = 32767
_LAST_TIME = 2**62

Box = tuple[int, int, int, int]  # x, y, width, height, in pixels


class MarksError(ValueError):
    """Marks that cannot be used. The text says which one and why."""


@dataclasses.dataclass(frozen=True)
class MarkedFrame:
    """A frame of which all objects are marked: what else is found in it is wrong."""

    source: str  #: its name
    time: int  #: in nanoseconds, as buffers have it
    width: int  #: of the frame, as height
    height: int
    objects: tuple[Box, ...]

    def __str__(self) -> str:
        return f"{self.source} at {self.time / 1e9:.3f} s"


def parse(document: Any) -> list[MarkedFrame]:
    """In the order of sources and times. Raises MarksError."""
    if not isinstance(document, dict) or document.get("version") != _VERSION or not isinstance(
            document.get("frames"), list):
        raise MarksError(f'marks are an object with "version": {_VERSION} and a list "frames"')
    if len(document["frames"]) > _MOST_FRAMES:
        raise MarksError(f"there are more than {_MOST_FRAMES} frames")
    frames = [_frame(one, number) for number, one in enumerate(document["frames"], 1)]
    seen = set()
    for frame in frames:
        if (frame.source, frame.time) in seen:
            raise MarksError(f"the frame of {frame} is there twice")
        seen.add((frame.source, frame.time))
    return sorted(frames, key=lambda one: (one.source, one.time))


def _frame(entry: Any, number: int) -> MarkedFrame:
    if not isinstance(entry, dict):
        raise MarksError(f"frame {number} is no object")
    source, objects = entry.get("source"), entry.get("objects")
    if not isinstance(source, str):
        raise MarksError(f'frame {number}: "source" is no text')
    time = _whole(entry, "time", 0, _LAST_TIME, number)
    width, height = (_whole(entry, name, 1, _LARGEST_SIDE, number) for name in ("width", "height"))
    if not isinstance(objects, list) or len(objects) > _MOST_OBJECTS:
        raise MarksError(f'frame {number}: "objects" is no list of at most {_MOST_OBJECTS} boxes')
    frame = MarkedFrame(source, time, width, height, tuple(_box(one, width, height, number) for one in objects))
    _check_apart(frame)
    return frame


def _whole(entry: dict[str, Any], name: str, least: int, largest: int, number: int) -> int:
    value = entry.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= largest:
        raise MarksError(f'frame {number}: "{name}" is no whole number from {least} to {largest}')
    return value


def _box(value: Any, width: int, height: int, number: int) -> Box:
    if not isinstance(value, list) or len(value) != 4 or not all(
            isinstance(one, int) and not isinstance(one, bool) for one in value):
        raise MarksError(f"frame {number}: a box is four whole numbers: x, y, width, height")
    x, y, w, h = value
    if x < 0 or y < 0 or w < 1 or h < 1 or x + w > width or y + h > height:
        raise MarksError(f"frame {number}: the box {value} is not inside the frame of {width} x {height} pixels")
    return x, y, w, h


def _check_apart(frame: MarkedFrame) -> None:
    """No component can be both of two objects, so two marks of one object would contradict each other."""
    common = overlaps(frame.objects, frame.objects)
    for index, row in enumerate(common):
        for other in range(index + 1, len(row)):
            if row[other] >= SAME_OBJECT:
                raise MarksError(f"{frame}: the boxes {list(frame.objects[index])} and {list(frame.objects[other])} mark"
                                 " the same object")


def as_document(frames: Sequence[MarkedFrame]) -> dict[str, Any]:
    """What `parse()` reads."""
    return {"version": _VERSION, "frames": [
        dataclasses.asdict(one) | {"objects": [list(box) for box in one.objects]} for one in frames]}


def load(path: Path) -> list[MarkedFrame]:
    """Raises MarksError, which names the file."""
    try:
        return parse(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise MarksError(f"{path}: {error.strerror}") from None
    except RecursionError:
        raise MarksError(f"{path}: this is no JSON") from None
    except MarksError as error:
        raise MarksError(f"{path}: {error}") from None
    except ValueError as error:
        raise MarksError(f"{path}: this is no JSON: {error}") from None


def count_text(frames: Sequence[MarkedFrame]) -> str:
    """On how much a proposal rests."""
    objects = sum(len(one.objects) for one in frames)
    return f"{objects} marked object{'s' * (objects != 1)} in {len(frames)} frame{'s' * (len(frames) != 1)}"
