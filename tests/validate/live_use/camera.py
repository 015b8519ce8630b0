# SPDX-License-Identifier: LGPL-2.1-or-later
"""An RTSP camera in a process of its own, so that it can be killed.

    camera.py PORT CODEC
"""

import os
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst

H264_DECODER = "rtph264depay name=depay ! h264parse ! avdec_h264 name=decoder"
# Encoder, payloader; depayloader and decoder. In the order of preference.
CODECS = {
    "openh264enc": ("openh264enc gop-size=15 ! rtph264pay config-interval=-1", H264_DECODER),
    "x264enc": ("x264enc tune=zerolatency key-int-max=15 ! rtph264pay config-interval=-1", H264_DECODER),
    "vp8enc": ("vp8enc deadline=1 keyframe-max-dist=15 ! rtpvp8pay", "rtpvp8depay name=depay ! vp8dec name=decoder"),
    "jpegenc": ("jpegenc ! rtpjpegpay", "rtpjpegdepay name=depay ! jpegparse ! jpegdec name=decoder"),
}


def is_there(launch_line):
    names = [part.split()[0] for part in launch_line.split("!")]
    return all(Gst.ElementFactory.find(name) for name in names)


def choose_codec():
    """The first whose elements are all installed."""
    return next((name for name, lines in CODECS.items() if all(is_there(line) for line in lines)), None)


def end_with_parent():
    """Standard input is a pipe from the test, and ends with it."""
    sys.stdin.read()
    os._exit(0)


def serve(port, codec):
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, GstRtspServer

    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(port)
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_shared(True)
    factory.set_launch(
        "( videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate=30/1"
        f" ! {CODECS[codec][0]} name=pay0 pt=96 )"
    )
    server.get_mount_points().add_factory("/stream", factory)
    if server.attach(None) == 0:
        sys.exit(f"port {port} of 127.0.0.1 is in use")
    threading.Thread(target=end_with_parent, daemon=True).start()
    print(server.get_bound_port(), flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    Gst.init(None)
    serve(*sys.argv[1:])
