# SPDX-License-Identifier: LGPL-2.1-or-later
"""Engines for many images of one size."""

from __future__ import annotations

import collections
import operator
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy

from cudaccl import _core, _regions, _settings
from cudaccl._arrays import (
    Array, channels_of, check_image, check_labels, describe, result_copy, row_stride, size_in_bytes, warn_of_colors)
from cudaccl._device_array import DeviceArray
from cudaccl._keywords import DEFAULTS
from cudaccl._result import Result
from cudaccl._types import COMPONENT, EVENT, TRACK, DeviceError

if TYPE_CHECKING:
    from typing_extensions import Unpack

_FORMATS = {"gray": 0, "rgb": 2, "bgr": 3, "rgba": 4, "bgra": 5}  # CUDACCL_FORMAT_*
_GRAY16 = 1
_FULL_RANGE = 1
LABELS, _IDS, DISTANCES = 1, 2, 4  # CUDACCL_PLANE_*
_NOTHING = (0, 0, 0)
_MOST_BATCH = 128  # frames of a push
_BATCH_PIXELS = 1 << 24  # of a push: as many as a GPU holds several times
_BATCH_RECORDS = 1 << 20  # of a push: 64 MB


def plane_bits(*, labels: bool, ids: bool = False, distances: bool = False) -> int:
    return (LABELS if labels else 0) | (_IDS if ids else 0) | (DISTANCES if distances else 0)


class _Planes:
    """The arrays that a frame's results are written into."""

    __slots__ = ("labels", "ids", "distances", "image", "places", "on_device", "_own")

    def __init__(
        self, labels: Any, ids: Any, distances: Any, image: Any, places: list[tuple[int, int, int]],
        on_device: bool, own: _Planes | None = None,
    ) -> None:
        self.labels = labels
        self.ids = ids
        self.distances = distances
        self.image = image
        self.places = places  #: of the four: address, stride, and bytes from one image of a batch to the next one
        self.on_device = on_device
        self._own = own  # None, not self: a cycle would keep arrays from dying with their last user

    @property
    def own(self) -> _Planes:
        """What the engine uses again: no array of the caller."""
        return self._own or self


