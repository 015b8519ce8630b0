# SPDX-License-Identifier: LGPL-2.1-or-later
"""What all pages share: the player, the settings, what was found, and the pages themselves."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from collections.abc import Callable
from typing import Any

from cudaccl._gst_pipeline import PipelineError, gstreamer
from cudaccl._property_values import is_tracked, needs_earlier_frames
from cudaccl.tune import aids, axes, description, export, fit, pixel
from cudaccl.tune.history import History
from cudaccl.tune.marking import Marking
from cudaccl.tune.page import Page
from cudaccl.tune.picture import Pictures
from cudaccl.tune.player import Player, Shot
from cudaccl.tune.settings import Settings
from cudaccl.tune.side import SecondElement
from cudaccl.tune.videos import Videos
from cudaccl.video import presets
from cudaccl.video.errors import UsageError
from cudaccl.video.sources import Source

_NS = 10**9
_MOVING = ("playing", "running")  # states in which pages may have a video
_MOST_BOXES = 400  # that a page gets of a frame, the largest first
_PATIENCE_S = 0.2  # with the second element, whose frame comes soon, or too late
_LEAD_NS = 10 * _NS  # of frames before a place, from which the background and the tracks are learned for it

Values = dict[str, str]


class Session:
    """Its methods are for the thread of the event loop, where no other one is named."""

    def __init__(self, sources: list[Source], values: Values, output: str, stall: float) -> None:
        self.settings = Settings(values)
        self.output = output
        self.second: Values | None = None  #: the other settings of a comparison
        self.pages: set[Page] = set()
        self.history = History()
        self.marking = Marking(lambda message: self._call(self.broadcast, message))
        self.videos = Videos(self._call)
        self._stall = stall
        self._second = SecondElement(self._second_has_labelled)
        self._everything = SecondElement()  #: with unfiltered() settings
        self._known_state = ""
        self._last: tuple[int, bytes] | None = None  # number and message of the last picture; a frame can have several
        self._aids: dict[str, Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.pictures = Pictures(self._made, self._describe, self._second_sample)
        self.player = Player(
            sources, self._properties(), self._taken, self._state_changed, self._entered, stall)

    def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.pictures.start()
        self._everything.use(aids.unfiltered(self.settings.values))  # now: it learns the background from the same frames
        self.player.start()

    def close(self) -> None:
        """Blocks until all threads have ended. For another thread than the event loop's."""
        self.marking.close()
        self.player.close()
        self.pictures.close()
        self._everything.use(None)
        self._second.use(None)

    def _properties(self) -> Values:
        return {**self.settings.values, description.OUTPUT: self.output}

    # ---- pages ----

    def join(self, page: Page) -> None:
        self.pages.add(page)
        found, wrong = _presets()
        page.put(self._hello(found))
        if wrong:
            page.put({"type": "refused", "names": [], "text": wrong})
        page.put({"type": "events", "events": list(self.history.events)})
        page.put({"type": "series", "points": list(self.history.points)})
        for message in self.marking.hello():
            page.put(message)
        if self._aids is not None:
            page.put(self._aids)

    def leave(self, page: Page) -> None:
        self.pages.discard(page)
        self.videos.close(page)

    def ready(self, page: Page) -> None:
        """The page has drawn what it got."""
        page.is_ready = True
        is_newer = self._last is not None and self._last[0] > (page.shown or 0)
        if is_newer and page not in self._streaming():
            page.put_picture(*self._last)  # type: ignore[misc]
        self.pictures.want()

    def broadcast(self, message: dict[str, Any]) -> None:
        for page in list(self.pages):
            page.put(message)

    def _hello(self, found: list[dict[str, Any]]) -> dict[str, Any]:
        return {
            "type": "hello",
            "settings": [vars(one) for one in description.settings().values()],
            "outputs": description.outputs(), "presets": found, "searchable": axes.searchable(),
            **self._values(), "state": self._state()}

    def _values(self) -> dict[str, Any]:
        return {
            "values": self.settings.values, "output": self.output, "second": self.second,
            "canUndo": self.settings.can_undo, "canRedo": self.settings.can_redo,
            "searched": axes.usual(self.settings.values),
            "needsEarlierFrames": self._learns()}

    def _state(self) -> dict[str, Any]:
        player = self.player
        return {
            "state": player.state, "error": player.error, "source": player.source.name,
            "sources": [one.name for one in player.sources], "index": player.index,
            "isLive": player.gate.is_live, "duration": player.duration, "frameRate": player.frame_rate,
            "loops": player.loops, "speed": player.gate.speed}

    # ---- settings ----

    def use(self, change: Callable[[], None]) -> None:
        """Changes the settings, and the element's. Raises Refused."""
        before = dict(self.settings.values)
        change()
        if self.settings.values != before:
            self._use_properties()
        self.broadcast({"type": "values", **self._values()})

    def show_output(self, output: str) -> None:
        self.output = output
        self._use_properties()
        self.broadcast({"type": "values", **self._values()})

    def _use_properties(self) -> None:
        self.player.change(self._properties())
        if self._everything.is_used:
            self._everything.use(aids.unfiltered(self.settings.values))
        self._use_second()

    def compare(self, values: Values | None) -> None:
        """Labels the same frames with these settings, too; None: no longer. They were checked."""
        self.second = values
        self._use_second()
        self.player.gate.again()
        self.broadcast({"type": "values", **self._values()})

    def _use_second(self) -> None:
        self._second.use(None if self.second is None else {**self.second, description.OUTPUT: self.output})

    def exports(self, preset: str) -> dict[str, str]:
        return export.all_of(self.player.source, self.settings.values, self.output, preset)

    def fit(self, names: list[str], trials: int) -> None:
        """Searches settings on the marks. Raises MarksError, ValueError, MissingPackage."""
        self.marking.start(fit.Task(
            self.player.sources, list(self.marking.frames), dict(self.settings.values), names, trials, self._stall))

    # ---- the player ----

    def state_has_changed(self) -> None:
        if self._known_state in _MOVING and self.player.state not in _MOVING and self.videos.streaming():
            self.pictures.repeat()  # a video is not sharp
        self._known_state = self.player.state
        self.broadcast({"type": "state", **self._state()})

    def seek(self, place: int) -> bool:
        """What must be learned is learned from some time before. Blocks; for another thread."""
        self._forget()
        return self.player.seek(place, _LEAD_NS if self._learns() else 0)

    def run_to(self, place: int) -> bool:
        """Labels all frames from the beginning up to this time. Blocks; for another thread."""
        if self.player.gate.is_live:
            return False
        self._forget()
        self.player.run_to(place)
        return True

    def _forget(self) -> None:
        """Tracks end at a jump in time, so what was found before is forgotten."""
        self.history.clear()
        self._call(self.broadcast, {"type": "cleared"})

    def _learns(self) -> bool:
        return needs_earlier_frames(self.settings.values) or is_tracked(self.settings.values)

    def explain(self, x: int, y: int) -> dict[str, Any]:
        """Why the pixel is what it is. For another thread. Raises PipelineError, IndexError."""
        shot = self.pictures.newest
        if shot is None or shot.input is None or shot.frame.info is None:
            raise PipelineError("there is no frame yet")
        info = shot.frame.info
        if not (0 <= x < info.width and 0 <= y < info.height):
            raise IndexError(f"{x}, {y} is outside the frame of {info.width} x {info.height} pixels")
        found = pixel.explain(
            x, y, shot.frame, self._all_components(shot), shot.input, self.settings.values)
        component = found["component"]
        if component is not None and component["track"] is not None:
            component["events"] = self.history.events_of(component["track"]["id"])
        return found

    # ---- called by other threads ----

    def _streaming(self) -> frozenset[Page]:
        """Pages that see a video now. When nothing moves, they get a picture, which is sharp."""
        return self.videos.streaming() if self.player.state in _MOVING else frozenset()

    def _call(self, function: Callable[..., None], *arguments: Any) -> None:
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _state_changed(self) -> None:
        if self.player.state == "opening":
            self._forget()
        self._call(self.state_has_changed)

    def _entered(self, buffer: Any, caps: Any) -> None:
        self._everything.push(buffer, caps)
        self._second.push(buffer, caps)

    def _taken(self, shot: Shot) -> None:
        self.history.add(shot)
        if shot.is_shown:
            self.pictures.put(shot)

    def _all_components(self, shot: Shot) -> Any:
        """The cudaccl.gst.Frame without filters; None: there is none, or not yet."""
        found = self._everything.of(shot.frame.time)
        return None if found is None else found[1]

    def _second_sample(self, pts: int | None) -> Any:
        """Of the comparison: of the same frame if it comes soon, else none."""
        began = time.monotonic()
        while self._second.is_used:
            found = self._second.of(pts)
            if found is not None:
                return found[0]
            if time.monotonic() - began > _PATIENCE_S:
                break
            time.sleep(0.01)
        return None

    def _second_has_labelled(self, pts: int | None) -> None:
        """The picture that stays gets its comparison, however late that comes."""
        newest = self.pictures.newest
        if newest is not None and newest.frame.time == pts and self.player.state not in _MOVING:
            self.pictures.repeat()

    def _made(self, shot: Shot, frames: dict[str, Any]) -> None:
        """Pages with a video get the head alone."""
        streaming = self._streaming()
        self.videos.push(streaming, list(frames.values()))
        head = self._head(shot)
        silent = _message(head | {"pictures": [], "video": list(frames)}, {}) if streaming else b""
        message = _message(head, self.pictures.encode(frames)) if len(streaming) < len(self.pages) else None
        self._call(self._publish, message, streaming, silent)

    def _head(self, shot: Shot) -> dict[str, Any]:
        frame, info = shot.frame, shot.frame.info
        records = frame.records
        if len(records) > _MOST_BOXES:
            records = records[records["area"].argsort()[::-1][:_MOST_BOXES]]
        second = self._second.of(frame.time)
        now = time.monotonic()
        return {
            "number": shot.number, "time": frame.time, "width": info.width, "height": info.height,
            "count": info.n_components, "overflow": info.overflow, "relearning": info.relearning,
            "level": info.level, "largestValue": self._largest_value(shot),
            "secondCount": None if second is None else second[1].info.n_components,
            "secondRelearning": second is not None and second[1].info.relearning,
            "boxes": [[int(value) for value in row] for row in zip(
                *(records[name] for name in ("label", "id", "area", "x", "y", "width", "height")))],
            "inZones": self.history.in_zones, "rate": round(self.history.rate(), 1), "isAgain": shot.is_again,
            "latency": None if shot.entered is None else round((now - shot.entered) * 1000)}

    @staticmethod
    def _largest_value(shot: Shot) -> int:
        if shot.input is None:
            return 255
        depth = gstreamer().GstVideo.VideoInfo.new_from_caps(shot.input[1]).finfo.depth[0]
        return (1 << max(8, depth)) - 1

    def _describe(self, shot: Shot) -> bool:
        """More about a frame, now and then."""
        everything = self._all_components(shot)
        found = aids.describe(shot.frame, everything, shot.input)
        stream = self.player.stream
        found["stats"] = {} if stream is None else {
            name: value for name, value in stream.stats().items() if isinstance(value, (int, float))}
        self._call(self._publish_aids, found)
        return everything is not None

    # ---- in the event loop again ----

    def _publish(self, message: bytes | None, streaming: frozenset[Page], silent: bytes) -> None:
        if message is not None:
            self._last = 1 + (self._last[0] if self._last else 0), message
        waiting = False
        for page in list(self.pages):
            if page.is_ready and page in streaming:
                page.put_head(silent)
            elif page.is_ready and message is not None:
                page.put_picture(*self._last)  # type: ignore[misc]
            waiting = waiting or page.is_ready
        if waiting:
            self.pictures.want()
        if self.player.state != self._known_state:  # the frame at which a run ends has come
            self.state_has_changed()
        events, points = self.history.take_new()
        if events:
            self.broadcast({"type": "events", "events": events})
        if points:
            self.broadcast({"type": "series", "points": points})

    def _publish_aids(self, found: dict[str, Any]) -> None:
        self._aids = found
        self.broadcast(found)


def _presets() -> tuple[list[dict[str, Any]], str]:
    """For the page, and what is wrong with a file of them, which the user may be writing; then there are none."""
    try:
        found = presets.find_all()
    except UsageError as error:
        return [], str(error)
    return [{"name": name, "text": preset.comment, "values": preset.properties}
            for name, preset in sorted(found.items()) if preset.is_for_commands], ""


def _message(head: dict[str, Any], pictures: dict[str, bytes]) -> bytes:
    """The length of its head, the head in JSON, and the pictures one after the other."""
    head = {"pictures": [[name, len(data)] for name, data in pictures.items()], **head}
    text = json.dumps(head, separators=(",", ":")).encode()
    return b"".join([struct.pack("<I", len(text)), text, *pictures.values()])
