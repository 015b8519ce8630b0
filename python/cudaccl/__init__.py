# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connected components of images: labels, measurements, distances and tracks, on the GPU or the CPU.

    import cudaccl

    labels, records = cudaccl.label(image)               # one image
    distances = cudaccl.distance(image)                  # of each pixel to what is not of its component
    engine = cudaccl.Engine((1080, 1920))                # many of one size: no memory is taken for each
    table = engine(image).table(["label", "centroid"])   # scikit-image's columns

`cudaccl.gst` reads what the GStreamer element finds.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cudaccl._device_array import DeviceArray
    from cudaccl._distance import distance
    from cudaccl._engine import Engine
    from cudaccl._label import clear_engines, label
    from cudaccl._library import Algorithm, algorithms, device_count, has_cuda
    from cudaccl._result import Result
    from cudaccl._settings import Config, Settings
    from cudaccl._stream import Foreground, Tracker
    from cudaccl._types import (
        COMPONENT, EVENT, EVENT_TYPES, GREY, NO_COMPONENT, NO_DISTANCE, NO_PLACE, POLYGON, POLYGON_KINDS, TRACK, VERTEX,
        ComponentFlag, DeviceError, TrackFlag)

    __version__: str

__all__ = [
    "COMPONENT", "EVENT", "EVENT_TYPES", "GREY", "NO_COMPONENT", "NO_DISTANCE", "NO_PLACE", "POLYGON", "POLYGON_KINDS",
    "TRACK", "VERTEX", "Algorithm", "ComponentFlag", "Config", "DeviceArray", "DeviceError", "Engine", "Foreground",
    "Result", "Settings", "TrackFlag", "Tracker", "algorithms", "clear_engines", "device_count", "distance", "has_cuda",
    "label",
]

# Imported at their first use: cudaccl.gst does without the library, and the command begins before NumPy is loaded.
_MODULES = {
    **dict.fromkeys((
        "COMPONENT", "EVENT", "EVENT_TYPES", "GREY", "NO_COMPONENT", "NO_DISTANCE", "NO_PLACE", "POLYGON",
        "POLYGON_KINDS", "TRACK", "VERTEX", "ComponentFlag", "DeviceError", "TrackFlag"), "_types"),
    "Algorithm": "_library", "Config": "_settings", "DeviceArray": "_device_array", "Engine": "_engine",
    "Foreground": "_stream", "Result": "_result", "Settings": "_settings", "Tracker": "_stream", "algorithms": "_library",
    "clear_engines": "_label", "device_count": "_library", "distance": "_distance", "has_cuda": "_library",
    "label": "_label",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = importlib.import_module("cudaccl._library").version()
    elif name in _MODULES:
        value = getattr(importlib.import_module(f"cudaccl.{_MODULES[name]}"), name)
    else:
        raise AttributeError(f"module 'cudaccl' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
