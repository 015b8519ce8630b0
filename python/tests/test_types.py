# SPDX-License-Identifier: LGPL-2.1-or-later
"""The types of events are those of cuda/ccl/track.h in the package and in the documents, in the same order. So are the
kinds of polygons."""

import json
import re
import sys
from pathlib import Path

import pytest

import cudaccl
from cudaccl import _core

DOCS = Path(__file__).resolve().parents[2] / "docs"
EVENTS = (DOCS / "events.md").read_text(encoding="utf-8")
TYPES = _core.event_types()


def test_the_package_has_the_types_of_the_library():
    assert list(cudaccl.EVENT_TYPES) == TYPES


def test_the_schema_of_records_has_the_types():
    schema = json.loads((DOCS / "records.schema.json").read_text(encoding="utf-8"))
    assert schema["$defs"]["event"]["properties"]["type"]["enum"] == TYPES[1:]


def test_the_table_of_events_has_the_types():
    table = EVENTS.split("| type | `id` |")[1].split("\n\n")[0]
    first_cells = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert re.findall(r"`([a-z-]+)`", " ".join(first_cells)) == TYPES[1:]


def test_the_snippet_of_events_has_the_types():
    snippet = re.search(r"^TYPES = \[None, (.*?)\]", EVENTS, re.MULTILINE | re.DOTALL)
    assert re.findall(r'"([a-z-]+)"', snippet.group(1)) == TYPES[1:]


def test_the_documents_have_the_kinds_of_polygons():
    schema = json.loads((DOCS / "records.schema.json").read_text(encoding="utf-8"))
    kinds = list(cudaccl.POLYGON_KINDS[1:])
    assert schema["$defs"]["polygon"]["properties"]["kind"]["enum"] == kinds
    numbered = ", ".join(f"{number} {kind}" for number, kind in enumerate(kinds, 1))
    assert f"| `kind` | u32 | {numbered} |" in (DOCS / "features.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
