# SPDX-License-Identifier: LGPL-2.1-or-later
"""A clip, the program that shows it, and a page without a browser, for the tests of `cudaccl tune`."""

import asyncio
import json
import re
import struct
import subprocess
import sys
import time

import numpy

PATIENCE = 300
WIDTH, HEIGHT, RATE = 320, 240, 20
FRAMES = 80
SETTINGS = "-s", "threshold=100", "-s", "track=true"


def frame(number):
    """A disc that moves to the right at 3 pixels a frame, a square that stands, and a dot of 9 pixels."""
    image = numpy.full((HEIGHT, WIDTH), 20, numpy.uint8)
    rows, columns = numpy.indices(image.shape)
    image[(columns - 20 - 3 * number) ** 2 + (rows - 120) ** 2 < 15 ** 2] = 220
    image[190:220, 140:170] = 130
    image[30:33, 280:283] = 200
    return image


def write_scene(path, frames=FRAMES, image=frame):
    """Without loss, so that every decoder gives these pixels. image: of a number."""
    from gi.repository import Gst

    Gst.init(None)
    pipeline = Gst.parse_launch(
        f"appsrc name=in format=time caps=video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate={RATE}/1"
        f" ! matroskamux ! filesink location={path}")
    source = pipeline.get_by_name("in")
    pipeline.set_state(Gst.State.PLAYING)
    for number in range(frames):
        buffer = Gst.Buffer.new_wrapped(image(number).tobytes())
        buffer.pts, buffer.duration = number * Gst.SECOND // RATE, Gst.SECOND // RATE
        source.emit("push-buffer", buffer)
    source.emit("end-of-stream")
    message = pipeline.get_bus().timed_pop_filtered(PATIENCE * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    assert message.type == Gst.MessageType.EOS
    return path


def until(condition, text):
    """Waits; returns what the condition returned."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{text} did not happen")


class Program:
    """`cudaccl tune` in a process of its own. A context."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "cudaccl", "tune", "--no-browser", *map(str, arguments)], stderr=subprocess.PIPE,
            text=True)
        line = self.process.stderr.readline()
        found = re.fullmatch(r"cudaccl: the page is (http://[^/]+)/\?token=(\S+)\n", line)
        assert found, line + self.process.stderr.read()
        self.base, self.token = found.groups()
        self.address = f"{self.base}/?token={self.token}"

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        if self.process.poll() is None:
            self.stop()
        self.process.stderr.close()

    def stop(self):
        """As a service manager does. Returns the exit status, and what was printed."""
        self.process.terminate()
        text = self.process.stderr.read()
        return self.process.wait(PATIENCE), text


class Socket:
    """A page without a browser: what it got last of each type, and the head of each frame."""

    def __init__(self, connection):
        self.connection = connection
        self.last = {}
        self.heads = []
        self.pictures = {}

    async def send(self, kind, **members):
        await self.connection.send_json({"type": kind, **members})

    async def receive(self):
        """The next message; a frame is answered."""
        message = await asyncio.wait_for(self.connection.receive(), PATIENCE)
        if isinstance(message.data, bytes):
            length, = struct.unpack_from("<I", message.data)
            found = {"type": "frame", **json.loads(message.data[4:4 + length])}
            begin = 4 + length
            for name, size in found["pictures"]:
                self.pictures[name] = message.data[begin:begin + size]
                begin += size
            assert begin == len(message.data)
            self.heads.append(found)
            await self.send("ready")
        elif isinstance(message.data, str):
            found = json.loads(message.data)
        else:
            raise ConnectionError(f"the page was closed: {message.data} {message.extra}")
        self.last[found["type"]] = found
        return found

    async def wait(self, kind, condition=lambda _message: True):
        """The next message of this type for which the condition holds."""
        async with asyncio.timeout(PATIENCE) if hasattr(asyncio, "timeout") else _no_limit():
            while True:
                found = await self.receive()
                if found["type"] == kind and condition(found):
                    return found

    async def latest(self, kind, condition):
        """The one that came last, if the condition holds for it, or the next one: where the order is chance."""
        found = self.last.get(kind)
        return found if found is not None and condition(found) else await self.wait(kind, condition)


class _no_limit:
    """Python 3.10 has no asyncio.timeout(); then each message has a limit of its own."""

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_error):
        return False


def with_page(program, test):
    """Runs an asynchronous function with a Socket, and returns its result."""
    import aiohttp

    async def run():
        jar = aiohttp.CookieJar(unsafe=True)  # of addresses, too
        async with aiohttp.ClientSession(cookie_jar=jar) as session:
            async with session.get(program.address) as answer:
                assert answer.status == 200
            async with session.ws_connect(f"{program.base}/socket", headers={"Origin": program.base},
                                          max_msg_size=0) as connection:
                page = Socket(connection)
                await page.send("ready")
                return await test(page)

    return asyncio.run(run())
