# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of tune-bench: how fast the page of `cudaccl tune` is, and what it takes from the pipeline."""

from markdown_table import caption, markdown

NAMES = {"first picture": "from the command to the first picture", "change at 1080p": "from a changed setting to its picture, 1920×1080",
         "rate": "frames of the clip, as fast as possible", "run": "the same by `cudaccl run`",
         "paced": "frames of the clip, at its pace", "of none": "rate with a page, as part of that without (95 %)",
         "of run": "rate with a page, as part of that of `cudaccl run` (95 %)"}


def tune(results, document):
    lines = [[NAMES[row.what], str(row.pages), f"{row.value} {row.unit}", f"{row.least} to {row.largest}"]
             for row in results.rows]
    return markdown(["what", "pages", "median", "least to largest"], lines) + caption(
        results, document, "Pages that ask for every picture, and decode none")
