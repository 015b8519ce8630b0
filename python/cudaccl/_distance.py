# SPDX-License-Identifier: LGPL-2.1-or-later
"""Distances within the components of one image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from cudaccl import _settings
from cudaccl._arrays import describe
from cudaccl._engine import plane_bits
from cudaccl._label import find
from cudaccl._types import NO_DISTANCE

if TYPE_CHECKING:
    from typing_extensions import Unpack


def distance(
    image: Any,
    connectivity: int = 8,
    *,
    squared: bool = False,
    background: int | bool = 0,
    backend: str | None = None,
    device: int | None = None,
    algorithm: str = "auto",
    **settings: Unpack[_settings.LabelKeywords],
) -> Any:
    """The distance of each pixel to the nearest pixel that is not of its component; 0 for background.

        distances = cudaccl.distance(mask)
        radius = distances.max()

    image, connectivity, background, backend, device, algorithm: as of `label()`; a batch, too.
    squared: whether the squares are returned, which are exact integers.
    settings: as of `label()`. With a filter, components that it removes are 0. separate_aspect: a horizontal distance
        counts so many times. With `separate`, distances are those of the components before they are separated.

    Returns an array of the image's shape: float32, or with squared=True uint32. Outside the image is nothing, not
    background: a component that is the whole image has the distance infinity, and the square `NO_DISTANCE`; so have
    pixels whose square, with separate_aspect, does not fit into 32 bits. With 8
    neighbours and two kinds of pixels, distances are those of `scipy.ndimage.distance_transform_edt`, with
    `sampling=(1, separate_aspect)`.

    An image on a GPU needs squared=True: the result lies there, and its library takes the root. Engines are kept, and
    errors raised, as of `label()`.
    """
    if not squared and describe(image).on_device:
        raise ValueError("the image is on a GPU: take squared=True, and the root by the GPU's library")
    result = find(
        image, background, plane_bits(labels=False, distances=True), backend, device, algorithm, 1,
        {"features": (), **settings, "connectivity": connectivity})
    squares = result.distances
    if squared:
        return squares
    distances = numpy.sqrt(squares, dtype=numpy.float64).astype(numpy.float32)
    distances[squares == NO_DISTANCE] = numpy.inf
    return distances
