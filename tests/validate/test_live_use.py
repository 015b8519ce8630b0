# SPDX-License-Identifier: LGPL-2.1-or-later
"""A day of real use: RTSP cameras, live switches, seeks, branches and state changes, in one process.

    test_live_use.py [--backend cpu|cuda] [--minutes N] [--seed N] [--part NAME]

Memory, threads and files are compared with those after a warm-up. The plugin is found through
GST_PLUGIN_PATH_1_0. The seed is printed; the same seed makes the same choices again.
"""

import argparse
import os
import random
import sys
import tempfile
import time

# GLib's caches would look like leaks. GLib reads this when it is loaded.
os.environ["G_SLICE"] = "always-malloc"

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as missing:
    print(f"skipped: {missing}; install python3-gi, python3-gst-1.0 and gir1.2-gst-rtsp-server-1.0")
    sys.exit(77)

from live_use import branches, known, rtsp, states, switches
from live_use.checks import Failed, LiveObjects, LogMessages, Resources, Watchdog
from live_use.line import Context, Line

PARTS = {
    "rtsp": rtsp.run,
    "switches": switches.run,
    "branches": branches.run,
    "states": states.run,
    "full-rate-behind-leaky-queue": known.run_full_rate,
    "refused-switches": known.run_refused_switches,
}
WARM_UP = 0.15  # of a round
HANG = 180  # seconds


def parse_arguments():
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=formatter)
    parser.add_argument("--backend", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--minutes", type=float, default=2, help="repeat all parts for so long (default: 2)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--part", choices=list(PARTS), action="append", help="run this part only")
    return parser.parse_args()


def opens(backend, algorithm=None):
    """Whether the element reaches READY, and its error if not."""
    element = Gst.ElementFactory.make("cudaccl")
    Gst.util_set_object_arg(element, "backend", backend)
    if algorithm is not None:
        element.set_property("algorithm", algorithm)
    bus = Gst.Bus()
    element.set_bus(bus)
    is_open = element.set_state(Gst.State.READY) == Gst.StateChangeReturn.SUCCESS
    message = bus.pop_filtered(Gst.MessageType.ERROR)
    element.set_state(Gst.State.NULL)
    element.set_bus(None)
    return is_open, message.parse_error()[0].message if message else "no reason given"


def find_algorithms(context):
    for value in map(int, switches.values_of(Gst.ElementFactory.make("cudaccl"), "algorithm")):
        is_there, _ = opens(context.backend, value)
        (context.algorithms if is_there else context.other_algorithms).append(value)


def make_clips(context):
    """Seekable files of five seconds; VP8 only where its encoder is installed."""
    caps = "video/x-raw,format=I420,width=320,height=240,framerate=30/1"
    raw = f"videotestsrc pattern=ball num-buffers=150 ! {caps}"
    kinds = {
        "clip.avi": ("jpegenc ! avimux", "avidemux name=demux jpegdec name=decoder"),
        "clip.webm": (
            "vp8enc deadline=1 cpu-used=8 keyframe-max-dist=15 ! webmmux",
            "matroskademux name=demux vp8dec name=decoder",
        ),
    }
    for name, (writer, reader) in kinds.items():
        if not all(Gst.ElementFactory.find(part.split()[0]) for part in writer.split("! ")):
            print(f"no {name}: an element of {writer} is missing")
            continue
        path = os.path.join(context.folder, name)
        line = Line(context, f"{raw} ! {writer} ! filesink name=sink location={path}")
        line.set_state(Gst.State.PLAYING, waits=False)
        line.wait(lambda line=line: line.is_at_end, name)
        line.close()
        context.clips.append(f"filesrc location={path} ! {reader}")
    if not context.clips:
        raise Failed("no clip can be made: install gstreamer1.0-plugins-good")


def run_parts(context, names, messages, alive):
    """One round; each part leaves nothing behind."""
    for name in names:
        begin = time.monotonic()
        context.watchdog.step_began(name)
        done = PARTS[name](context)
        alive.check()
        messages.check()
        if context.scale == 1:
            print(f"{name}: {done}; {time.monotonic() - begin:.0f} s", flush=True)


def use(context, arguments, messages, alive):
    names = arguments.part or list(PARTS)
    begin = time.monotonic()
    context.scale = WARM_UP
    run_parts(context, names, messages, alive)
    context.scale = 1
    if context.backend == "cuda":
        # The driver keeps the code of each kernel from its first use on. A short warm-up does not use them all.
        run_parts(context, names, messages, alive)
    first = Resources.at_rest()
    print(f"after the warm-up of {time.monotonic() - begin:.0f} s: {first}", flush=True)
    rounds = 0
    longest = 0
    while rounds == 0 or time.monotonic() - begin + longest < arguments.minutes * 60:
        round_begin = time.monotonic()
        run_parts(context, names, messages, alive)
        longest = max(longest, time.monotonic() - round_begin)
        rounds += 1
        last = Resources.at_rest(first)
        print(f"after round {rounds}: {last}", flush=True)
        last.check(first, context.backend)


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory() as folder:
        alive = LiveObjects(folder)
        messages = LogMessages()
        Gst.init(None)
        if Gst.ElementFactory.find("cudaccl") is None:
            sys.exit("failed: no element cudaccl; set GST_PLUGIN_PATH_1_0 to the folder of the plugin")
        is_open, reason = opens(arguments.backend)
        if not is_open and arguments.backend == "cuda":
            print(f"skipped: no GPU: {reason}")
            sys.exit(77)
        print(f"backend {arguments.backend}, seed {arguments.seed}", flush=True)
        if alive.count() is None:
            print("live objects are not counted: GStreamer has no tracer named leaks")
        context = Context(arguments.backend, random.Random(arguments.seed), folder, Watchdog(HANG, folder))
        try:
            find_algorithms(context)
            make_clips(context)
            use(context, arguments, messages, alive)
        except Failed as failure:
            sys.exit(f"failed with seed {arguments.seed}: {failure}")
        for text, count in messages.others.items():
            print(f"GStreamer's own: {count} x {text}")


if __name__ == "__main__":
    main()
