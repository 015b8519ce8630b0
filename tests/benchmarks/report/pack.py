#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one row of those that differ in their image, with a column for each image, and writes the file again:

    pack.py labelers.csv batch.csv

The medians stay, which is what tables and plots are made from, and so do the comments. What goes are the other columns
of an image: components, least times, repetitions. results.py reads both forms. A file that is packed already stays as
it is.
"""

import csv
import sys
from pathlib import Path

from results import BY_IMAGE, table_of

OF_AN_IMAGE = ("image", "components", "min_us", "median_us", "min_cpu_us", "rounds", "repetitions", "iterations")


def pack(path):
    comments, rows = table_of(path)
    if not rows or BY_IMAGE in rows[0]:
        return
    names = [name for name in rows[0] if name not in OF_AN_IMAGE]
    images = list(dict.fromkeys(row["image"] for row in rows))
    packed = {}
    for row in rows:
        medians = packed.setdefault(tuple(row[name] for name in names), {})
        if row["image"] in medians:
            sys.exit(f"{path}: two rows of {row}")
        medians[row["image"]] = row["median_us"]
    with open(path, "w", newline="", encoding="utf-8") as file:
        file.writelines(f"{comment}\n" for comment in dict.fromkeys(comments))
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*names, BY_IMAGE, *images])
        writer.writerows([*key, "", *(medians.get(image) for image in images)] for key, medians in packed.items())


if __name__ == "__main__":
    for name in sys.argv[1:]:
        pack(Path(name))
