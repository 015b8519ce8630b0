# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is found in an image, and its columns by scikit-image's names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy

from cudaccl._types import EVENT, TRACK

STAGES = ("upload", "segment", "label", "number", "measure", "track", "paint", "download")
NO_TRACKS = numpy.empty(0, TRACK)
NO_EVENTS = numpy.empty(0, EVENT)


class Result:
    """Labels and records of an image. It unpacks as `labels, records`.

    labels: int32, of the image's shape: 0 for background, 1 to n in the raster order of each component's first pixel.
        An array on the GPU for an image on the GPU. None if no labels were asked for.
    records: structured array of dtype `COMPONENT`, by ascending label; of a batch, a list with one array per image.
    n_labels: components in the image.
    n_components: those that the filters keep.
    overflow: whether there are more than `max_components` of them, so that only the largest have records.
    level: with `foreground="otsu"` the threshold that was found; else 0.
    relearning: with `foreground="motion"`: the background is being learned, so there are no components.
    tracks, events: structured arrays of dtype `TRACK` and `EVENT`; empty unless a `Tracker` found them.
    ids: of a `Tracker` with ids=True: as labels, but the id of each pixel's track, 0 for none; else None.
    distances: of an `Engine` with distances=True: uint32, as labels, but the squared distance to the nearest pixel that is
        not of the component; else None. `NO_DISTANCE` if there is no such pixel.
    image: what was painted, with `output`; else None.

    Of a batch, n_labels, n_components, overflow, level and relearning are lists.
    """

    __slots__ = (
        "labels", "records", "ids", "n_labels", "n_components", "overflow", "level", "relearning", "tracks", "events",
        "distances", "image", "_times", "_measured", "_connectivity",
    )

    labels: Any
    records: Any
    ids: Any
    n_labels: Any
    n_components: Any
    overflow: Any
    level: Any
    relearning: Any
    tracks: numpy.ndarray
    events: numpy.ndarray
    distances: Any
    image: Any
    _times: Any

    def __init__(self, measured: int, connectivity: int) -> None:
        self.tracks = NO_TRACKS
        self.events = NO_EVENTS
        self.ids = None
        self.distances = None
        self.image = None
        self._measured = measured
        self._connectivity = connectivity

    def __iter__(self) -> Iterator[Any]:
        return iter((self.labels, self.records))

    def __repr__(self) -> str:
        return f"<cudaccl.Result: {self.n_components} components>"

    @property
    def times(self) -> Any:
        """Microseconds of each stage, by the stage's name; of a batch, a list. On a GPU events measured them, and the algorithm
        "runs" reports all that it does as "label". On the CPU nothing is uploaded or downloaded.
        """
        if isinstance(self._times, list):
            return [dict(zip(STAGES, times)) for times in self._times]
        return dict(zip(STAGES, self._times))

    def table(self, properties: Iterable[str] | None = None, separator: str = "-") -> dict[str, numpy.ndarray]:
        """Columns as `skimage.measure.regionprops_table()` returns them, one row per record.

        properties: names of scikit-image, such as ("label", "bbox", "centroid"), or one; None: all that are known.
        separator: between the name of a property and its index, as in "bbox-0".

        Coordinates are (row, column). The names of scikit-image stand for its definitions: label, area, num_pixels,
        bbox, area_bbox, extent, centroid, centroid_local, equivalent_diameter_area, moments_central (order 2),
        inertia_tensor, inertia_tensor_eigvals, axis_major_length, axis_minor_length, eccentricity, orientation, and
        with 8-connectivity euler_number. Its `perimeter` is an estimate of a length, which cudaccl does not make.

        Columns that scikit-image does not have: perimeter_edges (the field `perimeter`, pixel edges),
        euler_number_4 (with 4-connectivity; scikit-image's is always that of 8), id, age, flags, and of a batch frame
        (the index of the image).

        Values come from centroids and moments of 32-bit floats: about 7 digits of them are right. Source of the
        definitions: scikit-image, skimage.measure.regionprops.

        Raises ValueError for a property that is not known, or that was not measured (`features`).
        """
        if isinstance(self.records, list):
            counts = [len(records) for records in self.records]
            records = numpy.concatenate(self.records)
            frame = numpy.repeat(numpy.arange(len(counts)), counts)
        else:
            records, frame = self.records, None
        possible = _possible(self._measured, self._connectivity, frame is not None)
        if isinstance(properties, str):
            properties = (properties,)
        columns: dict[str, numpy.ndarray] = {}
        for name in possible if properties is None else properties:
            if name == "frame" and frame is not None:
                columns[name] = frame
                continue
            if name not in possible:
                raise ValueError(f"the table has no {name!r}; it has {', '.join(possible)}")
            for index, column in _COLUMNS[name](records).items():
                columns[separator.join((name, *map(str, index)))] = column
        return columns


