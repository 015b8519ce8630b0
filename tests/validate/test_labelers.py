# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every labeler is in the library's table and in that of the documents, and has a picture.

    test_labelers.py LIST_ALGORITHMS

LIST_ALGORITHMS is the program that prints the library's table. A labeler's files are named after its nick. `runs`
has a folder of its own on either backend.
"""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BACKENDS = {"cpu": ("host", ".cpp"), "cuda": ("device", ".cu")}


def labeler_files(backend):
    folder, suffix = BACKENDS[backend]
    return {path.name for path in (ROOT / "cuda" / folder / "labelers").glob("*" + suffix)}


def labelers_by_files(backend):
    folder, suffix = BACKENDS[backend]
    nicks = {name.removesuffix(suffix).replace("_", "-") for name in labeler_files(backend)}
    return nicks | ({"runs"} if (ROOT / "cuda" / folder / "runs").is_dir() else set())


def library_table():
    """{nick: (value, set of backends)}, and whether this build has the CUDA part."""
    device, *lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[0]: (int(words[1]), set(words[2:])) for words in map(str.split, lines)}, device == "device: yes"


def document_tables():
    """{document: {nick: (value, set of backends)}} of every table with these columns."""
    tables = {}
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found = re.search(r"^\| `algorithm` \| value \| where \|.*\n\|[-| :]+\n((?:\|.*\n)+)", document.read_text(), re.MULTILINE)
        if found:
            rows = [[cell.strip() for cell in row.split("|")[1:4]] for row in found.group(1).splitlines()]
            tables[document.name] = {
                re.search("`([^`]+)`", nick).group(1):
                    (int(value), {{"CPU": "cpu", "GPU": "cuda"}[name] for name in where.split(", ")})
                for nick, value, where in rows}
    return tables


class LabelerTest(unittest.TestCase):
    maxDiff = None

    def test_library_has_every_labeler(self):
        table, has_device = library_table()
        for backend in BACKENDS if has_device else ["cpu"]:
            nicks = {nick for nick, (_, backends) in table.items() if backend in backends} - {"auto"}
            self.assertEqual(nicks, labelers_by_files(backend), f"cuda/ccl/algorithms.def, backend {backend}")

    def test_every_labeler_has_a_picture(self):
        pictures = {path.stem for path in (ROOT / "docs" / "algorithms").glob("*.svg")}
        self.assertEqual(pictures, set(library_table()[0]) - {"auto"}, "docs/algorithms.md needs a marker for each picture")
        drawn = subprocess.run([sys.executable, "-B", str(ROOT / "docs" / "algorithms.py"), "--check"],
                               capture_output=True, text=True, check=False)
        self.assertEqual((drawn.returncode, drawn.stderr), (0, ""))

    def test_documents_have_every_labeler(self):
        documents = document_tables()
        self.assertTrue(documents, "no document has the table of algorithms")
        table, has_device = library_table()
        in_build = set(BACKENDS) if has_device else {"cpu"}
        for document, rows in documents.items():
            for nick in rows.keys() - {"auto"}:
                self.assertEqual(rows[nick][1], {name for name in BACKENDS if nick in labelers_by_files(name)}, nick)
            self.assertEqual({nick: (value, backends & in_build) for nick, (value, backends) in rows.items()}, table,
                             f"{document}: applications keep these names and values, so no value ever changes")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
