# SPDX-License-Identifier: LGPL-2.1-or-later
"""Random state changes at every pipeline depth."""

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from .line import Line

STATES = (Gst.State.NULL, Gst.State.READY, Gst.State.PAUSED, Gst.State.PLAYING)
RAW = "video/x-raw,format={},width=320,height=240,framerate=30/1"


def open_line(context, depth):
    source = context.random.choice(
        [
            f"videotestsrc is-live=true ! {RAW.format('GRAY8')}",
            f"videotestsrc is-live=true ! {RAW.format('I420')} ! queue",
            f"videotestsrc ! {RAW.format('NV12')}",
            f"{context.random.choice(context.clips)} ! queue",
        ]
    )
    output = context.random.choice(["colorized", "overlay", "labels", "mask", "distance", "passthrough"])
    queue = context.random.choice(["! queue", ""])
    element = f"{context.element} name=ccl pipeline-depth={depth} output={output}"
    return Line(context, f"{source} ! {element} {queue} ! fakesink name=sink sync=true")


def finish(line):
    """From any state, frames arrive again."""
    if line.is_at_end:
        line.set_state(Gst.State.READY)
    line.play()
    line.close()
    return line.frames


def run(context):
    random = context.random
    lines = [open_line(context, depth) for depth in range(9)]
    changes = opened = frames = 0
    while changes < context.count(150):
        place = random.randrange(len(lines))
        line = lines[place]
        line.set_state(random.choice(STATES), waits=random.random() < 0.5 and not line.is_at_end)
        changes += 1
        for other in lines:
            other.poll()
        if random.random() < 0.3:
            line.poll(random.uniform(0, 0.2))
        if random.random() < 0.1:
            frames += finish(line)
            lines[place] = open_line(context, place)
            opened += 1
    frames += sum(finish(line) for line in lines)
    return f"{changes} state changes, {len(lines) + opened} pipelines of depth 0 to 8, {frames} frames"
