# SPDX-License-Identifier: LGPL-2.1-or-later
"""One image at a time."""

from __future__ import annotations

import collections
import operator
import threading
from collections.abc import Callable, Hashable, Mapping
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy

from cudaccl import _core, _settings
from cudaccl._arrays import Array, describe, result_array, result_copy, warn_of_colors
from cudaccl._engine import DISTANCES, LABELS, Engine, plane_bits
from cudaccl._keywords import DEFAULTS
from cudaccl._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack

_KEPT = 4  # engines that each thread keeps
_FEW = DEFAULTS["max_components"]  # records for which there is room at first
_MOST = 1 << 24  # records

_TYPES = {"b1": "bool", "u1": "uint8", "u2": "uint16"}  # of pixels

_thread = threading.local()


def label(
    image: Any,
    connectivity: int = 8,
    *,
    background: int | bool = 0,
    labels: bool = True,
    backend: str | None = None,
    device: int | None = None,
    algorithm: str = "auto",
    max_components: int | None = None,
    **settings: Unpack[_settings.LabelKeywords],
) -> Result:
    """Labels the connected components of an image, and measures them.

        labels, records = cudaccl.label(image)
        cudaccl.label(image).table(["label", "area", "centroid"])

    image: array of bool, uint8 or uint16, (height, width); or (images, height, width), a batch of independent images.
        NumPy's, or one that speaks DLPack or the CUDA array interface: see `Engine`.
    connectivity: 4 or 8 neighbours; scikit-image's 1 and 2 mean the same.
    background: pixels of this value are background, all others foreground. With foreground="values" each other value
        is a segment of its own, as in `skimage.measure.label`; uint8 only. Not together with `threshold`,
        `threshold_low`, `invert`, or another `foreground`. A value other than the least and the largest makes a copy of
        the image.
    labels: whether the image of labels is made; without it the call takes less time.
    backend: "cpu" or "cuda"; None: where the image lies. device: index of the GPU, of an image on the host.
    algorithm: as of `Engine`.
    max_components: records at most, the largest components then; None: all have one.
    settings: see `cudaccl.Settings` and `cudaccl.Config`.

    Returns a `Result`, which unpacks as `labels, records`: int32 labels of the image's shape, where the image lies, and
    a structured array of `COMPONENT`. Labels are 1 to n in the raster order of the components' first pixels, as
    scikit-image's. Components that a filter removes are 0 in `labels`, and their numbers are left out.

    The result is yours. The engine is kept for the next image of this shape: four of them in each thread, until
    `cudaccl.clear_engines()`.

    Raises TypeError and ValueError as `Engine` does; ValueError if background is not a value of the image's type, and
    if there are more components than records can be, 16777216, without max_components.
    """
    return find(
        image, background, plane_bits(labels=labels), backend, device, algorithm, max_components,
        {**settings, "connectivity": connectivity})


def find(
    image: Any, background: int | bool, planes: int, backend: str | None, device: int | None, algorithm: str,
    max_components: int | None, settings: dict[str, Any],
) -> Result:
    """What label() returns, with these planes."""
    array = describe(image)
    warn_of_colors(array.shape, stacklevel=3)
    if settings.get("foreground") == "motion":
        raise ValueError("foreground='motion' needs images one after the other: cudaccl.Tracker or cudaccl.Foreground")
    if array.kind == "b1" and settings.get("foreground", "binary") == "binary":
        for name in ("threshold", "threshold_low"):
            if isinstance(settings.get(name), Integral) and settings[name] > 1:
                raise ValueError(f"{name} is {settings[name]}; an image of bool has the values 0 and 1")
    try:
        value = int(background) if isinstance(background, numpy.bool_) else operator.index(background)
    except TypeError:
        raise TypeError(f"background is {background!r}; it is a value of the image's type") from None
    flip = 0
    if value != 0:
        image, flip, more = _without_background(image, array.kind, value, settings)
        settings.update(more)
        array = describe(image)
    if backend is None:
        backend = "cuda" if array.on_device else "cpu" if device is None else "cuda"
    if array.on_device and device is None and array.device_id >= 0:
        device = array.device_id
    config, of_image = _settings.split(settings)
    numbers = _settings.numbers(of_image)
    place = (array.shape, array.kind, array.on_device, backend, device)
    key = (*place, algorithm, planes, _typed(config), _typed(numbers))
    if max_components is not None:
        return _owned(_run(key, operator.index(max_components), array, image), flip)
    return _owned(with_all_records(lambda room: _run(key, room, array, image)), flip)