class Engine:
    """Labels many images of one shape. After its first frame it takes no more memory.

        engine = cudaccl.Engine((1080, 1920))
        for image in images:
            labels, records = engine(image)

    shape: (height, width) of the images, or (images, height, width) for batches.
    format: "gray": bool, uint8 or uint16, one value a pixel; "rgb", "bgr", "rgba", "bgra": uint8, with a last axis of 3
        or 4 channels, of which the luma is labelled.
    backend: "auto" (a GPU if there is one), "cpu" or "cuda". device: index of the GPU.
    labels, distances: whether `Result.labels` and `Result.distances`, the images of labels and of squared distances, are
        made.
    output: what is painted into `Result.image`: None, "colorized", "overlay", "mask", "background", "foreground",
        "distance" (uint16) or "distance8" (whole pixels, uint8), all but the first as with the element's `output`.
        order: of its channels: "RGBA", "BGRA", "ARGB" or "ABGR".
    algorithm: one of `cudaccl.algorithms()`.
    max_components: length of the table of records. With more components the largest have records (`overflow`).
    slots: images that may be in flight between push() and pop().
    regions: polygons that foreground must be in, or must not be in: a dictionary, a path or a text of docs/regions.md.
    settings: see `cudaccl.Settings`, and `cudaccl.Config` for those that set() cannot change.

    An image lies on the host or on a GPU: NumPy arrays, and arrays that speak DLPack or the CUDA array interface, such
    as CuPy's and PyTorch's. It is read without a copy, after all work on its library's current stream. There may be
    room between its rows, but they lie in their order, and pixels of a row side by side. Results lie where the image lies: in NumPy arrays, or in
    `DeviceArray`. With a GPU, images that lie on it are fastest if the first one does.

    **Results are valid until the next call**: the engine writes the next ones into the same memory. Copy what must
    live longer, or give arrays of your own as `out`.

    One thread at a time may use an engine; a second one gets RuntimeError. The GIL is released while it works.

    Raises TypeError for a keyword that does not exist and a value of a wrong type, ValueError for a wrong value and
    an algorithm that the backend does not have, `DeviceError` if there is no GPU for backend="cuda", MemoryError.
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        format: str = "gray",
        backend: str = "auto",
        device: int | None = None,
        labels: bool = True,
        distances: bool = False,
        output: str | None = None,
        order: str = "RGBA",
        algorithm: str = "auto",
        max_components: int = DEFAULTS["max_components"],
        slots: int = 1,
        regions: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **settings: Unpack[_settings.Keywords],
    ) -> None:
        self._setup(
            shape, format, backend, device, plane_bits(labels=labels, distances=distances), output, regions,
            dict(settings),
            {"order": _settings.number_of("order", order, _settings.ORDERS), "algorithm": algorithm,
             "max_components": max_components, "slots": slots},
        )
        if type(self) is Engine and self._channels == 1:  # label() warns itself
            warn_of_colors(self._shape, stacklevel=2)

    def _setup(
        self, shape: Sequence[int], pixel_format: str, backend: str, device: int | None, planes: int,
        output: str | None, regions: Any, settings: dict[str, Any], config: dict[str, Any],
    ) -> None:
        if not isinstance(config["algorithm"], str):
            raise TypeError(f"algorithm is {config['algorithm']!r}; it must be a name: see cudaccl.algorithms()")
        try:
            shape = tuple(operator.index(size) for size in shape)
        except TypeError as error:
            raise TypeError(f"shape is {shape!r}; it is (height, width) or (images, height, width): {error}") from None
        if len(shape) not in (2, 3) or min(shape) < 1:
            raise ValueError(f"shape is {shape}; it is (height, width) or (images, height, width), all at least 1")
        self._shape = shape
        self._channels = channels_of(pixel_format)
        self._format = _FORMATS[pixel_format]
        self._core = _core.Engine(
            _settings.number_of("backend", backend, _settings.BACKENDS),
            -1 if device is None else operator.index(device),
        )
        self._on_gpu = self._core.device_id >= 0
        self._output = _settings.number_of("output", output or "none", _settings.OUTPUTS)
        self._bytes = (0, 4, 4, 2, 1, 4, 4, 2, 1)[self._output]
        self._planes = planes
        fixed, settings = _settings.split(settings)
        self._config = config | fixed | {
            "height": shape[-2], "width": shape[-1], "output": self._output, "planes": self._planes,
        }
        self._core.configure(self._config)
        self._has_tracks = config.get("max_tracks", 0) > 0
        if regions is not None:
            self._core.set_regions(_regions.source_of(regions))
        self._numbers: dict[str, Any] = {}
        self._measured = 7
        self._connectivity = 8
        self._foreground = 0
        self._kind = ""
        self._row_bytes = 0
        self._has_run = False
        self._must_configure = False  # before the next image
        self._known: tuple[dict[str, Any], Array] | None = None  # the last image's memory on a GPU, which was checked
        self._resets = (False, False)  # of the background, of the tracks, with the next image
        self._free: collections.deque[_Planes] = collections.deque()
        self._in_flight: collections.deque[tuple[_Planes, Any]] = collections.deque()
        self.set(**settings)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the images, channels not counted."""
        return self._shape

    @property
    def backend(self) -> str:
        """"cpu" or "cuda"."""
        return "cuda" if self._on_gpu else "cpu"

    @property
    def device(self) -> int | None:
        """Index of the GPU; None on the CPU."""
        return self._core.device_id if self._on_gpu else None

    @property
    def description(self) -> str:
        """The processor in use, for people to read."""
        return self._core.description

    def __repr__(self) -> str:
        return f"<cudaccl.{type(self).__name__} of {self._shape} on {self.description}>"

    def set(self, **settings: Unpack[_settings.Settings]) -> None:
        """Changes settings for the images that follow.

        Raises TypeError for a wrong keyword and ValueError for a wrong name, and for limits of which no component passes
        both, with those that are in force: give both in one call. Values out of range are refused with the next image.
        """
        self._set_numbers(_settings.numbers(dict(settings), self._numbers))

    def _set_numbers(self, numbers: dict[str, Any]) -> None:
        self._core.set(numbers)
        self._numbers |= numbers
        self._measured = numbers.get("features", self._measured)
        self._connectivity = numbers.get("connectivity", self._connectivity)
        self._foreground = numbers.get("foreground", self._foreground)
        self._known = None  # an image that was checked may not suit these settings

    def __call__(self, image: Any, *, time: int | None = None, out: Any = None) -> Result:
        """Labels an image, or a batch.

        image: array of the engine's shape. It must not change during the call.
        time: when the image was taken, in nanoseconds on any clock, for foreground="motion" and tracks. None: 1/30 s
            after the one before. A batch has consecutive images, so it has no time.
        out: array for the labels: int32 or uint32, of the engine's shape, rows as in an image, in the memory in which
            the image is. It must not overlap the image, and an image in flight has it until its pop().

        Returns a `Result`, valid until the next call.

        Raises TypeError for an array of a wrong type, ValueError for one of a wrong shape or order, or on a wrong
        device, and RuntimeError if images are in flight.
        """
        if self._in_flight:
            raise RuntimeError("images are in flight: pop() them first, or flush()")
        if len(self._shape) == 3:
            if time is not None:
                raise ValueError("a batch has no time: give its images one by one to an engine of (height, width)")
            return self._run_batch(self._described(image), out)
        try:
            self._push(self._described(image), image, time, out)
            return self.pop()
        except Exception:
            raise
        except BaseException:  # Ctrl-C
            self.flush()
            raise

    def push(self, image: Any, *, time: int | None = None, out: Any = None) -> None:
        """Starts an image, and returns before it is done on a GPU; parameters and errors as of the call.

        The image must not change before its pop(). ValueError if `slots` images are in flight already. Not for batches.
        """
        if len(self._shape) == 3:
            raise ValueError("a batch is labelled by calling the engine")
        self._push(self._described(image), image, time, out)

    def pop(self) -> Result:
        """Waits for the oldest image in flight. IndexError if there is none.

        Ctrl-C in this call or in push() may discard all images in flight: then begin with flush().
        """
        if not self._in_flight:
            raise IndexError("no image is in flight")
        try:
            found = self._core.pop()
        except (DeviceError, MemoryError):
            self._lose_frames()
            raise
        except Exception:
            raise
        except BaseException:  # Ctrl-C: the engine may have given the image away, or not
            self.flush()
            raise
        planes, _ = self._in_flight.popleft()
        self._free.append(planes.own)
        result = Result(self._measured, self._connectivity)
        result.labels = planes.labels
        result.distances = planes.distances
        result.image = planes.image
        (result.n_labels, result.n_components, result.overflow, result.level, result.relearning, result._times,
         records, tracks, events) = found
        result.records = numpy.frombuffer(records, COMPONENT)
        if self._has_tracks:
            result.ids = planes.ids
            result.tracks = numpy.frombuffer(tracks, TRACK)
            result.events = numpy.frombuffer(events, EVENT)
        return result

    def flush(self) -> None:
        """Discards all images in flight."""
        self._core.flush()
        while self._in_flight:
            self._free.append(self._in_flight.popleft()[0].own)

    def _described(self, image: Any) -> Array:
        interface = getattr(image, "__cuda_array_interface__", None)
        if self._known is not None and interface == self._known[0]:
            return self._known[1]
        array = describe(image)
        self._prepare(array)
        # An interface of version 3 says all: memory, form and stream. Nothing here keeps the memory alive.
        is_complete = interface is not None and interface.get("version", 0) >= 3
        self._known = (interface, array._replace(keep=None)) if is_complete else None
        return array

    def _prepare(self, array: Array) -> None:
        """Checks the image, and adapts to its type and place."""
        check_image(array, self._shape, self._channels)
        self._check_device(array, "image")
        if array.kind == "u2" and self._foreground == _settings.VALUES:  # which compares 8 bits
            raise ValueError(
                "foreground='values' needs an image of uint8, not uint16: numpy.unique(image, return_inverse=True)"
                " numbers its values")
        if array.kind != self._kind:
            self._set_kind(array.kind)
        if not self._has_run:
            self._has_run = True
            if array.on_device:  # before any result exists: this moves the engine's memory
                self._config |= {"input_memory": 1, "output_memory": 1}
                if len(self._shape) == 3:  # images on a GPU can share a launch
                    n_images, height, width = self._shape
                    room = min(self._config["max_components"], height * width)
                    most = max(min(_BATCH_PIXELS // (height * width), _BATCH_RECORDS // room), 1)
                    self._config |= {"slots": 2, "batch": min(n_images, most, _MOST_BATCH)}
                self._must_configure = True

    def _check_device(self, array: Array, name: str) -> None:
        if not array.on_device:
            return
        if not self._on_gpu:
            raise ValueError(f"the {name} is on a GPU, and the engine on the CPU: copy it, or take backend='cuda'")
        if array.device_id not in (-1, self._core.device_id):
            raise ValueError(f"the {name} is on GPU {array.device_id}, and the engine on GPU {self._core.device_id}")

    def _set_kind(self, kind: str) -> None:
        is_wide = kind == "u2"
        self._core.set_format(_GRAY16 if is_wide else self._format, 16, 0, _FULL_RANGE)
        self._row_bytes = self._shape[-1] * self._channels * (2 if is_wide else 1)
        self._kind = kind

    def _push(self, array: Array, keep: Any, time: int | None, out: Any) -> None:
        planes = self._take_planes(array.on_device) if out is None else self._planes_of(out, array)
        stride = row_stride(array, 0, self._row_bytes)
        self._configure_if_needed()
        try:
            self._core.push(
                1, (array.address, stride, 0), array.on_device, array.stream, *planes.places, planes.on_device,
                _core.NO_TIME if time is None else operator.index(time), *self._resets,
            )
            self._resets = (False, False)
            self._in_flight.append((planes, (keep, array.keep)))
        except (DeviceError, MemoryError):
            self._lose_frames()
            raise
        except Exception:
            self._free.append(planes.own)
            if time is not None and not -(1 << 63) <= time < 1 << 63:
                raise ValueError(f"time is {time}; nanoseconds must fit into 64 bits") from None
            raise
        except BaseException:  # Ctrl-C: the engine may have the image, or not
            self.flush()
            raise

    def _lose_frames(self) -> None:
        """After a failure that discards all frames, and the memory for them."""
        self._in_flight.clear()
        self._must_configure = True

    def _configure_if_needed(self) -> None:
        if self._must_configure:
            self._core.configure(self._config)
            self._must_configure = False

    def _take_planes(self, on_device: bool) -> _Planes:
        for _ in range(len(self._free)):
            planes = self._free.popleft()
            if planes.on_device == on_device:
                return planes
            self._free.append(planes)
        return self._make_planes(self._shape, on_device)

    def _array(self, shape: tuple[int, ...], dtype: Any, on_device: bool) -> Any:
        if on_device:
            return DeviceArray(self._core, shape, dtype)
        if self._on_gpu:  # page-locked
            memory = _core.Memory(self._core, False, size_in_bytes(shape, dtype))
            return numpy.frombuffer(memoryview(memory), dtype).reshape(shape)
        return numpy.empty(shape, dtype)

    def _make_planes(self, shape: tuple[int, ...], on_device: bool) -> _Planes:
        width = shape[-1]
        labels = self._array(shape, numpy.int32, on_device) if self._planes & LABELS else None
        ids = self._array(shape, numpy.int32, on_device) if self._planes & _IDS else None
        distances = self._array(shape, numpy.uint32, on_device) if self._planes & DISTANCES else None
        image = None
        if self._bytes > 0:
            pixel_type = numpy.uint16 if self._bytes == 2 else numpy.uint8
            image = self._array((*shape, 4) if self._bytes == 4 else shape, pixel_type, on_device)
        places = [
            (_address(array), stride, stride * shape[-2]) if array is not None else _NOTHING
            for array, stride in (
                (labels, 4 * width), (ids, 4 * width), (distances, 4 * width), (image, self._bytes * width))
        ]
        return _Planes(labels, ids, distances, image, places, on_device)

    def _planes_of(self, out: Any, image: Array) -> _Planes:
        """The caller's array for labels; all else has memory of the engine."""
        if not self._planes & LABELS:
            raise ValueError("out is for labels, which this engine does not make (labels=False)")
        array = describe(out)
        self._check_device(array, "array out")
        check_labels(array, image, self._shape)
        own = self._take_planes(image.on_device)
        place = (array.address, row_stride(array, -2, 4 * self._shape[-1]), array.strides[0])
        return _Planes(
            out, own.ids, own.distances, own.image, [place, *own.places[1:]], image.on_device, own
        )

    def _run_batch(self, array: Array, out: Any) -> Result:
        planes = self._take_planes(array.on_device) if out is None else self._planes_of(out, array)
        self._configure_if_needed()
        found: list[tuple[Any, ...]] = []
        n_images = self._shape[0]
        size, slots = self._config.get("batch", 1), self._config["slots"]
        input_place = (array.address, row_stride(array, 1, self._row_bytes), array.strides[0])

        def from_image(place: tuple[int, int, int], number: int) -> tuple[int, int, int]:
            address, stride, step = place
            return (address + number * step, stride, step) if address else _NOTHING

        pushed = 0
        try:
            while len(found) < n_images:
                while pushed < n_images and pushed - len(found) + min(size, n_images - pushed) <= size * slots:
                    count = min(size, n_images - pushed)
                    self._core.push(
                        count, from_image(input_place, pushed), array.on_device, array.stream,
                        *(from_image(place, pushed) for place in planes.places), planes.on_device, _core.NO_TIME,
                        False, False,
                    )
                    pushed += count
                found.append(self._pop_of_batch())
        except (DeviceError, MemoryError):
            self._lose_frames()
            raise
        except BaseException:  # Ctrl-C, too
            self._core.flush()
            raise
        finally:
            self._free.append(planes.own)
        result = Result(self._measured, self._connectivity)
        result.labels = planes.labels
        result.distances = planes.distances
        result.image = planes.image
        (result.n_labels, result.n_components, result.overflow, result.level, result.relearning, result._times,
         result.records) = map(list, zip(*found))
        return result

    def _pop_of_batch(self) -> tuple[Any, ...]:
        *numbers, records, _, _ = self._core.pop()
        return *numbers, result_copy(numpy.frombuffer(records, COMPONENT))


def _address(array: Any) -> int:
    return array.address if isinstance(array, DeviceArray) else array.__array_interface__["data"][0]
