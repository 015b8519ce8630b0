# SPDX-License-Identifier: LGPL-2.1-or-later
"""A table in a document, and what stands below it."""

import os
from pathlib import Path


def markdown(header, lines):
    width = len(header)
    rule = ["---"] + ["---:"] * (width - 1)
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [header, rule, *lines])


def caption(results, document, what):
    facts = results.facts
    return (f"\n*{what}. {results.machine()}; commit {facts.get('commit', '?')}, {facts.get('date', '?')}: "
            f"{link_to(results, document)}.*\n")


def link_to(results, document):
    return f"[{results.path.name}]({os.path.relpath(results.path, Path(document).resolve().parent)})"
