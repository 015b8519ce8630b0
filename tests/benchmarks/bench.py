# SPDX-License-Identifier: LGPL-2.1-or-later
"""What benchmarks in Python share: the facts that stand above their figures, and how both become a CSV."""

import csv
import datetime
import platform
import re
import subprocess
from pathlib import Path


def output_of(*command):
    done = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def facts(command, commit):
    """commit: that of this checkout if it is None."""
    names = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    described = output_of("git", "-c", "safe.directory=*", "describe", "--always", "--dirty", "--abbrev=10", "--exclude=*")
    cpu = re.sub(r" \d.*| Processor.*", "", names[0]) if names else platform.machine()
    return {"command": command, "date": datetime.date.today().isoformat(), "commit": commit or described,
            "cpu": f"{cpu}, {len(names)} threads", "python": platform.python_version()}


def gstreamer():
    return {"gstreamer": output_of("gst-launch-1.0", "--version").split("\n")[0].split(" ")[-1]}


def write(path, head, columns, rows):
    """rows: written as they come."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in head.items())
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow(row)
            file.flush()


def named_settings(text):
    name, properties = text.split(":", 1)  # without a colon argparse reports a wrong value
    return name, properties.strip()


def read_pgm(path):
    """(width, height, pixels) of a file that ccl-bench wrote."""
    magic, size, maximum, pixels = Path(path).read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    if (magic, maximum) != (b"P5", b"255") or len(pixels) != width * height:
        raise ValueError(f"{path}: not a PGM file of ccl-bench's")
    return width, height, pixels
