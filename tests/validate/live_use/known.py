# SPDX-License-Identifier: LGPL-2.1-or-later
"""Live streams at their full rate, and live properties that the element or its neighbours refuse."""

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from .checks import Failed
from .line import Line
from .switches import read_value, values_of

# Those of the documents, and more: none of them may cost a frame.
QUEUES = [
    "queue leaky=downstream max-size-buffers=2",
    "queue leaky=downstream max-size-buffers=1",
    "queue leaky=upstream max-size-buffers=2",
    "queue",
    "identity",
]
TRIES = 10
RAW = "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1"


def arrivals(context, queue, sent, depths):
    """How many of the live frames arrive behind the queue, by pipeline depth."""
    lines = {
        depth: Line(
            context,
            f"videotestsrc is-live=true num-buffers={sent} ! {RAW} ! {queue}"
            f" ! {context.element} name=ccl pipeline-depth={depth} ! fakesink name=sink sync=true",
        )
        for depth in depths
    }
    for line in lines.values():
        line.set_state(Gst.State.PLAYING, waits=False)
    for line in lines.values():
        line.wait(lambda line=line: line.is_at_end, "the end of the stream")
    arrived = {depth: line.frames for depth, line in lines.items()}
    for line in lines.values():
        line.close()
    return arrived


def check_full_rate(context, queue, sent):
    """A machine that is busy loses some at any depth, now and then: each depth has several tries beside depth 0."""
    left, tries = set(range(9)), []
    while left and len(tries) < TRIES:
        arrived = arrivals(context, queue, sent, sorted(left | {0}))
        tries.append(arrived)
        if arrived[0] >= sent / 2:
            left = {depth for depth in left if arrived[depth] < 0.9 * arrived[0]}
    if left:
        raise Failed(f"behind {queue}, of {sent} frames arrive, by depth: " + "; ".join(map(str, tries)))


def run_full_rate(context):
    """Behind any queue, a live stream arrives as complete at every pipeline depth as at depth 0."""
    sent = context.count(90)
    for queue in QUEUES:
        check_full_rate(context, queue, sent)
    return f"behind each of {len(QUEUES)} queues, {sent} frames at depth 0 to 8"


def refuse(context, caps, name, value):
    """Sets what cannot be done: one warning, the old value stays, and the stream goes on."""
    line = Line(
        context,
        f"videotestsrc is-live=true ! {RAW} ! {context.element} name=ccl ! {caps} ! fakesink name=sink",
    )
    line.play()
    before = read_value(line.ccl, name)
    line.ccl.set_property(name, value)
    line.wait_for_frames(5)
    line.wait(lambda: line.warnings, f"a warning of {name}={value}")
    line.wait_for_frames(5)
    if len(line.warnings) != 1:
        raise Failed(f"{len(line.warnings)} warnings of {name}={value}: {line.warnings}")
    if (now := read_value(line.ccl, name)) != before:
        raise Failed(f"{name} reads {now} after {value} was refused; it was {before}")
    line.warnings.clear()
    line.close()


def run_refused_switches(context):
    outputs = values_of(Gst.ElementFactory.make("cudaccl"), "output")
    refused = [value for value in outputs if value.value_nick in ("labels", "mask", "distance", "passthrough")]
    for value in refused:
        refuse(context, "video/x-raw,format=RGBA", "output", int(value))
    for value in context.other_algorithms:
        refuse(context, "identity", "algorithm", value)
    return f"{len(refused)} outputs and {len(context.other_algorithms)} algorithms refused"
