# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether two workers agree at a cut, and which id of one is which id of the other.

The left piece ends at the cut; the right one began earlier, without the history of the video, and both have the frames
of the overlap. Frames are compared from the cut backwards until one differs: what follows that one is the agreed end.
Records and tracks must be equal in all but what only the history knows: ids, ages, the time of birth, the parent.
"""

from __future__ import annotations

import dataclasses

import numpy

from cudaccl._types import EVENT_TYPES, TrackFlag
from cudaccl.fleet.pieces import Piece

_CROWDED = EVENT_TYPES.index("crowded")
_FRAME_FIELDS = ("frame", "pts", "width", "height", "n_components", "level", "overflow", "relearning", "components",
                 "tracks", "events")
_COMPONENT_HISTORY = ("id", "age")
_TRACK_HISTORY = ("id", "age", "first_time", "parent")
_SHARED = int(TrackFlag.MERGED | TrackFlag.SPLIT | TrackFlag.FRAGMENTED)


class Disagreement(Exception):
    """The text is for the report."""


@dataclasses.dataclass(frozen=True)
class Past:
    """The history of a track that lives at the cut. Ids are those of the left piece."""

    id: int
    parent: int


@dataclasses.dataclass(frozen=True)
class Agreement:
    """In what the pieces at a cut agree."""

    frames: int  #: so many frames before the cut are equal
    left_ids: int  #: ids that the left piece has given before the cut
    right_ids: int
    living: dict[int, Past]  #: by the id in the right piece: of all tracks in the frame before the cut


@dataclasses.dataclass(frozen=True)
class Conditions:
    """What must be equal for a cut. Times in nanoseconds."""

    tracks: bool
    event_hold: int


class _Frames:
    """The frames of a piece in [start, cut), by number."""

    def __init__(self, piece: Piece) -> None:
        self.piece = piece
        self.first = int(piece.frames["frame"][0])
        self._offsets = {field: piece.offsets(field) for field in ("components", "tracks", "events")}

    def row(self, number: int) -> numpy.void:
        return self.piece.frames[number - self.first]

    def records(self, field: str, number: int) -> numpy.ndarray:
        begin, end = self._offsets[field][number - self.first:number - self.first + 2]
        return getattr(self.piece, field)[begin:end]

    def names(self, number: int) -> object:
        return self.piece.names[self.row(number)["names"]]

    def ids_before(self, number: int) -> int:
        """The highest id: each one is shown at its birth."""
        tracks = self.piece.tracks[:self._offsets["tracks"][number - self.first]]
        return int(tracks["id"].max(initial=0))


def agree(left: Piece, right: Piece, cut: int, conditions: Conditions) -> Agreement:
    """cut: number of the first frame behind it. The overlap begins with the first frame of `right`, which `left` has.

    Raises Disagreement.
    """
    a, b = _Frames(left), _Frames(right)
    ids = _Ids()
    number = cut
    while number > b.first and _is_same_frame(a, b, number - 1, ids if conditions.tracks else None):
        number -= 1
    frames = cut - number
    if frames == 0:
        raise Disagreement("the frames before the cut differ")
    if (a.row(cut - 1)["digest"], b.row(cut - 1)["digest"]) == (0, 0):
        raise Disagreement("no picture was compared")
    living = {}
    if conditions.tracks:
        _check_scene(b, number, cut, conditions.event_hold)
        living = _living(a, b, number, cut, ids)
    elif number != b.first:
        raise Disagreement(f"only {frames} of {cut - b.first} frames are equal: the decoder gives other pictures")
    return Agreement(frames, a.ids_before(cut), b.ids_before(cut), living)


class _Ids:
    """Which track is which: both tables are in order of id, so the n-th of one is the n-th of the other."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}  # right: left
        self.older: dict[int, int] = {}
        self._taken: dict[int, int] = {}

    def pair(self, right: int, left: int) -> bool:
        """False: they contradict an earlier pair."""
        return self.of.setdefault(right, left) == left and self._taken.setdefault(left, right) == right

    def left(self, right: int) -> int | None:
        """0 stays 0; None: not known."""
        return self.of.get(right) if right else 0


