# SPDX-License-Identifier: LGPL-2.1-or-later
"""Keywords for settings. scripts/settings writes this file from cuda/ccl/settings.def."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypedDict


class Config(TypedDict, total=False):
    """What an engine has from its beginning."""

    threads: int
    """Threads that share a frame on the CPU (0: by frame size, at most one per usable processor)."""


class LabelSettings(TypedDict, total=False):
    """What may change with each image. docs/properties.md has the ranges."""

    foreground: Literal["binary", "otsu", "local", "motion", "values"]
    """Which pixels are foreground."""
    threshold: int
    """Binary foreground is value >= threshold; at most the largest value of a pixel."""
    threshold_low: int
    """Hysteresis: pixels connect from this value on, and a component needs a pixel that reaches the threshold (0: off); with invert pixels connect below the threshold, and a component needs one below this value (foreground=binary)."""
    invert: bool
    """Foreground is value < threshold (foreground=binary, otsu and local)."""
    local_radius: int
    """Half of the side of the window that decides a pixel's threshold (foreground=local)."""
    local_offset: int
    """Grey levels subtracted from a pixel's threshold (foreground=local)."""
    local_deviation: float
    """Weight of the standard deviation in the threshold (Sauvola and Pietikäinen 2000), 0.2 to 0.5 for documents; 0: the mean (foreground=local)."""
    background_model: Literal["sigma-delta", "mixture"]
    """How the background is learned (foreground=motion)."""
    motion_sensitivity: int
    """Higher finds weaker contrasts, and more noise (foreground=motion)."""
    motion_learning_ms: int
    """Longest time for which a value must stay to become background, by the timestamps of buffers, in milliseconds."""
    motion_warm_up_ms: int
    """Time after a reset in which nothing is foreground, in milliseconds."""
    motion_max_change: float
    """Part of the background that may change at once; more is a change of light, and the model learns again."""
    motion_shadows: bool
    """Cast shadows are background, where the model can distinguish them."""
    open_radius: int
    """Radius of the opening that removes small foreground (0: none); not with foreground=values."""
    close_radius: int
    """Radius of the closing that fills small gaps of the foreground, after the opening (0: none); not with foreground=values."""
    morphology_shape: Literal["square", "cross"]
    """Structuring element of opening and closing."""
    fill_holes: int
    """Holes of at most so many pixels become foreground, after the closing (0: none); not with foreground=values."""
    separate: float
    """Cut components that are several objects, at necks lower than this part of a summit of the distance (0: off; 0.97 is best for cells, less cuts less), and with track between tracks that meet."""
    separate_aspect: int
    """How many times as high as wide objects are, for separate and distances."""
    min_area: int
    """Keep only components of at least so many pixels."""
    max_area: int
    """Keep only components of at most so many pixels (0 keeps none)."""
    min_width: int
    """Keep only components whose box has at least so many columns."""
    min_height: int
    """Keep only components whose box has at least so many rows."""
    max_width: int
    """Keep only components whose box has at most so many columns (0: no limit)."""
    max_height: int
    """Keep only components whose box has at most so many rows (0: no limit)."""
    clear_border: bool
    """Keep no component that touches the frame's border."""
    min_extent: float
    """Keep only components that fill at least this part of their box."""
    min_circularity: float
    """Keep only components whose 16 area / perimeter^2 is at least this (square: 1, disc: 0.785)."""
    max_eccentricity: float
    """Keep only components whose eccentricity is at most this (square and disc: 0, line: 1)."""
    top_n: int
    """Of those, keep only the so many largest (0: no limit)."""
    palette: Literal["golden", "glasbey", "viridis-by-area", "mono"]
    """Colours of components."""
    background_color: int
    """Colour of the background, 0xAARRGGBB."""
    color_seed: int
    """Selects other colours for the same labels."""
    overlay_alpha: float
    """Weight of the colour in output=overlay."""
    draw_boxes: bool
    """White bounding boxes in output=colorized and output=overlay."""
    draw_ids: bool
    """Ids of confirmed tracks in output=colorized and output=overlay; only with track=true."""
    draw_trails: bool
    """Trails: where confirmed tracks were, in output=colorized and output=overlay; only with track=true."""
    draw_regions: bool
    """Polygons, zones and lines of regions, with their names, in output=colorized and output=overlay."""
    mask_on: int
    """Value of a mask in components that the filter keeps."""
    mask_off: int
    """Value of a mask elsewhere."""
    track_confirm: int
    """Frames in which a track must be seen before it is confirmed, and has events."""
    track_lost_ms: int
    """Time after which a track that is not seen ends, in milliseconds."""
    event_hold_ms: int
    """Time without any component after which the scene has stopped, in milliseconds."""
    features: str | Iterable[str]
    """What to compute in addition to area, box and centroid: "all", or some of moments, perimeter, euler."""


