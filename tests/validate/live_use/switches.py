# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random switches of live properties while pipelines play, seek, pause, loop and play backwards."""

import collections
import enum
import math

import gi

gi.require_version("Gst", "1.0")
from gi.repository import GObject, Gst

from .checks import Failed
from .line import Line

# Larger values are valid but test nothing more, and cost memory or processor time.
MOST = {"max-components": 65535, "threads": 8, "threshold": 255, "threshold-low": 255}
BOX = '{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]]'
TEXTS = {
    "regions": [
        "",
        f'{{"version": 1, "include": [{BOX}}}]}}',
        f'{{"version": 1, "zones": [{BOX}, "dwell": 0.1, "crowd": 0}}], "lines": [{{"name": "gate", "from": [0.5, 0], "to": [0.5, 1]}}]}}',
    ]
}
LENGTH = 4 * Gst.SECOND  # of the clips


def live_properties(element):
    """All properties that may change while playing."""
    return [p for p in element.list_properties() if p.flags & Gst.PARAM_MUTABLE_PLAYING or p.name == "qos"]


def values_of(element, name):
    """All values of an enumeration, or all single flags."""
    # Not through `enum_class` or `flags_class` of the specification: PyGObject 3.53 and later keep no reference to a
    # class that these two create. The garbage collector then frees it, and the next read of the property uses freed
    # memory. A class that get_property() creates lives on.
    kind = type(element.get_property(name))
    if isinstance(kind, enum.EnumMeta):
        return list(kind)
    # PyGObject 3.50 and earlier
    return list((kind.__enum_values__ if hasattr(kind, "__enum_values__") else kind.__flags_values__).values())


def random_value(context, element, spec):
    """A value in range that the backend has."""
    random = context.random
    if spec.name == "algorithm":
        return random.choice(context.algorithms)
    if spec.name in TEXTS:
        return random.choice(TEXTS[spec.name])
    kind = spec.value_type
    if kind == GObject.TYPE_BOOLEAN:
        return random.random() < 0.5
    if kind.is_a(GObject.TYPE_ENUM):
        return int(random.choice(values_of(element, spec.name)))
    if kind.is_a(GObject.TYPE_FLAGS):
        return sum(int(flag) for flag in values_of(element, spec.name) if random.random() < 0.5)
    if kind == GObject.TYPE_DOUBLE:
        return random.choice([spec.minimum, spec.maximum, random.uniform(spec.minimum, spec.maximum)])
    least, most = spec.minimum, min(spec.maximum, MOST.get(spec.name, spec.maximum))
    # Small values as often as large ones.
    middle = least + int(math.exp(random.uniform(0, math.log(most - least + 1)))) - 1
    if "nanoseconds, of which whole milliseconds count" in spec.blurb and middle > 0:
        middle = max(middle, Gst.MSECOND)
    return random.choice([least, most, middle, middle, middle])


def read_value(element, name):
    value = element.get_property(name)
    return (value or "") if name in TEXTS else value if isinstance(value, (bool, float)) else int(value)


def switch(context, element):
    """Sets one property and reads it back."""
    spec = context.random.choice(live_properties(element))
    value = random_value(context, element, spec)
    context.watchdog.step_began(f"{spec.name}={value}")
    element.set_property(spec.name, value)
    if (read := read_value(element, spec.name)) != value:
        raise Failed(f"{spec.name} was set to {value} and reads {read}")
    return spec.name