def with_all_records(run: Callable[[int], Result]) -> Result:
    """run: labels with a table of so many records. It is called once more if there are more components.

    Raises ValueError if no table has room for all.
    """
    result = run(_FEW)
    while _has_overflow(result):
        count = _largest_count(result)
        if count > _MOST:
            raise ValueError(
                f"the image has {count} components, and at most {_MOST} can have records: min_area removes small ones")
        result = run(1 << (count - 1).bit_length())
    return result


def _typed(settings: Mapping[str, Any]) -> tuple[tuple[str, type, Any], ...]:
    """For the key of an engine: 2 equals 2.0, which no engine takes."""
    for name, value in settings.items():
        if not isinstance(value, Hashable):
            raise TypeError(f"{name} is {value!r}; it is a number, and no array")
    return tuple((name, type(value), value) for name, value in settings.items())


def clear_engines() -> None:
    """Frees what `label()` and `distance()` keep: the engines of this thread, and the memory of results that died."""
    _engines().clear()
    _core.ResultMemory.free_idle()


class _OneImageEngine(Engine):
    """Its results have arrays of their own: page-locked memory would take longer to get than it saves."""

    def _run(self, array: Array, image: Any) -> Result:
        self._prepare(array)
        if len(self._shape) == 3:
            result = self._run_batch(array, None)
        else:
            self._push(array, image, None, None)
            result = self.pop()
            result.records = result_copy(result.records)
        self._free.clear()
        return result

    def _array(self, shape: tuple[int, ...], dtype: Any, on_device: bool) -> Any:
        return super()._array(shape, dtype, True) if on_device else result_array(shape, dtype)


def _engines() -> collections.OrderedDict[Any, _OneImageEngine]:
    try:
        engines: collections.OrderedDict[Any, _OneImageEngine] = _thread.engines
    except AttributeError:
        engines = _thread.engines = collections.OrderedDict()
    return engines


def _run(key: tuple[Any, ...], room: int, array: Array, image: Any) -> Result:
    """By a kept engine. After an error, or Ctrl-C, it may hold an image or no memory, so it is not kept."""
    try:
        return _engine(key, room)._run(array, image)
    except BaseException:
        _engines().pop((key, room), None)
        raise


def _engine(key: tuple[Any, ...], room: int) -> _OneImageEngine:
    engines = _engines()
    if (key, room) in engines:
        engines.move_to_end((key, room))
        return engines[key, room]
    shape, _, _, backend, device, algorithm, planes, config, numbers = key
    if len(shape) not in (2, 3):
        raise ValueError(f"an image is (height, width), and a batch (images, height, width); this is {shape}")
    if min(shape) < 1:
        raise ValueError(f"the image is empty: its shape is {shape}")
    engine = _OneImageEngine(
        shape, backend=backend, device=device, labels=bool(planes & LABELS), distances=bool(planes & DISTANCES),
        algorithm=algorithm, max_components=room, slots=4 if len(shape) == 3 and backend == "cuda" else 1,
        **{name: value for name, _, value in config},
    )
    engine._set_numbers({name: value for name, _, value in numbers})
    while len(engines) >= _KEPT:
        engines.popitem(last=False)
    engines[key, room] = engine
    return engine


def _without_background(
    image: Any, kind: str, value: int, settings: Mapping[str, Any]
) -> tuple[Any, int, Any]:
    """(image, what its values were combined with, more settings) with the same foreground, and 0 as background."""
    largest = {"b1": 1, "u1": 255, "u2": 65535}.get(kind)
    if largest is not None and not 0 <= value <= largest:
        raise ValueError(f"background is {value}; an image of {_TYPES[kind]} has values from 0 to {largest}")
    for name in ("threshold", "threshold_low", "invert"):
        if name in settings:
            raise ValueError(f"{name} and background exclude each other")
    foreground = settings.get("foreground", "binary")
    if foreground not in ("binary", "values"):
        raise ValueError(f"background means nothing with foreground={foreground!r}")
    if largest is None:
        return image, 0, {}
    if foreground == "values":
        return image ^ image.dtype.type(value), value, {}
    if value == largest:
        return image, 0, {"threshold": largest, "invert": True}
    return image != value, 0, {}


def _has_overflow(result: Result) -> bool:
    return any(result.overflow) if isinstance(result.overflow, list) else result.overflow


def _largest_count(result: Result) -> int:
    return max(result.n_components) if isinstance(result.n_components, list) else result.n_components


def _owned(result: Result, flip: int) -> Result:
    if flip:
        for records in result.records if isinstance(result.records, list) else [result.records]:
            records["value"] ^= flip
    return result
