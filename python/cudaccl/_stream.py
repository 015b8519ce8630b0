# SPDX-License-Identifier: LGPL-2.1-or-later
"""What remembers the images before: tracks and background models."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy

from cudaccl import _core, _regions, _settings
from cudaccl._device_array import DeviceArray
from cudaccl._engine import Engine, plane_bits
from cudaccl._keywords import DEFAULTS
from cudaccl._result import Result

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Tracker(Engine):
    """Follows the components of consecutive images: each has the id of its track, and there are events.

        tracker = cudaccl.Tracker((720, 1280), foreground="motion", min_area=150, track_confirm=3)
        for time, image in stream:
            result = tracker(image, time=time)
            result.records["id"], result.tracks, result.events

    shape: (height, width) of the images.
    labels, ids: whether `Result.labels` and `Result.ids`, the images of labels and of tracks' ids, are made.
    max_tracks: length of the table of tracks, 1 to 16384. Components for which it has no room have the id 0.
    regions: as of `Engine`; zones and lines in it make events. `zones` and `lines` have their names.

    All else is as of `Engine`; the settings track_confirm, track_lost_ms and event_hold_ms belong to it. The rules are
    those of the element with track=true: docs/tracking.md and docs/events.md.
    """

    def __init__(
        self,
        shape: Sequence[int],
        *,
        format: str = "gray",
        backend: str = "auto",
        device: int | None = None,
        labels: bool = False,
        ids: bool = False,
        output: str | None = None,
        order: str = "RGBA",
        algorithm: str = "auto",
        max_components: int = DEFAULTS["max_components"],
        max_tracks: int = DEFAULTS["max_tracks"],
        slots: int = 1,
        regions: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **settings: Unpack[_settings.Keywords],
    ) -> None:
        if len(shape) != 2:
            raise ValueError(f"shape is {tuple(shape)}; a tracker's is (height, width)")
        if operator.index(max_tracks) < 1:
            raise ValueError(f"max_tracks is {max_tracks}; it is at least 1")
        self._setup(
            shape, format, backend, device, plane_bits(labels=labels, ids=ids), output, regions, dict(settings),
            {"order": _settings.number_of("order", order, _settings.ORDERS), "algorithm": algorithm,
             "max_components": max_components, "max_tracks": max_tracks, "slots": slots},
        )
        self._zones, self._lines = ((), ())
        if regions is not None:
            self._zones, self._lines = _core.region_names(_regions.source_of(regions))

    @property
    def zones(self) -> tuple[str, ...]:
        """Names of the zones, by index: `where` of an event, bit of a track's `zones`."""
        return self._zones

    @property
    def lines(self) -> tuple[str, ...]:
        """Names of the lines, by index: `where` of an event."""
        return self._lines

    def reset(self) -> None:
        """All tracks end before the next image, and a background model begins again. Ids are not used again."""
        self._resets = (True, True)


class Foreground:
    """Finds the foreground of images: the method of the element's property `foreground`, and nothing of components.

        foreground = cudaccl.Foreground((720, 1280), "motion", open_radius=1, fill_holes=500)
        for time, image in stream:
            mask = foreground(image, time=time)

    shape: (height, width) of the images.
    method: "motion" (differs from the background that was learned), "otsu", "local" or "binary"; docs/foreground.md.
    output: "mask", or "background" for the picture of what the model expects, RGBA.

    All else is as of `Engine`. Filters such as `min_area` remove small components from the mask.
    """

    def __init__(
        self,
        shape: Sequence[int],
        method: Literal["motion", "otsu", "local", "binary"] = "motion",
        *,
        format: str = "gray",
        backend: str = "auto",
        device: int | None = None,
        output: str = "mask",
        regions: Mapping[str, Any] | str | os.PathLike[str] | None = None,
        **settings: Unpack[_settings.Keywords],
    ) -> None:
        if len(shape) != 2:
            raise ValueError(f"shape is {tuple(shape)}; it is (height, width)")
        if output not in ("mask", "background"):
            raise ValueError(f"output is {output!r}; it can be mask or background")
        _settings.number_of("method", method, ("motion", "otsu", "local", "binary"))
        for name in ("labels", "max_components", "mask_on", "mask_off"):
            if name in settings:
                raise TypeError(f"Foreground has no {name}: it gives a mask of bool, or a picture")
        more: Any = {"features": (), "foreground": method, "mask_on": 1, **settings}
        self._engine = Engine(
            shape, format=format, backend=backend, device=device, labels=False, output=output, max_components=1,
            regions=regions, **more,
        )
        self._is_mask = output == "mask"
        self._level = 0
        self._is_learning = False

    @property
    def level(self) -> int:
        """With "otsu": the threshold of the last image."""
        return self._level

    @property
    def is_learning(self) -> bool:
        """With "motion": whether the background was being learned in the last image, so that its mask is empty."""
        return self._is_learning

    def __call__(self, image: Any, *, time: int | None = None) -> Any:
        """The foreground of an image, as an array of bool of the engine's shape: valid until the next call.

        For an image on a GPU it is a `DeviceArray` of uint8, 0 or 1. Parameters and errors as of `Engine`.
        """
        result: Result = self._engine(image, time=time)
        self._level, self._is_learning = result.level, result.relearning
        if self._is_mask and not isinstance(result.image, DeviceArray):
            return result.image.view(numpy.bool_)
        return result.image

    def set(self, **settings: Unpack[_settings.Settings]) -> None:
        """As `Engine.set()`."""
        self._engine.set(**settings)

    def reset(self) -> None:
        """The background is learned again from the next image on."""
        self._engine._resets = (True, False)
