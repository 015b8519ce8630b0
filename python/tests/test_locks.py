# SPDX-License-Identifier: LGPL-2.1-or-later
"""The lists of Python packages with hashes have what pyproject.toml and requirements.txt ask for, and so has the SBOM."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

requirements = pytest.importorskip("packaging.requirements", reason="packaging is missing")

ROOT = Path(__file__).resolve().parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text()
LOCKS = {path.stem: path.read_text() for path in (ROOT / "python/locks").glob("*.txt")}


def of_project(key):
    return re.findall(r'"([^"]+)"', re.search(rf"^{key} = \[(.*)\]$", PROJECT, re.MULTILINE)[1])


def of_file(folder):
    return re.findall(r"^[^#\n]+", (ROOT / folder / "requirements.txt").read_text(), re.MULTILINE)


TESTS = of_file("python/tests")


@pytest.mark.parametrize("lists,wanted", [
    ("build", of_project("requires")),
    ("numpy", of_project("dependencies")),
    *(("publish", of_project(extra)) for extra in ("cli", "parquet", "mqtt", "kafka", "metrics", "tune")),
    ("publish fleet", of_project("fleet")),
    ("build publish tests", [one for one in TESTS if "==" in one]),
    ("axe", of_file("python/tests/tune")),
    ("peers", [one for one in TESTS if "==" not in one]),
    *((f"{name}-bench", of_file(f"tests/benchmarks/{name}-bench")) for name in ("python", "separate", "track", "video")),
])
def test_lists_have_what_is_asked_for(lists, wanted):
    entries = [requirements.Requirement(line) for name in lists.split() for line in re.findall(
        r"^([\w.-]+==.*?) \\$", LOCKS[name], re.MULTILINE)]
    for text in wanted:
        want = requirements.Requirement(text)
        found = [one for one in entries if one.name == want.name and (one.marker is None or one.marker.evaluate())]
        assert found or (want.marker is not None and not want.marker.evaluate()), text
        for one in found:
            version = str(one.specifier).removeprefix("==")
            assert want.marker is not None and not want.marker.evaluate() or version in want.specifier, (text, str(one))


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_has_hashes(name):
    body = LOCKS[name].split("\n", 1)[1]
    assert re.fullmatch(r"([\w.-]+==[^\\\n]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n)+", body)


def test_sbom_is_current():
    done = subprocess.run([sys.executable, ROOT / "scripts/sbom", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
