# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which parts of the package import which: no circle."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "cudaccl"
BELOW = {
    "publish": (), "video": ("publish",), "record": ("publish", "video"), "fleet": ("publish", "video"),
    "tune": ("publish", "video"), "cli": ("publish", "video", "record", "fleet", "tune")}


@pytest.mark.parametrize("part", BELOW)
def test_a_part_imports_only_those_below(part):
    for path in (PACKAGE / part).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else [
                alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module == "cudaccl":
                names = [f"cudaccl.{alias.name}" for alias in node.names]
            for name in names:
                other = name.removeprefix("cudaccl.").split(".")[0]
                assert other == part or other not in BELOW or other in BELOW[part], f"{path}:{node.lineno}: {name}"
