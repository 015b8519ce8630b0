# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws annotated people as the foreground mask that a background model would give: silhouettes in their boxes.

A silhouette has a head, a torso, arms, and legs that swing with the way that is walked; build and gait differ from person
to person. Who is nearer, whose box ends lower, hides the others. What is foreground is the union, so people who touch are
one component. Of what a person wears and of what is behind there are grey values: where both are alike the mask has a
hole, which stays with the place while the person moves on. All is the same for the same name.
"""

import hashlib
from dataclasses import dataclass

import cv2
import numpy as np

SHIFT = 4  # fractional bits of coordinates
GAIT = 0.8  # of one's own height: the way of two steps
DEPTH = 3   # how many times as far as the picture shows somebody goes who approaches
SMOOTH = 9  # frames over which an annotated place is averaged, since it is in whole pixels
WAIST = (0.46, 0.52)


@dataclass(frozen=True)
class Quality:
    edge: float = 0      # pixels by which an outline trembles
    alike: float = 0     # greys that differ by less are a hole; what is worn and what is behind both have σ 1
    gaps: float = 0      # share of people with a belt that is often missing
    specks: float = 0    # in a frame of 100,000 pixels


QUALITIES = {"clean": Quality(), "ragged": Quality(0.9, 0.1, 0.1, 3), "broken": Quality(1.2, 0.35, 0.3, 10)}


def generator(*names):
    return np.random.default_rng(int.from_bytes(hashlib.sha256(" ".join(map(str, names)).encode()).digest()[:8], "little"))


def smooth_noise(random, size, sigmas):
    """With mean 0 and deviation 1."""
    field = np.zeros(size[::-1], np.float32)
    for sigma in sigmas:
        one = cv2.GaussianBlur(random.standard_normal(size[::-1], np.float32), None, sigma)
        field += one / one.std()
    return field / np.sqrt(len(sigmas))


def averaged(values):
    """A moving average that holds the ends."""
    half = SMOOTH // 2
    padded = np.pad(values, ((half, half), (0, 0)), mode="edge")
    return np.stack([padded[i:i + len(values)] for i in range(SMOOTH)]).mean(axis=0)


class Person:
    """Build, clothes and gait of one annotated person."""

    def __init__(self, sequence, lines):
        self.identity = int(lines[0, 1])
        self.random = random = generator(sequence, self.identity)
        self.frames = {int(frame): index for index, frame in enumerate(lines[:, 0])}
        self.boxes = averaged(lines[:, 2:6])
        self.shoulders, self.arms, self.stride = random.uniform((0.8, 0.04, 0.7), (1.1, 0.10, 1.0))
        self.head = random.uniform(0.055, 0.068)
        self.clothes = random.standard_normal(3).astype(np.float32)  # of the head, the torso, the legs
        self.belt, self.belt_phase = random.uniform(size=2)
        self.texture = smooth_noise(random, (32, 64), (3,)) * 0.4
        height = self.boxes[:, 3:]
        feet = self.boxes[:, :2] + self.boxes[:, 2:] * (0.5, 1)
        moves = averaged(np.diff(feet, axis=0, prepend=feet[:1]) / height)
        way = np.linalg.norm(moves * (1, DEPTH), axis=1)
        self.phase = random.uniform(0, 2 * np.pi) + 2 * np.pi * np.cumsum(way) / GAIT
        self.walking = np.clip(way / 0.004, 0, 1)  # who stands has both feet down
        self.sideways = averaged((np.abs(moves[:, :1]) + 1e-4) / (way[:, None] + 2e-4))[:, 0]

    def is_in(self, scene, frame):
        left, top, width, height = self.boxes[self.frames[frame]]
        return (left < scene.left + scene.width and left + width > scene.left
                and top < scene.top + scene.height and top + height > scene.top)

    def silhouette(self, frame):
        """(left, top, mask, greys) in the sequence's picture."""
        index = self.frames[frame]
        left, top, width, height = self.boxes[index]
        x, y = int(np.floor(left)) - 1, int(np.floor(top)) - 1
        mask = np.zeros((int(np.ceil(height)) + 3, int(np.ceil(width)) + 3), np.uint8)
        self.draw(mask, left - x, top - y, width, height, index)
        rows = np.arange(len(mask)) / height
        parts = np.select([rows < 0.16, rows < 0.5], [self.clothes[0], self.clothes[1]], self.clothes[2])
        greys = parts[:, None] + cv2.resize(self.texture, mask.shape[::-1], interpolation=cv2.INTER_LINEAR)
        return x, y, mask, greys.astype(np.float32)

    def draw(self, mask, left, top, width, height, index):
        """Parts as shares of the height; what goes sideways is limited by the box."""
        swing, lift = np.sin(self.phase[index]) * self.walking[index], np.cos(self.phase[index]) * self.walking[index]
        sideways = min(1, self.sideways[index] * 1.5)
        half, middle = width / 2, left + width / 2
        torso = min(half * 0.95, height * (0.11 + 0.03 * (1 - sideways)) * self.shoulders)
        step = min(half - 0.03 * height, 0.2 * height * self.stride) * sideways * swing
        apart = 0.035 * height * (1 - 0.7 * sideways)

        def at(dx, part):
            return middle + dx, top + part * height

        ellipse(mask, *at(0, 0.07), self.head * height, 0.07 * height)
        limb(mask, at(0, 0.1), at(0, 0.2), 0.035 * height, 0.035 * height)
        polygon(mask, [at(-torso * 0.7, 0.15), at(torso * 0.7, 0.15), at(torso, 0.2), at(torso * 0.8, 0.53),
                       at(-torso * 0.8, 0.53), at(-torso, 0.2)])
        for side in (-1, 1):
            foot = at(side * (step + apart), 0.975 - 0.04 * max(0, side * lift))
            knee = at(side * (step * 0.45 + apart), 0.74)
            limb(mask, at(side * apart, 0.5), knee, 0.055 * height, 0.042 * height)
            limb(mask, knee, foot, 0.042 * height, 0.026 * height)
            shoulder = at(side * (torso - 0.02 * height) * (1 - 0.6 * sideways), 0.2)
            reach = -side * step * 0.7 + side * self.arms * height * (1 - sideways)
            hand = (np.clip(shoulder[0] + reach, left + 0.02 * height, left + width - 0.02 * height), top + 0.5 * height)
            limb(mask, shoulder, hand, 0.032 * height, 0.022 * height)

    def has_gap(self, frame, share):
        """Of these people the belt is missing in six of ten frames, in rows of them."""
        return self.belt < share and np.sin(frame / 11 + self.belt_phase * 6.28) > -0.3