class Settings(LabelSettings, total=False):
    """Keywords of `set()`."""

    connectivity: int
    """Which pixels are neighbours: 4 or 8; also scikit-image's 1 and 2."""


class LabelKeywords(LabelSettings, Config, total=False):
    """Keywords of `label()`."""


class Keywords(Settings, Config, total=False):
    """Keywords of `Engine`, `Tracker` and `Foreground`."""


DEFAULTS: dict[str, Any] = {
    "threads": 0,
    "max_tracks": 2048,
    "max_components": 16384,
    "connectivity": "8-way",
    "foreground": "binary",
    "threshold": 1,
    "threshold_low": 0,
    "invert": False,
    "local_radius": 15,
    "local_offset": 10,
    "local_deviation": 0.0,
    "background_model": "sigma-delta",
    "motion_sensitivity": 50,
    "motion_learning_ms": 120000,
    "motion_warm_up_ms": 1000,
    "motion_max_change": 0.625,
    "motion_shadows": True,
    "open_radius": 0,
    "close_radius": 0,
    "morphology_shape": "square",
    "fill_holes": 0,
    "separate": 0.0,
    "separate_aspect": 1,
    "min_area": 1,
    "max_area": 0xffffffff,
    "min_width": 0,
    "min_height": 0,
    "max_width": 0,
    "max_height": 0,
    "clear_border": False,
    "min_extent": 0.0,
    "min_circularity": 0.0,
    "max_eccentricity": 1.0,
    "top_n": 0,
    "palette": "golden",
    "background_color": 0xff000000,
    "color_seed": 0,
    "overlay_alpha": 0.5,
    "draw_boxes": False,
    "draw_ids": False,
    "draw_trails": False,
    "draw_regions": False,
    "mask_on": 255,
    "mask_off": 0,
    "track_confirm": 3,
    "track_lost_ms": 1000,
    "event_hold_ms": 2000,
    "features": "moments+perimeter+euler",
}

GROUPS: dict[str, tuple[str, ...]] = {
    "Where frames are labelled": ("backend", "cuda-device-id", "active-backend", "algorithm", "threads", "pipeline-depth",),
    "Foreground": ("connectivity", "foreground", "threshold", "threshold-low", "invert", "local-radius", "local-offset", "local-deviation",),
    "Motion": ("background-model", "motion-sensitivity", "motion-learning-time", "motion-warm-up", "motion-max-change", "motion-shadows",),
    "Clean-up and regions": ("open-radius", "close-radius", "morphology-shape", "fill-holes", "regions",),
    "Objects that touch": ("separate", "separate-aspect",),
    "Filters": ("min-area", "max-area", "min-width", "min-height", "max-width", "max-height", "clear-border", "min-extent", "min-circularity", "max-eccentricity", "top-n",),
    "Picture": ("output", "palette", "background-color", "color-seed", "overlay-alpha", "draw-boxes", "draw-ids", "draw-trails", "draw-regions",),
    "Tracks and events": ("track", "track-confirm", "track-lost", "max-tracks", "event-hold",),
    "Records and metadata": ("max-components", "features", "metadata", "max-objects", "meta-name", "object-type", "label-map", "post-messages", "stats",),
}
"""Names of the element's properties, grouped and in order as in docs/properties.md."""
