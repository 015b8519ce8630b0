# SPDX-License-Identifier: LGPL-2.1-or-later
"""Planted scenes, whose truth is exact: chains of three objects that overlap, and objects that must stay whole. All of
it follows from a seed.
"""

import math

import numpy
from scipy import ndimage

SQUARE = numpy.ones((3, 3), bool)
KINDS = "discs", "side by side", "tip to tip"
NOISES = 0, 0.2, 0.4
RADII = 5, 8, 12, 20, 35, 60
OVERLAPS = 0.1, 0.2, 0.3, 0.4
LONG = 1.35  # ellipses are so much longer, and so much narrower, than discs of their area
LEAST_SPECK = 25
SIZE = 240  # of the scenes with one object


def ragged(mask, random, noise):
    """Pixels on either side of the edge change with this probability; specks that come off are no objects."""
    edge = ndimage.binary_dilation(mask, SQUARE) & ~ndimage.binary_erosion(mask, SQUARE)
    mask = mask ^ (edge & (random.random(mask.shape) < noise))
    labels = ndimage.label(mask, SQUARE)[0]
    return mask & (numpy.bincount(labels.ravel()) >= LEAST_SPECK)[labels]


def turned(x, y, angle):
    return x * math.cos(angle) + y * math.sin(angle), y * math.cos(angle) - x * math.sin(angle)


def chain(random, kind, radius, overlap, noise):
    """The truth: a number for each of three equal objects. Their centres are nearer than when they touch, by `overlap` of
    that distance. A pixel of two objects belongs to the one in which it is farther inside.
    """
    side = 9 * radius + 20
    rows, columns = numpy.indices((side, side))
    direction = random.uniform(0, 2 * math.pi)
    long, short = (radius, radius) if kind == "discs" else (radius * LONG, radius / LONG)
    along, across = (short, long) if kind == "side by side" else (long, short)
    truth, inside = numpy.zeros((side, side), numpy.int32), numpy.full((side, side), numpy.inf)
    for number in (1, 2, 3):
        step = (number - 2) * 2 * along * (1 - overlap)
        x = columns - side / 2 - step * math.cos(direction) - random.uniform(-0.5, 0.5)
        y = rows - side / 2 - step * math.sin(direction) - random.uniform(-0.5, 0.5)
        u, v = turned(x, y, direction)
        square = (u / along) ** 2 + (v / across) ** 2
        nearer = (square <= 1) & (square < inside)
        truth[nearer], inside[nearer] = number, square[nearer]
    if noise:
        mask = ragged(truth > 0, random, noise)
        nearest = ndimage.distance_transform_edt(truth == 0, return_distances=False, return_indices=True)
        truth = numpy.where(mask, truth[tuple(nearest)], 0)
    return truth


def chains(kind, noise):
    random = numpy.random.default_rng(3)
    return [chain(random, kind, radius, overlap, noise) for radius in RADII for overlap in OVERLAPS]


def empty():
    return numpy.zeros((SIZE, SIZE), bool)


def lines(x, y):
    for width in (1, 2, 3, 5, 8, 12, 20, 30):
        for degrees in (0, 17, 45, 80):
            u, v = turned(x, y, math.radians(degrees))
            yield width, (abs(u) < 100) & (abs(v) <= width / 2)


def serpentines():
    for width in (1, 2, 3, 5, 8, 12):
        mask, step, end = empty(), 2 * width + 4, SIZE - 10
        for number, top in enumerate(range(10, end - width, step)):
            mask[top:top + width, 10:end] = True
            if top + step < end - width:
                left = 10 if number % 2 else end - width
                mask[top:top + step + width, left:left + width] = True
        yield width, mask


def squares():
    for side in (3, 8, 20, 60, 150):
        mask = empty()
        mask[40:40 + side, 40:40 + side] = True
        yield side, mask


def letters():
    """L and T."""
    for side, width in ((60, 10), (60, 20), (150, 30), (150, 60)):
        for left in (30, 30 + side // 2 - width // 2):
            mask = empty()
            mask[30:30 + side, left:left + width] = True
            mask[30:30 + width, 30:30 + side] = True
            yield width, mask


def blobs(x, y, random):
    """Smooth outlines that are no ellipses."""
    angle = numpy.arctan2(y, x)
    for _ in range(10):
        waves = sum(numpy.cos(n * angle + random.uniform(0, 2 * math.pi)) * random.normal() / n for n in (2, 3, 4, 5))
        yield 60, numpy.hypot(x, y) <= 60 * (1 + 0.1 * waves)


def whole(noise):
    """Masks of one object each. With noise, thin ones are left out: it would break them."""
    random = numpy.random.default_rng(7)
    y, x = numpy.indices((SIZE, SIZE)) - SIZE / 2
    u, v = turned(x, y, 0.4)
    distance = numpy.hypot(x, y)
    scenes = [
        *lines(x, y), *serpentines(), *squares(), *letters(), *blobs(x, y, random),
        *((outer - inner, (distance >= inner) & (distance <= outer))
          for inner, outer in ((10, 12), (20, 25), (50, 60), (60, 90), (100, 104))),
        *((b, (u / a) ** 2 + (v / b) ** 2 <= 1) for a, b in ((10, 5), (40, 10), (100, 20), (60, 50), (7, 7), (100, 100))),
    ]
    masks = [mask for width, mask in scenes if not noise or width >= 4]
    return [ragged(mask, random, noise) if noise else mask for mask in masks]