def fixed(points):
    return np.round(np.array(points) * (1 << SHIFT)).astype(np.int32)


def polygon(mask, points):
    cv2.fillConvexPoly(mask, fixed(points), 255, shift=SHIFT)


def ellipse(mask, x, y, across, along):
    cv2.ellipse(mask, fixed((x, y)).tolist(), fixed((across, along)).tolist(), 0, 0, 360, 255, -1, shift=SHIFT)


def limb(mask, begin, end, thick, thin):
    """A tapered capsule, by its radii."""
    (x0, y0), (x1, y1) = begin, end
    length = np.hypot(x1 - x0, y1 - y0)
    nx, ny = (y0 - y1) / length, (x1 - x0) / length
    polygon(mask, [(x0 + nx * thick, y0 + ny * thick), (x1 + nx * thin, y1 + ny * thin),
                   (x1 - nx * thin, y1 - ny * thin), (x0 - nx * thick, y0 - ny * thick)])
    ellipse(mask, x1, y1, thin, thin)


class Painter:
    """Masks and truth of scenes of one sequence."""

    def __init__(self, source, lines):
        self.source = source
        self.people = {int(one): Person(source.name, lines[lines[:, 1] == one]) for one in np.unique(lines[:, 1])}
        self.behind = smooth_noise(generator(source.name, "behind"), source.size, (14, 4))

    def paint(self, scene, quality):
        """(masks, truth): uint8 frames, and of each frame lines of evaluate.py: frame, person, box, a column it does not
        read, visible part. The box is that of the silhouette in the picture, without what is wrong with the mask."""
        random = generator(scene.name, "mask")
        found = [self.frame(scene, number, quality, random) for number in range(scene.begin, scene.end)]
        return np.stack([mask for mask, _ in found]), [truth for _, truth in found]

    def frame(self, scene, number, quality, random):
        shape = (scene.height, scene.width)
        mask, owner = np.zeros(shape, np.uint8), np.zeros(shape, np.int32)
        here = sorted((one for one in self.people.values() if number in one.frames and one.is_in(scene, number)),
                      key=lambda one: one.boxes[one.frames[number], [1, 3]].sum())
        boxes, sizes = {}, {}
        for person in here:  # the nearest one last
            x, y, silhouette, greys = person.silhouette(number)
            place = part_of(x - scene.left, y - scene.top, silhouette.shape, shape)
            if place is None:
                continue
            target, own = place
            is_own = silhouette[own] > 0
            if not is_own.any():
                continue
            owner[target][is_own] = person.identity
            corner = (target[1].start, target[0].start, 0, 0)
            boxes[person.identity] = np.array(cv2.boundingRect(is_own.astype(np.uint8))) + corner
            sizes[person.identity] = np.count_nonzero(silhouette)
            behind = self.behind[scene.top:, scene.left:][target]
            is_shown = np.abs(greys[own] - behind) >= quality.alike
            if person.has_gap(number, quality.gaps):
                rows = (np.arange(len(silhouette))[own[0]] - 1) / person.boxes[person.frames[number], 3]
                is_shown[(rows > WAIST[0]) & (rows < WAIST[1])] = False
            mask[target][is_own] = np.where(is_shown, 255, 0)[is_own]
        truth = [[number, one, *box, 0, np.count_nonzero(owner == one) / sizes[one]] for one, box in boxes.items()]
        return spoiled(mask, quality, random), np.array(truth, float).reshape(-1, 8)


def part_of(x, y, size, shape):
    """What of a patch is in the picture: slices there, and in the patch."""
    low, high = (max(0, y), max(0, x)), (min(shape[0], y + size[0]), min(shape[1], x + size[1]))
    if low[0] >= high[0] or low[1] >= high[1]:
        return None
    return (tuple(slice(a, b) for a, b in zip(low, high)),
            tuple(slice(a - start, b - start) for a, b, start in zip(low, high, (y, x))))


def spoiled(mask, quality, random):
    """Specks, and outlines that tremble: the blurred mask falls by about a quarter for each pixel outwards."""
    if quality.specks:
        for _ in range(random.poisson(quality.specks * mask.size / 1e5)):
            x, y = random.uniform((0, 0), mask.shape[::-1])
            ellipse(mask, x, y, *random.uniform(0.5, 2.5, 2))
    if quality.edge:
        noise = smooth_noise(random, mask.shape[::-1], (1.0,)) * quality.edge * 32
        mask = np.where(cv2.GaussianBlur(mask, None, 1.2) + noise >= 128, 255, 0).astype(np.uint8)
    return mask
