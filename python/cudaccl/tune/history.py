# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was found in the last minutes: counts, events, and the rate of frames. A page that stays open has no more."""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any

from cudaccl._types import TrackFlag
from cudaccl.publish.report import events_as_dicts, zone_names
from cudaccl.tune.player import Shot

_POINTS = 600
_EVENTS = 200
_RATE_S = 2.0


class History:
    """For any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.points: deque[list[Any]] = deque(maxlen=_POINTS)  #: [time in nanoseconds, components, events] of frames
        self.events: deque[dict[str, Any]] = deque(maxlen=_EVENTS)
        self.in_zones: dict[str, int] = {}  #: tracks that are seen in each zone
        self._new_events: deque[dict[str, Any]] = deque(maxlen=_EVENTS)
        self._new_points: deque[list[Any]] = deque(maxlen=_POINTS)
        self._times: deque[float] = deque()

    def add(self, shot: Shot) -> None:
        """A frame that came out of the element."""
        frame, info = shot.frame, shot.frame.info
        found = events_as_dicts(frame.events, info.zones, info.lines, info.utc)
        in_zones = dict.fromkeys(info.zones, 0)
        seen = frame.tracks[(frame.tracks["flags"] & TrackFlag.PREDICTED) == 0]
        for bits in seen["zones"].tolist():
            for name in zone_names(info.zones, bits):
                in_zones[name] += 1
        point = [frame.time, info.n_components, len(found)]
        now = time.monotonic()
        with self._lock:
            self.in_zones = in_zones
            for kept, new, more in ((self.events, self._new_events, found), (self.points, self._new_points, [point])):
                kept.extend(more)
                new.extend(more)
            self._times.append(now)
            while self._times[0] < now - _RATE_S:
                self._times.popleft()

    def clear(self) -> None:
        """What was found before a jump to another time."""
        with self._lock:
            for kept in (self.points, self.events, self._new_points, self._new_events):
                kept.clear()

    def rate(self) -> float:
        """Frames per second that came out of the element lately."""
        with self._lock:
            if len(self._times) < 2:
                return 0.0
            return (len(self._times) - 1) / (self._times[-1] - self._times[0] or 1.0)

    def take_new(self) -> tuple[list[dict[str, Any]], list[list[Any]]]:
        """Events and points since the last call."""
        with self._lock:
            found = list(self._new_events), list(self._new_points)
            self._new_events.clear()
            self._new_points.clear()
            return found

    def events_of(self, track: int) -> list[dict[str, Any]]:
        with self._lock:
            return [one for one in self.events if one["id"] == track]
