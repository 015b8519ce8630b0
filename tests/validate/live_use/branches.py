# SPDX-License-Identifier: LGPL-2.1-or-later
"""Branches added and removed behind a tee while the source plays."""

import threading

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from .checks import Failed
from .line import PATIENCE, Line

MOST_BRANCHES = 6


class Branch:
    """queue ! cudaccl ! fakesink behind a pad of the tee."""

    def __init__(self, line):
        self.line = line
        random = line.context.random
        depth = random.choice([0, 0, 1, 2, 4, 8])
        sync = random.choice(["true", "false"])
        self.bin = Gst.parse_bin_from_description(
            f"queue ! {line.context.element} pipeline-depth={depth} ! fakesink name=last async=false sync={sync}",
            True,
        )
        self.frames = 0
        self.last_pad = self.bin.get_by_name("last").get_static_pad("sink")
        self.probe = self.last_pad.add_probe(Gst.PadProbeType.BUFFER, self._count_frame)
        self.tee = line.pipeline.get_by_name("tee")
        line.pipeline.add(self.bin)
        self.bin.sync_state_with_parent()
        self.pad = self.tee.request_pad_simple("src_%u")
        if self.pad.link(self.bin.get_static_pad("sink")) != Gst.PadLinkReturn.OK:
            raise Failed("a branch cannot be linked")

    def _count_frame(self, _pad, _info):
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def _wait(self, event, what):
        self.line.context.watchdog.step_began(what)
        if not event.wait(PATIENCE):
            raise Failed(f"waited {PATIENCE} s for {what}: {self.line.describe()}")

    def remove(self):
        """Unlinks while the pad is blocked, drains the branch with an EOS or not, and stops it."""
        unlinked = threading.Event()
        sink_pad = self.bin.get_static_pad("sink")

        def unlink(pad, _info):
            if not unlinked.is_set():
                pad.unlink(sink_pad)
                unlinked.set()
            return Gst.PadProbeReturn.REMOVE

        kind = self.line.context.random.choice([Gst.PadProbeType.IDLE, Gst.PadProbeType.BLOCK_DOWNSTREAM])
        self.pad.add_probe(kind, unlink)
        self._wait(unlinked, "the tee's pad")
        if self.line.context.random.random() < 0.5:
            self._send_end(sink_pad)
        self.last_pad.remove_probe(self.probe)
        self.line.context.watchdog.step_began("stop a branch")
        self.bin.set_state(Gst.State.NULL)
        self.line.pipeline.remove(self.bin)
        self.tee.release_request_pad(self.pad)

    def _send_end(self, sink_pad):
        ended = threading.Event()

        def see_event(_pad, info):
            if info.get_event().type == Gst.EventType.EOS:
                ended.set()
            return Gst.PadProbeReturn.OK

        probe = self.last_pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, see_event)
        sink_pad.send_event(Gst.Event.new_eos())
        self._wait(ended, "the end of a branch")
        self.last_pad.remove_probe(probe)


def run(context):
    line = Line(
        context,
        "videotestsrc is-live=true pattern=ball ! video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1"
        " ! tee name=tee tee. ! queue ! fakesink name=sink",
    )
    line.play()
    branches, added, frames = [], 0, 0
    while branches or added < context.count(120):
        wants_more = added < context.count(120) and len(branches) < MOST_BRANCHES
        if wants_more and (not branches or context.random.random() < 0.6):
            branches.append(Branch(line))
            added += 1
        else:
            branch = branches.pop(context.random.randrange(len(branches)))
            if context.random.random() < 0.7:  # otherwise it may be removed before its first frame
                line.wait(lambda branch=branch: branch.frames > 0, "a frame in a branch")
            branch.remove()
            frames += branch.frames
        line.poll()
        if context.random.random() < 0.3:
            line.wait_for_frames()
    line.wait_for_frames(2)
    line.close()
    return f"{added} branches added and removed, {frames} frames in them, {line.frames} beside them"
