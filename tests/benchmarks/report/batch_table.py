# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of batches, from the CSV of `ccl-bench batch`."""

from markdown_table import caption, markdown
from results import mean, size_name


def batches(results, document):
    """A line for each kind of frames: the time of one alone, of one of 8, and of one of the largest batch."""
    groups = {}
    for row in results.select(mode="batch"):
        count = int(row.algorithm.rpartition(" ")[2])
        groups.setdefault((row.size, row.output, row.features), {}).setdefault(count, []).append(row)

    def line(size, output, features, by_count):
        alone, largest = mean(by_count[1]), max(by_count)

        def cell(count):
            if count not in by_count:
                return "–"
            us = mean(by_count[count])
            return f"{us:.2f} ({alone / us:.1f}×)"

        what = "records only" if output == "none" else f"`{output}`"
        return [f"{size_name(size)}, {what}, {features}", f"{alone:.1f}", cell(8), f"{cell(largest)} of {largest}"]

    lines = [line(*kind, by_count) for kind, by_count in groups.items()]
    return markdown(["frames", "alone", "of 8", "of the largest batch"], lines) + caption(
        results, document, "Microseconds of device time for a frame, and how many times as fast as alone; geometric mean of "
                           "the images of the table of labelers, one launch after the other, without a graph")