def _possible(measured: int, connectivity: int, is_batch: bool) -> list[str]:
    names = ["frame"] if is_batch else []
    for name in _COLUMNS:
        needs = _NEEDS.get(name, 0)
        if needs & ~measured == 0 and _CONNECTIVITY_OF.get(name, connectivity) == connectivity:
            names.append(name)
    return names


_Columns = dict[tuple[int, ...], numpy.ndarray]


def _one(compute: Callable[[numpy.ndarray], numpy.ndarray]) -> Callable[[numpy.ndarray], _Columns]:
    return lambda records: {(): compute(records)}


def _reals(records: numpy.ndarray, name: str) -> numpy.ndarray:
    return records[name].astype(numpy.float64)


def _bbox(r: numpy.ndarray) -> _Columns:
    left, top = r["x"].astype(numpy.int64), r["y"].astype(numpy.int64)
    return {(0,): top, (1,): left, (2,): top + r["height"], (3,): left + r["width"]}


def _box_area(r: numpy.ndarray) -> numpy.ndarray:
    return _reals(r, "width") * _reals(r, "height")


def _central(r: numpy.ndarray) -> _Columns:
    area = _reals(r, "area")
    return {
        (0, 0): area, (0, 2): _reals(r, "mxx") * area, (1, 1): _reals(r, "mxy") * area,
        (2, 0): _reals(r, "myy") * area,
    }


def _tensor(r: numpy.ndarray) -> _Columns:
    mixed = -_reals(r, "mxy")
    return {(0, 0): _reals(r, "mxx"), (0, 1): mixed, (1, 0): mixed, (1, 1): _reals(r, "myy")}


def _eigenvalues(r: numpy.ndarray) -> _Columns:
    mxx, myy = _reals(r, "mxx"), _reals(r, "myy")
    mean = (mxx + myy) / 2
    root = numpy.hypot((mxx - myy) / 2, _reals(r, "mxy"))
    return {(0,): mean + root, (1,): numpy.maximum(mean - root, 0)}


def eccentricity(r: numpy.ndarray) -> numpy.ndarray:
    """Of each record. `max-eccentricity` compares this."""
    large, small = _eigenvalues(r).values()
    return numpy.sqrt(1 - numpy.divide(small, large, out=numpy.ones_like(large), where=large > 0))


def _orientation(r: numpy.ndarray) -> numpy.ndarray:
    """From the rows' axis to the major axis. Where both moments are equal, scikit-image has two values."""
    mxx, mxy, myy = _reals(r, "mxx"), _reals(r, "mxy"), _reals(r, "myy")
    even = numpy.where(mxy > 0, numpy.pi / 4, -numpy.pi / 4)
    return numpy.where(mxx == myy, even, 0.5 * numpy.arctan2(2 * mxy, myy - mxx))


_COLUMNS: dict[str, Callable[[numpy.ndarray], _Columns]] = {
    "label": _one(lambda r: r["label"].astype(numpy.int64)),
    "area": _one(lambda r: _reals(r, "area")),
    "num_pixels": _one(lambda r: r["area"].astype(numpy.int64)),
    "bbox": _bbox,
    "area_bbox": _one(_box_area),
    "extent": _one(lambda r: _reals(r, "area") / _box_area(r)),
    "centroid": lambda r: {(0,): _reals(r, "cy"), (1,): _reals(r, "cx")},
    "centroid_local": lambda r: {(0,): _reals(r, "cy") - r["y"], (1,): _reals(r, "cx") - r["x"]},
    "equivalent_diameter_area": _one(lambda r: numpy.sqrt(4 * _reals(r, "area") / numpy.pi)),
    "moments_central": _central,
    "inertia_tensor": _tensor,
    "inertia_tensor_eigvals": _eigenvalues,
    "axis_major_length": _one(lambda r: 4 * numpy.sqrt(_eigenvalues(r)[(0,)])),
    "axis_minor_length": _one(lambda r: 4 * numpy.sqrt(_eigenvalues(r)[(1,)])),
    "eccentricity": _one(eccentricity),
    "orientation": _one(_orientation),
    "euler_number": _one(lambda r: r["euler"].astype(numpy.int64)),
    "euler_number_4": _one(lambda r: r["euler"].astype(numpy.int64)),
    "perimeter_edges": _one(lambda r: r["perimeter"].astype(numpy.int64)),
    "id": _one(lambda r: r["id"].astype(numpy.int64)),
    "age": _one(lambda r: r["age"].astype(numpy.int64)),
    "flags": _one(lambda r: r["flags"].astype(numpy.int64)),
}

# Feature bits, as CUDACCL_FEATURE_*.
_NEEDS = {"perimeter_edges": 2, "euler_number": 4, "euler_number_4": 4} | dict.fromkeys(
    ["moments_central", "inertia_tensor", "inertia_tensor_eigvals", "axis_major_length", "axis_minor_length",
     "eccentricity", "orientation"], 1)
_CONNECTIVITY_OF = {"euler_number": 8, "euler_number_4": 4}
