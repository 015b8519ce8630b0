# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every labeler is in the library's table, in Meson's list of sources and in the documents' table, and has a picture.

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
    """{nick: set of backends}, and whether this build has the CUDA part."""
    device, *lines = subprocess.run([sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    return {words[0]: set(words[2:]) for words in map(str.split, lines)}, device == "device: yes"


def document_tables():
    """{document: {nick: set of backends}} of every table with a column `algorithm` and a column "where"."""
    tables = {}
    for document in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        found = re.search(r"^\| `algorithm` \| where \|.*\n\|[-| :]+\n((?:\|.*\n)+)", document.read_text(), re.MULTILINE)
        if found:
            rows = [[cell.strip() for cell in row.split("|")[1:3]] for row in found.group(1).splitlines()]
            tables[document.name] = {
                re.search("`([^`]+)`", nick).group(1): {{"CPU": "cpu", "GPU": "cuda"}[name] for name in where.split(", ")}
                for nick, where in rows}
    return tables


class LabelerTest(unittest.TestCase):
    maxDiff = None

    def test_sources_are_in_mesons_list(self):
        listed = (ROOT / "cuda" / "meson.build").read_text()
        for backend, (folder, suffix) in BACKENDS.items():
            prefix = "host/" if folder == "host" else ""  # Meson's list of kernels starts at cuda/device
            names = set(re.findall(rf"'{prefix}labelers/(\w+{re.escape(suffix)})'", listed))
            self.assertEqual(names, labeler_files(backend), f"cuda/meson.build and the files of cuda/{folder}/labelers")

    def test_library_has_every_labeler(self):
        table, has_device = library_table()
        for backend in BACKENDS if has_device else ["cpu"]:
            nicks = {nick for nick, backends in table.items() if backend in backends} - {"auto"}
            self.assertEqual(nicks, labelers_by_files(backend), f"factories in cuda/ccl/algorithm.cpp, backend {backend}")

    def test_every_labeler_has_a_picture(self):
        pictures = {path.stem for path in (ROOT / "docs" / "algorithms").glob("*.svg")}
        self.assertEqual(pictures, set(library_table()[0]) - {"auto"}, "docs/algorithms.py")

    def test_documents_have_every_labeler(self):
        documents = document_tables()
        self.assertTrue(documents, "no document has the table of algorithms")
        table, has_device = library_table()
        nicks = set(table) - {"auto"}
        want = {nick: {backend for backend in BACKENDS if nick in labelers_by_files(backend)} for nick in nicks}
        for document, rows in documents.items():
            self.assertEqual(rows, want, document)
            for backend in BACKENDS if has_device else ["cpu"]:
                self.assertEqual({nick for nick in rows if backend in rows[nick]},
                                 {nick for nick in nicks if backend in table[nick]}, f"{document}, backend {backend}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
