# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of two people who meet, walk together and part: masks, and the tracks of each line of settings below them."""

import itertools

import cv2
import numpy as np

from evaluate import MIN_VISIBLE
from real_bench import COLORS

N_PICTURES = 8
APART, TOGETHER = 8, 20  # frames, at least, on each side of it and in it
WALKED = 0.3             # of a person's height, while together
MARGIN = 0.4             # of a person's height, around both
HEIGHT = 220             # of a picture
BACKGROUND, PEOPLE = (40, 40, 40), (150, 150, 150)


def boxes_by_frame(truth, size):
    """Of people who are whole in the picture: the box of one who is not does not say where they are."""
    return [{int(line[1]): line[2:6] for line in frame if line[7] >= MIN_VISIBLE and (line[2:4] > 0).all()
             and (line[2:4] + line[4:6] < size).all()} for frame in truth]


def are_together(a, b):
    """Closer side by side than a tenth of their height, so that a mask joins them, and as near as one another."""
    gap = max(a[0], b[0]) - min(a[0] + a[2], b[0] + b[2])
    return gap < 0.1 * min(a[3], b[3]) and abs(a[1] + a[3] - b[1] - b[3]) < 0.3 * min(a[3], b[3])


def go_together(frames, numbers, a, b):
    """Not past one another."""
    first, last = frames[numbers[0]], frames[numbers[-1]]
    ways = [last[one][:2] - first[one][:2] for one in (a, b)]
    return min(np.linalg.norm(way) for way in ways) > WALKED * first[a][3] and ways[0] @ ways[1] > 0


def encounters(frames):
    """(frames together, first, last, both ids) of each pair that is apart before and after: the longest one first."""
    found = []
    pairs = {pair for frame in frames for pair in itertools.combinations(sorted(frame), 2)}
    for a, b in sorted(pairs):
        states = [are_together(frame[a], frame[b]) if a in frame and b in frame else None for frame in frames]
        runs = [(state, [number for number, _ in run])
                for state, run in itertools.groupby(enumerate(states), lambda one: one[1])]
        for before, during, after in zip(runs, runs[1:], runs[2:]):
            if (before[0], during[0], after[0]) == (False, True, False) and len(during[1]) >= TOGETHER and \
                    min(len(before[1]), len(after[1])) >= APART and go_together(frames, during[1], a, b):
                reach = min(len(during[1]) // 2 + APART, len(before[1]), len(after[1]))
                found.append((len(during[1]), during[1][0] - reach, during[1][-1] + reach, (a, b)))
    return sorted(found, reverse=True)


def view(frames, first, last, pair, size):
    """The part of the picture in which both are, all the time."""
    both = np.array([frames[number][one] for number in range(first, last + 1) for one in pair if one in frames[number]])
    margin = MARGIN * both[:, 3].max()
    low = np.maximum(0, both[:, :2].min(axis=0) - margin).astype(int)
    high = np.minimum(size, (both[:, :2] + both[:, 2:]).max(axis=0) + margin).astype(int)
    return low, high


def picture(mask, boxes, low, high):
    """Enlarged, with a box and the id of each track."""
    zoom = HEIGHT / (high[1] - low[1])
    part = cv2.resize(mask[low[1]:high[1], low[0]:high[0]], None, fx=zoom, fy=zoom, interpolation=cv2.INTER_NEAREST)
    result = np.where(part[:, :, None] > 0, np.uint8(PEOPLE), np.uint8(BACKGROUND))
    for identity, box in boxes:
        left, top = ((box[:2] - low) * zoom).astype(int)
        right, bottom = ((box[:2] + box[2:] - low) * zoom).astype(int)
        color = COLORS[identity % len(COLORS)]
        cv2.rectangle(result, (left, top), (right, bottom), color, 2)
        cv2.putText(result, str(identity), (left + 4, top + 18), cv2.FONT_HERSHEY_SIMPLEX, 0.55, color, 2, cv2.LINE_AA)
    return cv2.copyMakeBorder(result, 2, 2, 2, 2, cv2.BORDER_CONSTANT, value=(255, 255, 255))


def strip(clip, lines, path):
    """Writes a row of pictures for each of the lines (results of all frames). False without such a pair."""
    masks = clip.pixels()
    size = masks.shape[:0:-1]
    frames = boxes_by_frame(clip.truth(), size)
    found = encounters(frames)
    if not found:
        return False
    _, first, last, pair = found[0]
    low, high = view(frames, first, last, pair, size)
    numbers = np.linspace(first, last, N_PICTURES).astype(int)
    rows = [np.hstack([picture(masks[number], zip(*results[number]), low, high) for number in numbers])
            for results in lines]
    cv2.imwrite(str(path), np.vstack(rows))
    return True
