# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl` in a process of its own, and what it watches."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from made import PATIENCE

BALL = "videotestsrc pattern=ball num-buffers={} ! video/x-raw,width=160,height=120"
LIVE = "videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=100/1"
CUDACCL = [sys.executable, "-m", "cudaccl"]


def command(*arguments, **options):
    return subprocess.run(
        [*CUDACCL, *map(str, arguments)], capture_output=True, text=True, timeout=2 * PATIENCE, **options)


def start(*arguments, **options):
    # A shell starts what runs in its background, as these tests may, with SIGINT ignored.
    command = ["env", "--default-signal=INT", *CUDACCL, *map(str, arguments)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **options)


def lines_of(path):
    """Those that are complete: another process may write the file."""
    lines = Path(path).read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


CAMERA = """
import sys, gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer
Gst.init(None)
server = GstRtspServer.RTSPServer(service=sys.argv[1], address="127.0.0.1")
factory = GstRtspServer.RTSPMediaFactory(shared=True)
factory.set_launch("( videotestsrc is-live=true pattern=ball"
                   " ! video/x-raw,format=I420,width=160,height=120,framerate=30/1 ! " + sys.argv[2] + " name=pay0 )")
server.get_mount_points().add_factory("/live", factory)
server.attach(None)
print("ready", flush=True)
GLib.MainLoop().run()
"""


def start_camera(port, codec="jpegenc ! rtpjpegpay"):
    """At rtsp://127.0.0.1:PORT/live, in a process of its own. codec: encoder and payloader."""
    process = subprocess.Popen([sys.executable, "-c", CAMERA, str(port), codec], stdout=subprocess.PIPE, text=True)
    if process.stdout.readline() != "ready\n":
        pytest.skip("no RTSP server: install gir1.2-gst-rtsp-server-1.0")
    return process
