# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of energy and cost, from the CSV of `energy-bench`."""

from markdown_table import link_to, markdown
from results import size_name


def energy(results, document):
    """A line for each kind of frames; what a machine does not count is a dash."""
    lines = [[f"{'GPU' if row.backend == 'cuda' else 'CPU'}, {row.image}, {size_name(row.size)}",
              "records only" if row.output == "passthrough" else "RGBA and records", row.fps, row.watts or "–",
              row.nj_per_pixel or "–", row.joules_per_million or "–", row.dollars_per_million] for row in results.rows]
    header = ["frames", "to", "fps", "watts", "nJ a pixel", "joules", "dollars"]
    idle = next((row.idle_watts for row in results.rows if row.backend == "cuda" and row.idle_watts), "–")
    return markdown(header, lines) + (
        f"\n*Joules and dollars are those of a million frames; {results.facts['prices']}. All features, in CUDA memory on "
        f"the GPU, whose board takes {idle} W without work, and with all processors on the CPU. {results.comments[0]}: "
        f"{link_to(results, document)}.*\n")
