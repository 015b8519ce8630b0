# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads ccl-bench's CSV, and sums it up. The standard library is enough."""

import csv
import math
from pathlib import Path

SIZE_NAMES = {(1280, 720): "720p", (1920, 1080): "1080p", (2048, 2048): "2048²", (3840, 2160): "4K",
              (8192, 8192): "8192²"}
FLOOR = "floor-read1-write4"
PEERS = {"npp-union-find": "NVIDIA NPP", "npp-union-find+compress": "NVIDIA NPP, consecutive labels",
         "cupyx-label": "CuPy"}
NUMBERS = ("min_us", "median_us", "paper", "ours", "ratio", "precision", "recall", "f1", "settled_after", "mota",
           "idf1", "color_changes", "cpu_ms")
INTEGERS = ("connectivity", "width", "height", "repetitions")
# Stands before the columns that are images, in files that pack.py has written.
BY_IMAGE = "median_us by image"


def table_of(path):
    """The comments of a file, and its rows as {column: text}."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    # Several runs may have been written one after the other, each with the names of its columns.
    table = [line for line in lines if not line.startswith("#")]
    table = table[:1] + [line for line in table if line != table[0]]
    return [line for line in lines if line.startswith("#")], list(csv.DictReader(table))


def row_per_image(columns):
    """The rows that pack.py made one of; any other row as it is."""
    if BY_IMAGE not in columns:
        return [columns]
    names = list(columns)
    place = names.index(BY_IMAGE)
    common = {name: columns[name] for name in names[:place]}
    return [common | {"image": image, "median_us": columns[image]} for image in names[place + 1:] if columns[image]]


class Row:
    """A line of the CSV: its columns as attributes; times in µs, None for a number that is not there."""

    def __init__(self, columns):
        for name, text in columns.items():
            if name in NUMBERS:
                value = float(text) if text else None
            elif name in INTEGERS:
                value = int(text)
            else:
                value = text
            setattr(self, name, value)
        self.size = (self.width, self.height) if "width" in columns else None


class Results:
    """The rows of a file, and the facts in its comment lines."""

    def __init__(self, path):
        self.path = Path(path)
        comments, rows = table_of(path)
        self.comments = [comment.removeprefix("#").strip() for comment in comments]
        self.facts = dict(comment.split(": ", 1) for comment in self.comments if ": " in comment)
        self.rows = [Row(columns) for row in rows for columns in row_per_image(row)]

    def select(self, **columns):
        return [row for row in self.rows if all(getattr(row, name) == value for name, value in columns.items())]

    def sizes(self):
        """From the smallest to the largest, of those that labelers were timed at."""
        return sorted({row.size for row in self.labelers()}, key=lambda size: size[0] * size[1])

    def labelers(self, **columns):
        """Rows of labelers: in a graph on the GPU, by the engine on the CPU; colorized unless asked otherwise."""
        wanted = {"output": "colorized", "features": "basic", "connectivity": 8} | columns
        return [row for row in self.select(**wanted)
                if (row.backend, row.mode) in (("cuda", "graph"), ("cpu", "engine"))]

    def peers(self, **columns):
        return [row for row in self.select(**columns) if row.mode == "peer"]

    def floor(self, size):
        """Median of the time to read and write all pixels in µs, or None."""
        rows = self.select(algorithm=FLOOR, size=size)
        return rows[0].median_us if rows else None

    def origin(self):
        """For plots, which tables.py compares with it."""
        return f"{self.path.name}: commit {self.facts.get('commit', '?')}, {self.facts.get('date', '?')}"

    def machine(self):
        """For captions."""
        facts = self.facts
        if "gpu" in facts:
            name = facts["gpu"].split(",")[0]
            return f"{name}, driver {facts.get('driver', '?')}, CUDA {facts.get('cuda', '?')}"
        return facts.get("cpu", "unknown machine")


def by_algorithm(rows):
    """{algorithm: [row per image]}, of the images that every algorithm was timed on, so that means compare."""
    groups = {}
    for row in rows:
        groups.setdefault(row.algorithm, {})[row.image] = row
    common = set.intersection(*(set(group) for group in groups.values())) if groups else set()
    return {name: [group[image] for image in group if image in common] for name, group in groups.items()}


def mean(rows):
    """The geometric mean of medians, µs."""
    return math.exp(math.fsum(math.log(row.median_us) for row in rows) / len(rows))


def worst(rows):
    return max(rows, key=lambda row: row.median_us)


def size_name(size):
    return SIZE_NAMES.get(size, f"{size[0]}×{size[1]}")


def algorithm_name(algorithm):
    return PEERS.get(algorithm, algorithm)