def _is_same_frame(a: _Frames, b: _Frames, number: int, ids: _Ids | None) -> bool:
    """ids: None: nothing is tracked, so that records must be equal in all fields."""
    if a.names(number) != b.names(number) or not _is_same(a.row(number), b.row(number), _FRAME_FIELDS):
        return False
    left, right = a.row(number)["digest"], b.row(number)["digest"]
    if left and right and left != right:
        return False
    if ids is None:
        return a.records("components", number).tobytes() == b.records("components", number).tobytes()
    return (_are_same_tracks(a.records("tracks", number), b.records("tracks", number), ids)
            and _are_same_components(a.records("components", number), b.records("components", number), ids)
            and _are_same_events(a.records("events", number), b.records("events", number), ids))


def _is_same(left: numpy.ndarray, right: numpy.ndarray, fields: tuple[str, ...]) -> bool:
    """Byte for byte: a value that is not a number is equal to itself."""
    return all(left[field].tobytes() == right[field].tobytes() for field in fields)


def _without(array: numpy.ndarray, fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in array.dtype.names if name not in fields)


def _are_same_tracks(left: numpy.ndarray, right: numpy.ndarray, ids: _Ids) -> bool:
    if not _is_same(left, right, _without(left, _TRACK_HISTORY)):
        return False
    for one, other in zip(left.tolist(), right.tolist()):
        a, b = dict(zip(left.dtype.names, one)), dict(zip(left.dtype.names, other))
        older = a["age"] - b["age"]
        if older < 0 or (older == 0) != (a["first_time"] == b["first_time"]) or not ids.pair(b["id"], a["id"]):
            return False
        if ids.older.setdefault(b["id"], older) != older:
            return False
    return True


def _are_same_components(left: numpy.ndarray, right: numpy.ndarray, ids: _Ids) -> bool:
    if not _is_same(left, right, _without(left, _COMPONENT_HISTORY)):
        return False
    return all(
        ids.left(b) == a and age_a - age_b == ids.older.get(b, 0)
        for a, b, age_a, age_b in zip(
            left["id"].tolist(), right["id"].tolist(), left["age"].tolist(), right["age"].tolist()))


def _are_same_events(left: numpy.ndarray, right: numpy.ndarray, ids: _Ids) -> bool:
    if not _is_same(left, right, _without(left, ("id", "other"))):
        return False
    for one, other in zip(left, right):
        # A track that died is in no table of this frame, but in those before, which come next.
        for field in ("id", "other"):
            a, b = int(one[field]), int(other[field])
            if field == "other" and one["type"] == _CROWDED or 0 in (a, b):
                if a != b:
                    return False
            elif not ids.pair(b, a):
                return False
    return True


def _check_scene(b: _Frames, begin: int, cut: int, hold: int) -> None:
    """Both know whether the scene has stopped."""
    rows = b.piece.frames[begin - b.first:cut - b.first]
    if (rows["n_components"] > 0).any():
        return
    if int(rows["pts"][-1]) - int(rows["pts"][0]) <= hold or rows["relearning"].any():
        raise Disagreement("nothing is in the scene, and not for longer than event-hold")


def _living(a: _Frames, b: _Frames, begin: int, cut: int, ids: _Ids) -> dict[int, Past]:
    lefts, rights = a.records("tracks", cut - 1), b.records("tracks", cut - 1)
    names = lefts.dtype.names
    pairs = [(dict(zip(names, one)), dict(zip(names, other))) for one, other in zip(lefts.tolist(), rights.tolist())]
    _check_births(b, begin, cut, [right for _, right in pairs], ids)
    living = {}
    for left, right in pairs:
        if ids.left(right["parent"]) != left["parent"]:
            raise Disagreement("a track has another parent")
        living[right["id"]] = Past(left["id"], left["parent"])
    return living


def _check_births(b: _Frames, begin: int, cut: int, living: list[dict], ids: _Ids) -> None:
    """The state of each track is made of frames that both have seen, and of no track that is older."""
    oldest = max((track["age"] for track in living), default=0)
    if oldest >= cut - begin or any(ids.older[track["id"]] for track in living):
        raise Disagreement("a track is in view that began before the frames that are equal")
    known = {track["id"] for track in living}
    for number in range(cut - 1 - oldest, cut):
        tracks = b.records("tracks", number)
        is_living = numpy.isin(tracks["id"], list(known))
        if (tracks["flags"][is_living] & _SHARED).any() and _has_older(tracks[~is_living], number - begin):
            raise Disagreement("a track has touched one that began before the frames that are equal")


def _has_older(tracks: numpy.ndarray, frames: int) -> bool:
    return bool((tracks["age"] > frames).any())
