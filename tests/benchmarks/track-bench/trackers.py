# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two public trackers that know boxes only, to compare with. Both read one frame after the other.

A frame is an array of boxes, a line each: left, top, width, height. follow() returns for each frame a list of
(index of the box, id, box of the track, whether it is reported). A box that is not reported has its id all the same:
a viewer would see it in the track's colour.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment


def overlaps(first, second):
    """Intersection over union of each box of `first` with each of `second`."""
    a, b = np.asarray(first, float).reshape(-1, 1, 4), np.asarray(second, float).reshape(1, -1, 4)
    low = np.maximum(a[..., :2], b[..., :2])
    high = np.minimum(a[..., :2] + a[..., 2:], b[..., :2] + b[..., 2:])
    both = np.prod(np.clip(high - low, 0, None), axis=2)
    either = np.prod(a[..., 2:], axis=2) + np.prod(b[..., 2:], axis=2) - both
    return both / np.maximum(either, 1e-9)


class IouTracker:
    """Bochinski, Eiselein, Sikora 2017, 'High-speed tracking-by-detection without using image information'. A track
    goes on with the box that overlaps its last one most, or ends. All detections are sure here, so σ_l and σ_h of the
    paper do not count."""

    def __init__(self, sigma_iou=0.5, t_min=2):
        self.sigma_iou, self.t_min = sigma_iou, t_min

    def follow(self, frames):
        active, found, lengths, n_ids = [], [], {}, 0  # active: (id, box)
        for boxes in frames:
            result, is_free = [], np.ones(len(boxes), bool)
            next_active = []
            overlap = overlaps([box for _, box in active], boxes)
            for row, (track, _) in enumerate(active):
                candidates = np.where(is_free, overlap[row], -1) if len(boxes) else []
                best = int(np.argmax(candidates)) if len(boxes) else -1
                if best >= 0 and candidates[best] >= self.sigma_iou:
                    is_free[best] = False
                    next_active.append((track, boxes[best]))
                    result.append((best, track, boxes[best]))
            for index in np.flatnonzero(is_free):
                n_ids += 1
                next_active.append((n_ids, boxes[index]))
                result.append((int(index), n_ids, boxes[index]))
            active = next_active
            for _, track, _ in result:
                lengths[track] = lengths.get(track, 0) + 1
            found.append(result)
        # As published: short tracks are removed when all is known.
        return [[(index, track, box, lengths[track] >= self.t_min) for index, track, box in result] for result in found]


class SortTracker:
    """Bewley, Ge, Ott, Ramos, Upcroft 2016, 'Simple online and realtime tracking': a Kalman filter for each track
    (centre, area and aspect of the box; velocities of the first three), boxes assigned by overlap with the prediction.
    Noise as published."""

    MOTION = np.eye(7) + np.eye(7, k=4)
    PROCESS = np.diag([1, 1, 1, 1, 0.01, 0.01, 0.0001])
    MEASUREMENT = np.diag([1.0, 1, 10, 10])
    START = np.diag([10.0, 10, 10, 10, 10000, 10000, 10000])

    def __init__(self, max_age=1, min_hits=3, iou=0.3):
        self.max_age, self.min_hits, self.iou = max_age, min_hits, iou
        self.states = np.zeros((0, 7))
        self.covariances = np.zeros((0, 7, 7))
        self.ids = np.zeros(0, int)
        self.unseen = np.zeros(0, int)   # frames since the last box
        self.streaks = np.zeros(0, int)  # frames with a box, one after the other
        self.n_ids = 0

    def follow(self, frames):
        return [self.step(np.asarray(boxes, float).reshape(-1, 4), number) for number, boxes in enumerate(frames, 1)]

    @staticmethod
    def measure(boxes):
        width, height = boxes[:, 2], boxes[:, 3]
        return np.stack([boxes[:, 0] + width / 2, boxes[:, 1] + height / 2, width * height, width / height], axis=1)

    @staticmethod
    def boxes_of(states):
        width = np.sqrt(np.maximum(states[:, 2] * states[:, 3], 1e-6))
        height = np.maximum(states[:, 2], 1e-6) / width
        return np.stack([states[:, 0] - width / 2, states[:, 1] - height / 2, width, height], axis=1)

    def step(self, boxes, number):
        self.predict()
        tracks, indices = self.assign(boxes)
        self.update(tracks, self.measure(boxes[indices]))
        born = np.setdiff1d(np.arange(len(boxes)), indices)
        self.give_birth(self.measure(boxes[born]))
        place = dict(zip(tracks, indices)) | dict(zip(range(len(self.ids) - len(born), len(self.ids)), born))
        shown = self.boxes_of(self.states)
        result = [(int(index), int(self.ids[track]), shown[track],
                   bool(self.streaks[track] >= self.min_hits or number <= self.min_hits))
                  for track, index in place.items()]
        self.keep(self.unseen <= self.max_age)
        return result

    def predict(self):
        shrinks_away = self.states[:, 2] + self.states[:, 6] <= 0
        self.states[shrinks_away, 6] = 0
        self.states = self.states @ self.MOTION.T
        self.covariances = self.MOTION @ self.covariances @ self.MOTION.T + self.PROCESS
        self.streaks[self.unseen > 0] = 0
        self.unseen += 1

    def assign(self, boxes):
        if not len(self.ids) or not len(boxes):
            return np.zeros(0, int), np.zeros(0, int)
        overlap = overlaps(self.boxes_of(self.states), boxes)
        tracks, indices = linear_sum_assignment(-overlap)
        is_good = overlap[tracks, indices] >= self.iou
        return tracks[is_good], indices[is_good]

    def update(self, tracks, measured):
        prior = self.covariances[tracks]
        gain = prior[:, :, :4] @ np.linalg.inv(prior[:, :4, :4] + self.MEASUREMENT)
        error = measured - self.states[tracks, :4]
        self.states[tracks] += (gain @ error[:, :, None])[:, :, 0]
        self.covariances[tracks] = prior - gain @ prior[:, :4, :]
        self.unseen[tracks] = 0
        self.streaks[tracks] += 1

    def give_birth(self, measured):
        count = len(measured)
        self.states = np.vstack([self.states, np.hstack([measured, np.zeros((count, 3))])])
        self.covariances = np.concatenate([self.covariances, np.repeat(self.START[None], count, axis=0)])
        self.ids = np.append(self.ids, self.n_ids + 1 + np.arange(count))
        self.unseen = np.append(self.unseen, np.zeros(count, int))
        self.streaks = np.append(self.streaks, np.zeros(count, int))
        self.n_ids += count

    def keep(self, which):
        self.states, self.covariances, self.ids = self.states[which], self.covariances[which], self.ids[which]
        self.unseen, self.streaks = self.unseen[which], self.streaks[which]
