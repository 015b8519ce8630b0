#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether soak would show a leak, and soak.py what grows. An hour of it is run by hand: see docs/testing.md."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

JUDGE = Path(__file__).resolve().parents[1] / "benchmarks/report/soak.py"
SOAK = os.environ["CUDACCL_TEST_SOAK"]
LEAK = 300_000  # bytes per frame, so that what the allocator gives back meanwhile is little beside it


def run(*options):
    done = subprocess.run([SOAK, *options], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(line for line in done.stdout.splitlines() if not line.startswith("#")))


def judge(path, rows):
    path.write_text("# command: soak\n" + "\n".join([",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]))
    return subprocess.run([sys.executable, JUDGE, path], capture_output=True, text=True)


def made(**values):
    """An hour: what a figure is in each minute; others are constant."""
    constant = {"minutes": 0, "frames": 100, "p50_ms": 1, "p99_ms": 2, "p999_ms": 3, "rss_kb": 200_000, "gpu_kb": 0,
                "descriptors": 40, "threads": 9, "events": 5, "messages": 100}
    return [constant | {"minutes": minute} | {name: value(minute) for name, value in values.items()}
            for minute in range(1, 61)]


def test_a_leak_is_in_the_memory():
    """Between two lines behind the begin, memory grows by what is kept for the frames in between."""
    rows = run("--streams", "4", "--minutes", "0.15", "--every", "1", "--leak", str(LEAK))
    assert [float(row["minutes"]) for row in rows] == pytest.approx([i / 60 for i in range(1, 10)], abs=0.01)
    kept = sum(int(row["frames"]) for row in rows[4:]) * LEAK / 1024
    assert int(rows[-1]["rss_kb"]) - int(rows[3]["rss_kb"]) > 0.7 * kept
    n_frames, n_messages = (sum(int(row[name]) for row in rows) for name in ("frames", "messages"))
    assert n_frames > 0 and abs(n_frames - n_messages) <= 4  # a frame of each stream may be on its way
    assert sum(int(row["events"]) for row in rows) > 0


def test_what_goes_up_and_down_is_steady(tmp_path):
    rows = made(rss_kb=lambda minute: 200_000 + 500 * (minute % 7), p99_ms=lambda minute: 2 + minute % 5,
                threads=lambda minute: 9 + minute % 2)
    assert judge(tmp_path / "soak.csv", rows).returncode == 0


def test_what_is_taken_at_the_beginning_is_steady(tmp_path):
    assert judge(tmp_path / "soak.csv", made(rss_kb=lambda minute: min(minute, 8) * 20_000)).returncode == 0


@pytest.mark.parametrize("name, value", [
    ("rss_kb", lambda minute: 200_000 + 100 * minute + 900 * (minute % 3)),
    ("descriptors", lambda minute: 40 + minute // 20),
    ("threads", lambda minute: 9 + minute // 25),
    ("p99_ms", lambda minute: 2 + 0.02 * minute),
])
def test_what_grows_is_named(tmp_path, name, value):
    done = judge(tmp_path / "soak.csv", made(**{name: value}))
    assert done.returncode == 1
    assert sum("grows" in line for line in done.stdout.splitlines()) == 1, done.stdout


def test_too_few_lines_are_an_error(tmp_path):
    done = judge(tmp_path / "soak.csv", made()[:5])
    assert done.returncode == 1 and "too few" in done.stderr


@pytest.mark.parametrize("options", [["--streams", "0"], ["--minutes", "0"], ["--backend", "none"], ["more"]])
def test_wrong_options_are_errors(options):
    done = subprocess.run([SOAK, *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and done.stderr.startswith("soak: ")


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-rs", __file__]))
