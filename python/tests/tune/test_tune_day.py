# SPDX-License-Identifier: LGPL-2.1-or-later
"""A page that is left open for a day, in seconds: thousands of frames, pages that come and go, and nothing that grows.

CUDACCL_TUNE_SECONDS is how long each test runs, for longer runs; they print what they have seen.
"""

import asyncio
import concurrent.futures
import ctypes
import gc
import multiprocessing
import os
import statistics
import threading
import time
from pathlib import Path

import aiohttp
import pytest

from cudaccl.tune.server import Server
from cudaccl.tune.session import Session
from cudaccl.video.sources import Source

from tune_made import PATIENCE, SETTINGS, Program, Socket

SECONDS = float(os.environ.get("CUDACCL_TUNE_SECONDS", "12"))
LEAST_SAMPLES = 8
LEAST_VISITS = 100  # of a server: a third of them are enough to take all that is taken once, however slow the machine
ROOM_KB = 6000  # of memory, which allocators keep; each frame has 75, each picture 5
ROOM_HEAP = 3_000_000  # bytes of a browser's heap
ZONE = '{"version":1,"zones":[{"name":"a","polygon":[[0.1,0.1],[0.9,0.1],[0.9,0.9],[0.1,0.9]]}]}'


def used():
    """What this process has now: descriptors, threads, tasks, and kB of memory, without what the allocator keeps."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    memory = int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS")))
    return len(os.listdir("/proc/self/fd")), threading.active_count(), len(asyncio.all_tasks()), memory


async def visit(session, base, number):
    """A page: it takes pictures, changes settings, asks about a pixel, and goes; every third one without a word."""
    async with session.ws_connect(f"{base}/socket", headers={"Origin": base}, max_msg_size=0) as connection:
        page = Socket(connection)
        await page.send("ready")
        for step in range(10):
            await page.wait("frame")
            await page.send("set", values={"min-area": str(step + number % 5)}, drag=str(number))
        await page.send("regions", text=ZONE if number % 2 else "")
        await page.send("explain", x=150, y=200)
        while (await page.receive())["type"] not in ("pixel", "refused"):  # there is no frame yet, when the clip begins again
            pass
        if number % 3 == 0:
            connection._writer.transport.abort()
        return len(page.heads)


async def stay(clip):
    session = Session([Source("scene", str(clip))], {"threshold": "100", "track": "true"}, "overlay", PATIENCE)
    server = Server(session, "token", "127.0.0.1", 0)
    await server.start()
    session.start()
    session.player.loops = True
    session.player.gate.set_speed(0)
    base = f"http://127.0.0.1:{server.port}"
    samples, visits, end = [], 0, time.monotonic() + SECONDS
    try:
        async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as client:
            while time.monotonic() < end or visits < LEAST_VISITS:
                async with client.get(f"{base}/?token=token") as answer:
                    assert answer.status == 200
                await asyncio.gather(*(visit(client, base, visits + number) for number in range(4)))
                visits += 4
                while session.pages:
                    await asyncio.sleep(0.01)
                samples.append(used())
        return samples, visits, session.player._shots
    finally:
        await server.close()
        await asyncio.get_running_loop().run_in_executor(None, session.close)


def stay_alone(clip):
    return asyncio.run(stay(clip))


def middle_and_last(samples):
    """The second and the last third: what is taken once is taken in the first one."""
    third = len(samples) // 3
    return samples[third:-third], samples[-third:]


def test_a_server_does_not_grow(monkeypatch, clip):
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")  # else the threads of a busy machine fill arenas that keep up to 20 MB
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as alone:
        samples, visits, frames = alone.submit(stay_alone, clip).result()  # what other tests left ends in its own time
    print(f"{visits} pages, {frames} frames, {SECONDS:.0f} s; descriptors, threads, tasks, kB: first {samples[0]},"
          f" at a third {samples[len(samples) // 3]}, last {samples[-1]}")
    assert frames > visits
    middle, last = ([list(column) for column in zip(*part)] for part in middle_and_last(samples))
    for before, after in zip(middle[:3], last[:3]):
        assert statistics.median(after) <= max(before)  # a thread may just be starting the clip again
    assert statistics.median(last[3]) <= statistics.median(middle[3]) + ROOM_KB


def test_a_page_does_not_grow(browser, clip):
    """Nodes, listeners and memory of a browser that shows every picture, and all events."""
    pytest.importorskip("selenium", reason="python3-selenium is missing")
    from tune_page import Page

    with Program(*SETTINGS, "-s", f"regions={ZONE}", clip) as program:
        page = Page(browser, program)
        for kind, members in (("loop", {"on": True}), ("speed", {"speed": 16})):
            browser.execute_script("import('/state.js').then(({link}) => link.send(arguments[0], arguments[1]))", kind, members)
        browser.execute_cdp_cmd("Performance.enable", {})
        samples, end, begun = [], time.monotonic() + SECONDS, page.head()["number"]
        while time.monotonic() < end or len(samples) < LEAST_SAMPLES:
            for name in ("settings", "zones", "pixel", "charts", "fit", "export"):
                page.tab(name)
            time.sleep(0.3)
            browser.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
            found = {one["name"]: one["value"] for one in browser.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]}
            samples.append([found[name] for name in ("Nodes", "JSEventListeners", "JSHeapUsedSize")])
        print(f"{page.head()['number'] - begun} frames; nodes, listeners, bytes: first {samples[0]}, last {samples[-1]}")
        browser.get("about:blank")
    middle, last = ([list(column) for column in zip(*part)] for part in middle_and_last(samples))
    assert statistics.median(last[0]) <= statistics.median(middle[0]) + 2000  # rows of the list of events differ
    assert statistics.median(last[1]) <= statistics.median(middle[1]) + 200
    assert statistics.median(last[2]) <= statistics.median(middle[2]) + ROOM_HEAP
