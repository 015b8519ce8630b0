# SPDX-License-Identifier: LGPL-2.1-or-later
"""A client of an RTSP camera that is killed and started again."""

import collections
import socket
import subprocess
import sys
import time
from pathlib import Path

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

from . import camera
from .checks import Failed
from .line import PATIENCE, Line, link_late_pads


class Camera:
    """The server's process. It keeps its port when it is started again."""

    def __init__(self, context, codec):
        self.context = context
        self.codec = codec
        self.process = None
        # Bound, with nobody who listens: the server gets the port, because it sets the same option; others do not.
        self.reserved = socket.socket()
        self.reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.reserved.bind(("127.0.0.1", 0))
        self.port = self.reserved.getsockname()[1]
        self.start()

    def start(self):
        """Tries again for a while: old connections may hold the port."""
        self.context.watchdog.step_began("start the camera")
        deadline = time.monotonic() + PATIENCE
        while True:
            self.process = subprocess.Popen(
                [sys.executable, Path(camera.__file__), str(self.port), self.codec],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            if self.process.stdout.readline():
                return
            self.kill()
            if time.monotonic() > deadline:
                raise Failed(f"the RTSP server does not start on port {self.port} of 127.0.0.1")
            time.sleep(0.2)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def close(self):
        self.kill()
        self.reserved.close()


def is_of_source(source, _error):
    """True for errors of rtspsrc and the elements in it, which report the loss of the camera."""
    while source is not None:
        if isinstance(source, Gst.Element) and source.get_factory() is not None:
            if source.get_factory().get_name() == "rtspsrc":
                return True
        source = source.get_parent()
    return False


class Client(Line):
    """The pipeline of an application. Its source can be replaced while the rest plays on."""

    def __init__(self, context, port, codec, transport):
        depth = context.random.choice([0, 0, 1, 2])
        self.source_line = (
            f"rtspsrc location=rtsp://127.0.0.1:{port}/stream latency=50 protocols={transport}"
            f" timeout=2000000 name=rtsp {camera.CODECS[codec][1]}"
        )
        super().__init__(
            context,
            "queue name=first leaky=downstream max-size-buffers=2"
            f" ! {context.element} name=ccl pipeline-depth={depth} ! fakesink name=sink",
            is_of_source,
        )
        self.first_pad = self.pipeline.get_by_name("first").get_static_pad("sink")
        self.source = None
        self.add_source()

    def add_source(self):
        self.source = Gst.parse_bin_from_description(self.source_line, False)
        link_late_pads(self.source, "rtsp", "depay")
        decoder_pad = self.source.get_by_name("decoder").get_static_pad("src")
        self.source_pad = Gst.GhostPad.new("src", decoder_pad)
        self.source.add_pad(self.source_pad)
        # The rest of the pipeline continues without the camera.
        self.source_pad.add_probe(Gst.PadProbeType.EVENT_DOWNSTREAM, drop_end)
        self.pipeline.add(self.source)
        if self.source_pad.link(self.first_pad) != Gst.PadLinkReturn.OK:
            raise Failed("the source cannot be linked")

    def remove_source(self):
        self.context.watchdog.step_began("stop the source")
        self.source.set_state(Gst.State.NULL)
        self.source_pad.unlink(self.first_pad)
        self.pipeline.remove(self.source)

    def start_again(self):
        self.context.watchdog.step_began("stop the client")
        self.pipeline.set_state(Gst.State.NULL)
        self.pipeline.set_state(Gst.State.PLAYING)

    def replace_source(self):
        self.remove_source()
        self.add_source()
        self.source.sync_state_with_parent()

    def wait_for_stop(self):
        """Waits until the client notices the loss: an error, or no frames for three seconds."""
        seen, since = self.frames, time.monotonic()
        while not self.is_broken and time.monotonic() - since < 3:
            self.poll(0.05)
            if self.frames != seen:
                seen, since = self.frames, time.monotonic()

    def reconnect(self, how):
        """Tries again until frames arrive, as an application does. Returns the number of tries."""
        deadline = time.monotonic() + 2 * PATIENCE
        tries = 0
        while time.monotonic() < deadline:
            self.poll()
            self.is_broken = self.is_at_end = False
            before = self.frames
            how(self)
            tries += 1
            self.poll(0.2)
            until = time.monotonic() + 10
            while time.monotonic() < until and not self.is_broken:
                self.context.watchdog.step_began("frames of the camera")
                self.poll(0.02)
                if self.frames >= before + 15:
                    return tries
        raise Failed(f"no frames after the camera was started again, {tries} tries: {self.describe()}")


def drop_end(_pad, info):
    return Gst.PadProbeReturn.DROP if info.get_event().type == Gst.EventType.EOS else Gst.PadProbeReturn.OK


def run(context):
    codec = camera.choose_codec()
    if codec is None:
        raise Failed(f"no encoder for the RTSP camera: install one of {', '.join(camera.CODECS)}")
    server = Camera(context, codec)
    transport = context.random.choice(["tcp", "udp"])
    client = Client(context, server.port, codec, transport)
    ways = collections.Counter()
    frames = tries = 0
    try:
        client.reconnect(Client.start_again)
        for _ in range(context.count(6)):
            server.kill()
            client.wait_for_stop()
            way = context.random.choice(["same pipeline", "new source", "new pipeline"])
            connect = Client.replace_source if way == "new source" else Client.start_again
            if context.random.random() < 0.5:  # the first try fails, since the camera is not back yet
                client.is_broken = False
                connect(client)
                client.wait(lambda: client.is_broken, "an error of the source")
            server.start()
            if way == "new pipeline":
                client.close()
                frames += client.frames
                transport = context.random.choice(["tcp", "udp"])
                client = Client(context, server.port, codec, transport)
            tries += client.reconnect(connect)
            ways[way] += 1
        client.close()
    finally:
        server.close()
    frames += client.frames
    names = ", ".join(f"{n} {name}" for name, n in ways.items())
    return f"{codec}: {ways.total()} restarts ({names}), {tries} connections, {frames} frames"
