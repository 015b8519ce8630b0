#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""publish.py [--minutes N] [--cameras N] [COMMAND]: runs `cudaccl publish` with live cameras and a broker of its own, and
writes CSV as soak does, of that process. COMMAND is the program, `cudaccl` without it.

Needs mosquitto. Latencies come from the process's figures for Prometheus: of a quantile, the upper end of the interval
that it is in. At the end each frame must have been sent.
"""

import argparse
import contextlib
import datetime
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from pathlib import Path

SETTINGS = ("foreground=motion", "motion-warm-up=0", "track=true", "min-area=16",
            "features=moments+perimeter+euler+grey+rectangle+hull+contour+inradius")
REGIONS = ('{"version": 1, "zones": [{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], "dwell": 1}], '
           '"lines": [{"name": "middle", "from": [0.5, 0], "to": [0.5, 1]}]}')
CAMERA = ("{}=videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=640,height=480,framerate=30/1"
          " ! identity")
LINE = re.compile(r'^(\w+)(?:\{(.*)\})? (\S+)$', re.MULTILINE)


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextlib.contextmanager
def broker(folder):
    """mosquitto on a free port of this machine."""
    port = free_port()
    config = Path(folder, "mosquitto.conf")
    config.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\n")
    process = subprocess.Popen(["mosquitto", "-c", config], stderr=subprocess.DEVNULL)
    try:
        yield port
    finally:
        process.terminate()
        process.wait()


def figures(port):
    """{name: sum over all labels, of sinks only what was sent}, and {upper end: frames} of the latencies."""
    sums, latencies = Counter(), Counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for name, labels, value in LINE.findall(answer.read().decode()):
            if name == "cudaccl_latency_seconds_bucket":
                latencies[float(re.search(r'le="([^"]*)"', labels)[1])] += float(value)
            if name != "cudaccl_sink_frames_total" or 'outcome="sent"' in labels:
                sums[name] += float(value)
    return sums, latencies


def quantile(latencies, part):
    """Milliseconds."""
    return next(end for end, count in sorted(latencies.items()) if count >= part * max(latencies.values())) * 1000


def row(minute, process, before, now):
    (old, old_latencies), (new, new_latencies) = before, now
    latencies = {end: count - old_latencies[end] for end, count in new_latencies.items()}
    status = Path(f"/proc/{process.pid}/status").read_text()
    held = {name: int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE)[1]) for name in ("VmRSS", "Threads")}
    count = {name: int(new[name] - old[name])
             for name in ("cudaccl_frames_total", "cudaccl_events_total", "cudaccl_sink_frames_total")}
    return [f"{minute:.2f}", count["cudaccl_frames_total"], *(f"{quantile(latencies, part):g}" for part in (0.5, 0.99, 0.999)),
            held["VmRSS"], 0, len(list(Path(f"/proc/{process.pid}/fd").iterdir())), held["Threads"],
            count["cudaccl_events_total"], count["cudaccl_sink_frames_total"]]


def watch(process, port, minutes):
    print("minutes,frames,p50_ms,p99_ms,p999_ms,rss_kb,gpu_kb,descriptors,threads,events,messages", flush=True)
    start = time.monotonic()
    before = Counter(), Counter()
    for minute in range(1, minutes + 1):
        while time.monotonic() < start + 60 * minute:
            if process.poll() is not None:
                sys.exit(f"cudaccl publish ended with {process.returncode}")
            time.sleep(0.2)
        now = figures(port)
        print(*row(minute, process, before, now), sep=",", flush=True)
        before = now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=60)
    parser.add_argument("--cameras", type=int, default=4)
    parser.add_argument("command", nargs="?", default="cudaccl")
    arguments = parser.parse_args()
    model = re.search(r"^model name\s*: (.*)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    version = subprocess.run([arguments.command, "--version"], check=True, capture_output=True, text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", Path(__file__).parent, "rev-parse", "--short=10", "HEAD"], capture_output=True,
                            text=True).stdout.strip()
    print(f"# command: publish.py --minutes {arguments.minutes} --cameras {arguments.cameras}\n# date: "
          f"{datetime.date.today()}\n# commit: {commit}\n# cpu: {model[1] if model else '?'}\n# version: {version}")
    with tempfile.TemporaryDirectory() as folder, broker(folder) as port, open(Path(folder, "errors"), "w+") as errors:
        metrics = free_port()
        process = subprocess.Popen(
            [arguments.command, "publish", "--to", f"mqtt://127.0.0.1:{port}/soak", "--spool", folder, "--metrics",
             str(metrics), *(word for setting in (*SETTINGS, f"regions={REGIONS}") for word in ("-s", setting)),
             *(CAMERA.format(f"camera{i}") for i in range(arguments.cameras))], stderr=errors)
        try:
            watch(process, metrics, arguments.minutes)
        finally:
            process.send_signal(signal.SIGINT)
            process.wait()
            errors.seek(0)
            print(errors.read(), end="", file=sys.stderr)
    sys.exit(process.returncode)


if __name__ == "__main__":
    main()