class Clip(Line):
    """A pipeline on a seekable source. Every movement ends in playing forwards."""

    # GstBaseTransform's, for caps that are sent while a seek flushes the pipeline. The next frame sends them again.
    OWN_WARNINGS = ("not negotiated",)

    def _seek(self, rate, flags, start, stop):
        self.poll()
        self.is_at_end = False
        self.context.watchdog.step_began(f"seek rate={rate} flags={int(flags)} {start}..{stop}")
        if not self.pipeline.seek(
            rate, Gst.Format.TIME, flags, Gst.SeekType.SET, start, Gst.SeekType.SET, stop
        ):
            raise Failed(f"seek rate={rate} flags={int(flags)} {start}..{stop} failed: {self.describe()}")

    def _place(self):
        return self.context.random.randrange(LENGTH // 2)

    def seek(self):
        flag = self.context.random.choice([Gst.SeekFlags.ACCURATE, Gst.SeekFlags.KEY_UNIT])
        before = self.frames  # while paused, one frame arrives and no more
        self._seek(1.0, Gst.SeekFlags.FLUSH | flag, self._place(), LENGTH)
        self.wait(lambda: self.frames > before or self.is_at_end, "a frame after a seek")

    def reverse(self):
        rate = self.context.random.choice([-0.5, -1.0, -2.0])
        self._seek(rate, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, 0, LENGTH // 2 + self._place())
        self.wait_for_frames(2)
        self.seek()

    def trick(self):
        rate = self.context.random.choice([2.0, 4.0])
        flag = self.context.random.choice([Gst.SeekFlags.TRICKMODE, Gst.SeekFlags.TRICKMODE_KEY_UNITS])
        self._seek(rate, Gst.SeekFlags.FLUSH | flag, self._place(), LENGTH)
        self.wait_for_frames(2)
        self.seek()

    def loop(self):
        """A segment that is played three times without a gap."""
        start = self._place()
        stop = start + LENGTH // 20
        done = self.segments_done
        for number in range(3):
            first = Gst.SeekFlags.FLUSH if number == 0 else Gst.SeekFlags.NONE
            self._seek(1.0, first | Gst.SeekFlags.SEGMENT | Gst.SeekFlags.ACCURATE, start, stop)
            done += 1
            # Such a segment has no end of stream. One that is posted now is from before the seek.
            self.wait(lambda: self.segments_done >= done, "the end of a segment")
        self.seek()

    def pause(self):
        """Pauses, moves by single frames or to another place, and plays on."""
        self.seek()  # the end of the clip is far enough away
        self.set_state(Gst.State.PAUSED)
        how = self.context.random.choice(["wait", "step", "seek"])
        if how == "step":
            for _ in range(3):
                before = self.frames
                self.sink.send_event(Gst.Event.new_step(Gst.Format.BUFFERS, 1, 1.0, True, False))
                self.wait(lambda: self.frames > before or self.is_at_end, "a step")
            self.wait_for_state(Gst.State.PAUSED)
        elif how == "seek":
            self.seek()
        self.set_state(Gst.State.PLAYING)

    MOVES = (seek, reverse, trick, loop, pause)


class FastClip(Clip):
    """A clip without a clock. It may reach its end at any time, and a pause there never completes."""

    MOVES = (Clip.seek, Clip.reverse, Clip.trick, Clip.loop)


class Camera(Line):
    """A pipeline on a live source, which can only be paused."""

    def pause(self):
        self.set_state(Gst.State.PAUSED)
        self.set_state(Gst.State.PLAYING)

    MOVES = (pause,)


def open_lines(context):
    camera = "videotestsrc is-live=true pattern={} ! video/x-raw,format={},width=320,height=240,framerate=30/1"
    tail = f"! {context.element} name=ccl ! queue ! fakesink name=sink sync={{}}"
    lines = [
        Camera(context, f"{camera.format('ball', 'GRAY8')} ! queue {tail.format('true')}"),
        Camera(context, f"{camera.format('snow', 'NV12')} {tail.format('true')}"),
    ]
    lines += [Clip(context, f"{clip} ! queue {tail.format('true')}") for clip in context.clips]
    lines += [FastClip(context, f"{context.clips[0]} {tail.format('false')}")]
    for line in lines:
        line.play()
    return lines


def run(context):
    random = context.random
    lines = open_lines(context)
    counts = collections.Counter()
    while counts["switches"] < context.count(800):
        line = random.choice(lines)
        for _ in range(random.choice([1, 1, 1, 2, 5])):
            switch(context, line.ccl)
            counts["switches"] += 1
        if random.random() < 0.4:
            move = random.choice(line.MOVES)
            move(line)
            counts[move.__name__] += 1
        for other in lines:
            other.poll()
            if other.is_at_end:
                other.seek()
                counts["ends"] += 1
        if random.random() < 0.3:
            line.wait_for_frames()
    for line in lines:
        if line.is_at_end:
            line.seek()
        line.wait_for_frames(2)
        line.close()
    frames = sum(line.frames for line in lines)
    return f"{len(lines)} pipelines, {frames} frames; " + ", ".join(f"{n} {name}" for name, n in counts.items())
