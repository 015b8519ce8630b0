# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenes of people who meet, walk together and part, cut out of annotated street video.

The boxes are those of the MOT challenge (frame, id, left, top, width, height, counts, class, visibility). Only fixed
cameras are taken, and only what walks: class 1. Static people (class 7) sit or stand all the time, so a background model
does not show them. Occluders of the scene are left out as well. PETS09-S2L1 is no sequence here, since it is OpenCV's
`vtest.avi`, which is kept back.
"""

import hashlib
import sys
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

PEDESTRIAN = 1
MIN_HEIGHT = 30    # of a person, in pixels of the scaled picture, in the median of all frames: as the preset `people` needs
N_FRAMES = 240     # of a scene: eight seconds
HEIGHTS = 3.5      # how many times as high as people a cut-out is
ASPECT = 4 / 3
STEPS = 8          # places of cut-outs in each direction
FEWEST, MOST = 2, 8  # people in a cut-out, in the mean
N_SCENES = 12      # of a sequence
MAX_SHARED = 0.25  # of a scene's frames and pixels with another one
MIN_SHOWN = 0.25
WALKS = 1.0        # heights that somebody moves, who walks


@dataclass(frozen=True)
class Source:
    """A sequence: where its file is, of which digest, and the picture in which people are drawn."""
    name: str
    path: str
    sha256: str
    size: tuple
    scale: float
    fps: int
    n_frames: int


MOT17 = "motmetrics/data/issue126/MOT17/train"
SOURCES = [
    Source("MOT17-02", f"{MOT17}/MOT17-02-DPM/gt/gt.txt", "2e3ecb488da8886d3200d402b2b08890c6d2879923839444e9b74fa43a551440",
           (768, 432), 0.4, 30, 600),
    Source("MOT17-04", f"{MOT17}/MOT17-04-DPM/gt/gt.txt", "f8cfbe36ef38a2e1857d7ebfe7d754b2355a3ffb9e1f9cedea435e86e4fbc948",
           (768, 432), 0.4, 30, 1050),
    Source("MOT17-09", f"{MOT17}/MOT17-09-DPM/gt/gt.txt", "592f0d5b519c03b35bb1578c33d726460f63abb91ea0c515f87e8d6d76be001d",
           (768, 432), 0.4, 30, 525),
    Source("TUD-Stadtmitte", "motmetrics/data/TUD-Stadtmitte/gt.txt",
           "009b3ef8df68c963fd8104350083fd6bc9798b6b435858b99dbd1385cfbde873", (384, 288), 0.6, 25, 179),
    Source("TUD-Campus", "motmetrics/data/TUD-Campus/gt.txt",
           "6ea5c56dffa72db2d286bf3c4593465583bfe43e9ecaa110001ccce2c4d10e39", (384, 288), 0.6, 25, 71),
]


def boxes_of(source, folder):
    """Lines of frame, id and scaled box; frames count from 0."""
    path = folder / source.path
    if not path.exists():
        print(f"left out: {source.name}: {path} is missing", file=sys.stderr)
        return None
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != source.sha256:
        sys.exit(f"error: {path} is not the file that was measured: its SHA-256 is another one")
    lines = np.array([line.split(",")[:8] for line in content.decode().splitlines()], float)
    if source.path.startswith(MOT17):  # in the files of 2015, this column is something else
        lines = lines[lines[:, 7] == PEDESTRIAN]
    lines = lines[:, :6]
    lines[:, 0] -= 1
    lines[:, 2:] *= source.scale
    tall = [one for one in np.unique(lines[:, 1]) if np.median(lines[lines[:, 1] == one, 5]) >= MIN_HEIGHT]
    lines = lines[np.isin(lines[:, 1], tall)]
    return lines[np.lexsort((lines[:, 1], lines[:, 0]))]


@dataclass(frozen=True)
class Scene:
    """A part of a sequence: frames [begin, end), and a rectangle of its picture."""
    source: Source
    begin: int
    end: int
    left: int
    top: int
    width: int
    height: int
    part: str = ""  # `development`, `check`, or `whole` sequences beside both

    @property
    def name(self):
        return self.source.name + ("" if self.part == "whole" else f" {self.begin} {self.left}+{self.top}")


def shown(boxes, scene):
    """Low and high corners in the cut-out, and the share of each box that is in it."""
    low = np.maximum(boxes[:, 2:4], [scene.left, scene.top])
    high = np.minimum(boxes[:, 2:4] + boxes[:, 4:6], [scene.left + scene.width, scene.top + scene.height])
    return low, high, np.prod(np.clip(high - low, 0, None), axis=1) / np.prod(boxes[:, 4:6], axis=1)


def groups(low, high):
    """Of each box a number of the group of boxes that touch."""
    touch = np.all(np.minimum(high[:, None], high) > np.maximum(low[:, None], low), axis=2)
    return connected_components(touch)[1]


def merit(scene, frames, walkers):
    """Frames in which two or three who walk are a group, less those in which more than three are one, and less those in
    which somebody is higher than the cut-out, as a share of all; and the mean number of people. None if no two of them
    meet or part."""
    score, people, together, n_changes = 0, 0, None, 0
    sampled = range(scene.begin, scene.end, 5)
    for frame in sampled:
        boxes = frames[frame]
        low, high, share = shown(boxes, scene)
        is_in = share >= MIN_SHOWN
        is_too_high = boxes[share > 0, 5] > scene.height
        low, high, ids = low[is_in], high[is_in], boxes[is_in, 1]
        people += len(ids)
        members = [set(ids[of == one]) for of in [groups(low, high)] for one in range(of.max() + 1)] if len(ids) else []
        sizes = [len(one) for one in members]
        pairs = {frozenset(one) for one in members if 2 <= len(one) <= 3 and one <= walkers}
        score += bool(pairs) - any(size > 3 for size in sizes) - is_too_high.any()
        n_changes += together is not None and together != pairs
        together = pairs
    return (score / len(sampled), people / len(sampled)) if n_changes >= 2 else None


def places(source, lines, n_frames):
    """All cut-outs: of people's size, so that some have room, but not a crowd."""
    height = min(source.size[1], int(HEIGHTS * np.median(lines[:, 5])) // 16 * 16)
    width = min(source.size[0], int(height * ASPECT) // 16 * 16)
    length = min(N_FRAMES, n_frames)
    lefts = np.unique(np.linspace(0, source.size[0] - width, STEPS).astype(int) // 8 * 8)
    tops = np.unique(np.linspace(0, source.size[1] - height, STEPS).astype(int) // 8 * 8)
    begins = range(0, n_frames - length + 1, length // 2)
    return [Scene(source, begin, begin + length, int(left), int(top), width, height)
            for begin in begins for left in lefts for top in tops]


def shared(a, b):
    """The part of a scene's frames and pixels that is in another one, too."""
    part = 1.0
    for low, size, other, other_size in ((a.begin, a.end - a.begin, b.begin, b.end - b.begin),
                                         (a.left, a.width, b.left, b.width), (a.top, a.height, b.top, b.height)):
        part *= max(0, min(low + size, other + other_size) - max(low, other)) / size
    return part


def scenes_of(source, lines):
    """The whole sequence, and its best cut-outs, best first."""
    frames = np.split(lines, np.searchsorted(lines[:, 0], np.arange(1, source.n_frames)))
    walkers = {one for one in np.unique(lines[:, 1])
               for own in [lines[lines[:, 1] == one]]
               for feet in [own[:, 2:4] + own[:, 4:6] * (0.5, 1)]
               if np.linalg.norm(np.ptp(feet, axis=0)) >= WALKS * np.median(own[:, 5])}
    found = []
    for scene in places(source, lines, source.n_frames):
        worth = merit(scene, frames, walkers)
        if worth and worth[0] > 0 and FEWEST <= worth[1] <= MOST:
            found.append((worth[0], scene))
    chosen = []
    for _, scene in sorted(found, key=lambda one: (-one[0], one[1].name)):
        if len(chosen) < N_SCENES and all(shared(scene, other) <= MAX_SHARED for other in chosen):
            chosen.append(scene)
    return [Scene(source, 0, source.n_frames, 0, 0, *source.size, "whole"), *halves(chosen)]


def halves(scenes):
    """In the order of a digest of their names, one for development and one for the check by turns, of as many as there
    are in a sequence; the digest of the first one says who begins."""
    digests = {hashlib.sha256(scene.name.encode()).digest(): scene for scene in scenes}
    for index, digest in enumerate(sorted(digests)):
        yield replace(digests[digest], part=("development", "check")[(min(digests)[-1] + index) % 2])
