# SPDX-License-Identifier: LGPL-2.1-or-later
"""The keys of docs/records.schema.json as flat columns: of each the field of the record, and its unit."""

from __future__ import annotations

from collections.abc import Mapping

PIXELS = "px"
NANOSECONDS = "ns"

Columns = Mapping[str, tuple[str, str | None]]

_BOX: Columns = {
    "box_x": ("x", PIXELS), "box_y": ("y", PIXELS), "box_width": ("width", PIXELS), "box_height": ("height", PIXELS)}
_CENTROID: Columns = {"centroid_x": ("cx", PIXELS), "centroid_y": ("cy", PIXELS)}

COMPONENT_COLUMNS: Columns = {
    "label": ("label", None), "id": ("id", None), "age": ("age", "frames"), "area": ("area", "px²"), **_BOX,
    **_CENTROID, "moments_xx": ("mxx", "px²"), "moments_xy": ("mxy", "px²"), "moments_yy": ("myy", "px²"),
    "perimeter": ("perimeter", PIXELS), "euler": ("euler", None), "value": ("value", None)}

TRACK_COLUMNS: Columns = {
    "id": ("id", None), "age": ("age", "frames"), "component": ("component", None),
    "first_time": ("first_time", NANOSECONDS), "last_time": ("last_time", NANOSECONDS), **_BOX, **_CENTROID,
    "velocity_x": ("vx", "px/s"), "velocity_y": ("vy", "px/s"), "parent": ("parent", None)}

GREY_COLUMNS: Columns = {
    "grey_sum": ("sum", None), "grey_min": ("min", None), "grey_max": ("max", None), "grey_mean": ("mean", None),
    "grey_variance": ("variance", None), "grey_centroid_x": ("cx", PIXELS), "grey_centroid_y": ("cy", PIXELS)}
