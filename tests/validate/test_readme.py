# SPDX-License-Identifier: LGPL-2.1-or-later
"""The README keeps its word: every launch line runs, every property stands in its table."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

try:
    import pytest
except ImportError as missing:
    print(f"skipped: {missing}; install python3-pytest")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
CLIPS = [
    ROOT / "build" / "clip" / "vtest.avi",  # where scripts/demo keeps it if documentation is not installed
    Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi"),
    Path("/usr/lib/python3/dist-packages/imageio/resources/images/cockatoo.mp4"),
]
FRAMES = 20


def launch_lines():
    blocks = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    lines += re.findall(r"`(gst-launch-1\.0 [^`]*)`", README)
    return [line for line in lines if line.startswith("gst-launch-1.0 ")]


def run(arguments, cwd):
    return subprocess.run(arguments, cwd=cwd, capture_output=True, text=True, timeout=120)


def has_gpu(cwd, device=0):
    """True if a pipeline with backend=cuda starts; a machine without that GPU must say what is missing."""
    element = f"cudaccl backend=cuda cuda-device-id={device}"
    probe = run(shlex.split(f"gst-launch-1.0 videotestsrc num-buffers=1 ! {element} ! fakesink"), cwd)
    if probe.returncode != 0:
        assert re.search("GPU|driver|CUDA", probe.stderr), probe.stderr
    return probe.returncode == 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the README's clip.avi: the first frames of a real one, where one is installed."""
    path = tmp_path_factory.mktemp("readme")
    clip = next((clip for clip in CLIPS if clip.exists()), None)
    # Documentation may be left out of an installation; the lines run on a test picture as well.
    source = f"filesrc location={clip} ! decodebin" if clip else "videotestsrc pattern=ball"
    made = run(
        shlex.split(
            f"gst-launch-1.0 {source} ! identity eos-after={FRAMES + 1}"
            " ! videoconvert ! jpegenc quality=95 ! avimux ! filesink location=clip.avi"
        ),
        path,
    )
    assert made.returncode == 0, made.stderr
    coded = run(
        shlex.split(
            "gst-launch-1.0 filesrc location=clip.avi ! decodebin ! videoconvert ! openh264enc ! h264parse"
            " ! video/x-h264,stream-format=byte-stream ! filesink location=clip.h264"
        ),
        path,
    )
    assert coded.returncode == 0, coded.stderr
    return path


@pytest.fixture(scope="module")
def camera():
    """Where rtsp://camera.local/stream is played by a server of our own."""
    gi = pytest.importorskip("gi")
    try:
        gi.require_version("Gst", "1.0")
        gi.require_version("GstRtspServer", "1.0")
    except ValueError:
        pytest.skip("no RTSP server: install gir1.2-gst-rtsp-server-1.0")
    import threading

    from gi.repository import GLib, Gst, GstRtspServer

    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(
        "( videotestsrc is-live=true ! video/x-raw,width=320,height=240 ! videoconvert"
        " ! openh264enc ! rtph264pay name=pay0 pt=96 )"
    )
    server.get_mount_points().add_factory("/stream", factory)
    server.attach(None)
    loop = GLib.MainLoop()
    thread = threading.Thread(target=loop.run, daemon=True)
    thread.start()
    yield f"127.0.0.1:{server.get_bound_port()}"
    loop.quit()
    thread.join()


@pytest.mark.parametrize("line", launch_lines())
def test_launch_line_runs(line, folder, request):
    if "backend=cuda" in line and not has_gpu(folder, device=1 if "cuda-device-id=1" in line else 0):
        return  # has_gpu() has checked the error such a machine gives instead
    # What a test machine lacks, and an end for lines that run forever.
    line = line.replace("autovideosink", f"fakesink num-buffers={FRAMES}")
    line = line.replace("glimagesink", f"fakesink num-buffers={FRAMES}")
    line = line.replace("v4l2src", f"videotestsrc is-live=true num-buffers={FRAMES}")
    if "camera.local" in line:
        line = line.replace("camera.local", request.getfixturevalue("camera"))
    done = run(shlex.split(line), folder)
    assert done.returncode == 0, done.stderr
    assert "ERROR" not in done.stderr, done.stderr
    if "post-messages=true" in line and "num-buffers=10 " in line:
        assert done.stdout.count("n-components=(uint)1") == 10, done.stdout


def test_there_are_launch_lines():
    assert len(launch_lines()) >= 9


def test_labels_are_the_same_on_cpu_and_gpu(folder):
    if not has_gpu(folder):
        pytest.skip("no GPU to compare the CPU's labels with")
    cpu, cuda = (folder / name for name in ("labels.gray16", "labels-cuda.gray16"))
    assert cpu.stat().st_size > 0
    assert cpu.read_bytes() == cuda.read_bytes()


def test_property_table_is_complete():
    inspected = run(["gst-inspect-1.0", "cudaccl"], ROOT).stdout
    properties = set(re.findall(r"^  ([a-z-]+) +: ", inspected.split("Element Properties:")[1], re.MULTILINE))
    table = README.split("## Properties")[1].split("## ")[0]
    told = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall("`([a-z-]+)`", row)}
    assert properties - {"name", "parent", "qos"} == told


def test_files_it_links_to_exist():
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


if __name__ == "__main__":
    os.environ.setdefault("PYTEST_ADDOPTS", "")
    raise SystemExit(pytest.main([__file__, "-q", "-rs"]))
