#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times `cudaccl tune`: the first picture, a changed setting, and what a page takes from the pipeline. Rates with and without
a page are measured in turn and compared by their ratio, with its confidence interval.

    tune_bench.py CLIP > tests/benchmarks/results/MACHINE/tune.csv

Pages are sockets of this process, which decode no picture: a browser on another machine. Needs aiohttp, SciPy,
GStreamer's bindings, the plugin and the package. CLIP is for the first picture and the rates; the changed setting is on a pattern
of 1920 x 1080 pixels.
"""

import asyncio
import os
import platform
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python/tests/tune"))

from tune_made import Program, with_page  # noqa: E402  (the path comes first)

MOTION = [word for text in ("foreground=motion", "open-radius=1", "close-radius=3", "min-area=150", "track=true")
          for word in ("-s", text)]
LARGE = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=1920,height=1080,framerate=25/1"
ROUNDS = 20  # of a rate without a page and one with it
RUNS = 5
RUN_IN = 100  # frames before `cudaccl run` is timed
CHANGES = 20
SECONDS = 5.0
SETTLING_S = 1.0


def first_picture(clip):
    """From the command to the first picture, in milliseconds."""
    began = time.monotonic()

    async def look(page):
        await page.wait("frame")
        return (time.monotonic() - began) * 1000

    with Program(*MOTION, clip) as program:
        return with_page(program, look)


def changes():
    """From a change of a setting to the picture that it changes, in milliseconds each."""

    async def look(page):
        await page.wait("frame")
        found = []
        for number in range(CHANGES):
            # The ball is white: above 250 it is still there; inverted, it is the background that is.
            wanted = number % 2 == 0
            before = page.heads[-1]["boxes"]
            began = time.monotonic()
            await page.send("set", values={"invert": "true" if wanted else None})
            await page.wait("frame", lambda one: one["boxes"] and (one["boxes"][0][2] > 10**6) == wanted)
            found.append((time.monotonic() - began) * 1000)
            assert before != page.heads[-1]["boxes"]
            await asyncio.sleep(0.3)
        return found

    with Program("-s", "threshold=200", LARGE) as program:
        return with_page(program, look)


def rate_of_run(clip):
    """Frames a second of `cudaccl run`, behind its first frames."""
    with subprocess.Popen([sys.executable, "-m", "cudaccl", "run", *MOTION, clip], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        times = [time.monotonic() for _line in process.stdout]
    assert process.returncode == 0
    return (len(times) - 1 - RUN_IN) / (times[-1] - times[RUN_IN])


def rates(clip, rounds, numbers=(0, 1), speed=0):
    """Frames a second of the clip, by the number of pages that are open: a list of each, whose members belong together.
    All are of one program, one after the other and then in the opposite order, again and again: what else the machine
    does meets all of them. The pipeline is that of `cudaccl run`, whose output is passthrough. speed: 0: as fast as
    possible."""

    async def look(page):
        # This page is always there, but asks for no picture.
        await page.send("speed", speed=speed)
        await page.send("loop", on=True)
        await asyncio.sleep(SETTLING_S)
        found = {number: [] for number in numbers}
        for index in range(rounds):
            for number in numbers if index % 2 == 0 else reversed(numbers):
                found[number].append(await rate(page, number))
        return found

    with Program(*MOTION, "--output", "passthrough", clip) as program:
        return with_silent_page(program, look)


async def rate(page, others):
    closing = threading.Event()
    loop = asyncio.get_running_loop()
    watching = [loop.run_in_executor(None, with_page, page.program, lambda one: watch(one, closing)) for _ in range(others)]
    await asyncio.sleep(SETTLING_S)
    first, began = await frames_of(page), time.monotonic()
    await asyncio.sleep(SECONDS)
    found = (await frames_of(page) - first) / (time.monotonic() - began)
    closing.set()
    await asyncio.gather(*watching)
    return found


async def frames_of(page):
    """That the element has labelled since its start."""
    while True:  # first all messages that wait, then a new one
        try:
            await asyncio.wait_for(page.receive(), 0.05)
        except asyncio.TimeoutError:
            break
    return (await page.wait("aids"))["stats"]["frames"]


async def watch(page, closing):
    while not closing.is_set():
        await page.wait("frame")


def with_silent_page(program, test):
    """As with_page(), of a page that does not ask for pictures."""
    from tune_made import Socket

    send = Socket.send

    async def send_but_ready(self, kind, **members):
        if kind != "ready" or getattr(self, "program", None) is None:
            await send(self, kind, **members)

    async def named(page):
        page.program = program
        return await test(page)

    Socket.send = send_but_ready
    try:
        return with_page(program, named)
    finally:
        Socket.send = send


def cpu():
    """Its name, without what is no name."""
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def main():
    clip = sys.argv[1]
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True).stdout.strip()
    print(f"# command: tune_bench.py {Path(clip).name}")
    print(f"# date: {time.strftime('%Y-%m-%d')}")
    print(f"# commit: {commit}")
    print(f"# cpu: {cpu()}, {len(os.sched_getaffinity(0))} threads")
    print("what,pages,unit,value,least,largest")
    for what, pages, unit, values in (
            ("first picture", 1, "ms", [first_picture(clip) for _ in range(5)]), ("change at 1080p", 1, "ms", changes())):
        print(f"{what},{pages},{unit},{statistics.median(values):.0f},{min(values):.0f},{max(values):.0f}", flush=True)
    print_rates(clip)


def print_rates(clip):
    found = {("rate", number): values for number, values in rates(clip, ROUNDS).items()}
    found["rate", 10] = rates(clip, 1, [10])[10]
    found |= {("paced", number): values for number, values in rates(clip, 3, speed=1).items()}
    pairs = [(rate_of_run(clip), rates(clip, 1, [1])[1][0]) for _ in range(RUNS)]
    found["run", 0] = [run for run, _ in pairs]
    for (what, pages), values in found.items():
        print(f"{what},{pages},frames/s,{statistics.median(values):.1f},{min(values):.1f},{max(values):.1f}", flush=True)
    print(f"of none,1,%,{part(zip(found['rate', 1], found['rate', 0]))}", flush=True)
    print(f"of run,1,%,{part((rate, run) for run, rate in pairs)}", flush=True)


def part(pairs):
    """The mean of the ratios of pairs, and its confidence interval of 95 %, in percent."""
    ratios = [100 * a / b for a, b in pairs]
    half = stats.t.ppf(0.975, len(ratios) - 1) * statistics.stdev(ratios) / len(ratios) ** 0.5
    mean = statistics.mean(ratios)
    return f"{mean:.1f},{mean - half:.1f},{mean + half:.1f}"


if __name__ == "__main__":
    main()
