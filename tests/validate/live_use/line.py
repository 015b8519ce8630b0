# SPDX-License-Identifier: LGPL-2.1-or-later
"""A pipeline as an application holds it: it counts frames and reads the bus."""

import time

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from .checks import Failed

# Generous: the machine may be building something else at the same time.
PATIENCE = 60


class Context:
    """What all parts need."""

    def __init__(self, backend, random, folder, watchdog, scale=1.0):
        self.backend = backend
        self.random = random
        self.folder = folder
        self.watchdog = watchdog
        self.scale = scale
        self.element = f"cudaccl backend={backend}"
        self.clips = []  # launch lines of seekable sources
        self.algorithms = []  # those that the backend has
        self.other_algorithms = []

    def count(self, whole):
        """How often a part does something: `whole`, less during the warm-up."""
        return max(1, round(whole * self.scale))


def is_cudaccl(element):
    factory = element.get_factory() if isinstance(element, Gst.Element) else None
    return factory is not None and factory.get_name() == "cudaccl"


def link_late_pads(bin_, source, target):
    """Links each pad that `source` adds to `target`. A launch line links the first one only, and none after a stop."""
    pad = bin_.get_by_name(target).get_static_pad("sink")

    def link(_element, new_pad):
        if not pad.is_linked():
            new_pad.link(pad)

    bin_.get_by_name(source).connect("pad-added", link)


class Line:
    """A pipeline with a sink of name `sink`, where frames are counted."""

    OWN_WARNINGS = ()  # those that GstBaseTransform posts for the element

    def __init__(self, context, description, may_fail=lambda source, error: False):
        self.context = context
        self.may_fail = may_fail
        self.pipeline = Gst.parse_launch(description)
        if self.pipeline.get_by_name("demux") is not None:
            link_late_pads(self.pipeline, "demux", "decoder")
        self.bus = self.pipeline.get_bus()
        self.ccl = self.pipeline.get_by_name("ccl")
        self.sink = self.pipeline.get_by_name("sink")
        self.frames = 0
        self.is_at_end = False
        self.is_broken = False  # an error that may_fail() allows
        self.segments_done = 0
        self.warnings = []
        self.sink_pad = self.sink.get_static_pad("sink")
        self.probe = self.sink_pad.add_probe(Gst.PadProbeType.BUFFER, self._count_frame)
        context.watchdog.lines.add(self)

    def _count_frame(self, _pad, _info):
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def describe(self):
        states = []
        elements = self.pipeline.iterate_recurse()
        while True:
            result, element = elements.next()
            if result != Gst.IteratorResult.OK:
                break
            state, pending = element.current_state, element.pending_state
            states.append(f"{element.get_name()}={state.value_nick}/{pending.value_nick}")
        return f"{self.frames} frames; " + " ".join(states)

    def poll(self, timeout=0):
        """Reads all messages; waits `timeout` seconds for the first."""
        message = self.bus.timed_pop(int(timeout * Gst.SECOND))
        while message is not None:
            self._handle(message)
            message = self.bus.pop()

    def _handle(self, message):
        if message.type == Gst.MessageType.ERROR:
            error, debug = message.parse_error()
            if not self.may_fail(message.src, error):
                raise Failed(f"{message.src.get_path_string()}: {error.message}\n{debug}\n{self.describe()}")
            self.is_broken = True
        elif message.type == Gst.MessageType.WARNING:
            warning, debug = message.parse_warning()
            if is_cudaccl(message.src) and warning.message not in self.OWN_WARNINGS:
                self.warnings.append(f"{warning.message}: {debug}")
        elif message.type == Gst.MessageType.EOS:
            self.is_at_end = True
        elif message.type == Gst.MessageType.SEGMENT_DONE:
            self.segments_done += 1
        elif message.type == Gst.MessageType.LATENCY:
            self.pipeline.recalculate_latency()

    def wait(self, is_done, what, seconds=PATIENCE):
        self.context.watchdog.step_began(what)
        deadline = time.monotonic() + seconds
        while not is_done():
            if time.monotonic() > deadline:
                raise Failed(f"waited {seconds} s for {what}: {self.describe()}")
            self.poll(0.01)

    def wait_for_frames(self, count=1):
        """Waits for that many more frames, or the end of the stream."""
        target = self.frames + count
        self.wait(lambda: self.frames >= target or self.is_at_end, f"{count} frames")

    def set_state(self, state, waits=True):
        self.context.watchdog.step_began(f"set_state {state.value_nick}")
        if self.pipeline.set_state(state) == Gst.StateChangeReturn.FAILURE:
            self.poll()  # the reason
            raise Failed(f"no state {state.value_nick}: {self.describe()}")
        if waits:
            self.wait_for_state(state)

    def wait_for_state(self, state):
        def has_state():
            result, current, _ = self.pipeline.get_state(0)
            if result == Gst.StateChangeReturn.FAILURE:
                self.poll()
                raise Failed(f"no state {state.value_nick}: {self.describe()}")
            return self.is_at_end or (result != Gst.StateChangeReturn.ASYNC and current == state)

        self.wait(has_state, f"state {state.value_nick}")

    def play(self):
        self.is_at_end = False
        self.set_state(Gst.State.PLAYING)
        self.wait_for_frames()

    def close(self):
        """Stops the pipeline, which must have posted no warning of the element."""
        self.poll()
        self.context.watchdog.step_began("close")
        self.pipeline.set_state(Gst.State.NULL)
        self.bus.set_flushing(True)
        # The callback refers to this object: without it the pipeline is freed.
        self.sink_pad.remove_probe(self.probe)
        self.context.watchdog.lines.discard(self)
        if self.warnings:
            raise Failed(f"{len(self.warnings)} warnings, the first: {self.warnings[0]}")
