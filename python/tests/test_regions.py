# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents of regions: the verdicts of the corpus that all readers share, and what only Python can pass."""

import contextlib
import json
import re
import sys
import types
from pathlib import Path

import numpy
import pytest

import cudaccl
from cudaccl.cli import main

CORPUS = (Path(__file__).resolve().parents[2] / "tests" / "common" / "regions.txt").read_text("utf-8")
# (name, reason, text); its head says what stands for a byte that is not UTF-8.
DOCUMENTS = [(head.partition(" ")[0], head.partition(" ")[2], text.encode().replace("\ufffd".encode(), b"\xc3"))
             for head, _, text in (entry.partition("\n") for entry in f"\n{CORPUS.rstrip()}".split("\n= ")[1:])]
BAD = [pytest.param(reason, text, id=name) for name, reason, text in DOCUMENTS if reason]
GOOD = [pytest.param(text, id=name) for name, reason, text in DOCUMENTS if not reason]
TRIANGLE = [[0, 0], [1, 0], [1, 1]]
DOCS = Path(__file__).resolve().parents[2] / "docs"
# What no schema can say, or json.loads() forgives.
BEYOND_THE_SCHEMA = {f"{name}.json" for name in (
    "deep", "line-as-zone", "line-no-length", "lines-of-one-name", "zones-of-one-name", "twice", "version-real",
    "syntax-surrogate", "syntax-zero")}


def engine(regions):
    return cudaccl.Engine((70, 90), regions=regions)


@pytest.mark.parametrize("reason, text", BAD)
def test_bad_documents(reason, text, tmp_path, capsys):
    path = tmp_path / "regions.json"
    path.write_bytes(text)
    with pytest.raises(ValueError, match=re.escape(reason)):
        engine(path)
    assert main(["label", "-s", f"regions={path}", "none.png"]) == 2
    error = capsys.readouterr().err
    assert reason in error and error.count("\n") == 1


@pytest.mark.parametrize("command", ["run", "publish", "fleet check", "fleet run"])
def test_commands_refuse_before_work(command, tmp_path, capsys):
    regions = tmp_path / "member.json"
    regions.write_text('{"version": 1, "exlude": []}')
    if command.startswith("fleet"):
        pytest.importorskip("yaml", reason="PyYAML is missing")
        (tmp_path / "fleet.yaml").write_text(
            f"live: {{sources: [{{name: a, source: none, properties: {{regions: {regions}}}}}], to: ['mqtt://none']}}")
        arguments = [*command.split(), tmp_path / "fleet.yaml"]
    else:
        arguments = [command, *(["--to", f"jsonl:{tmp_path}/out"] if command == "publish" else []),
                     "-s", f"regions={regions}", "none"]
    assert main(list(map(str, arguments))) == 2
    found = capsys.readouterr()
    assert "member.json" in found.err and 'unknown member "exlude"' in found.err
    assert found.err.count("\n") == 1 and found.out == "" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", GOOD)
def test_good_documents(text, tmp_path):
    path = tmp_path / "regions.json"
    path.write_bytes(text)
    engine(path)
    text = text.decode()
    engine(text)
    if "/*" not in text:
        engine(json.loads(text))


@pytest.mark.parametrize("regions, error, text", [
    ({}, ValueError, 'no member "version"'),
    ({"version": 1, "include": [{"polygon": [[0, 0], [1, float("nan")], [1, 1]]}]}, ValueError, "JSON"),
    ({"version": 1, "include": {5}}, TypeError, "regions have no set"),
    ("no/such/file.json", ValueError, "no/such/file.json: No such file"),
    (5, TypeError, "int"),
])
def test_what_is_no_document(regions, error, text):
    with pytest.raises(error, match=re.escape(text)):
        engine(regions)


def test_the_schema_has_these_verdicts():
    """Of all that is JSON, and of the examples of the documents."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is missing")
    schema = json.loads((DOCS / "regions.schema.json").read_text("utf-8"))
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    n_compared = 0
    for name, reason, text in DOCUMENTS:
        with contextlib.suppress(ValueError):
            value = json.loads(text)
            assert validator.is_valid(value) == (not reason or name in BEYOND_THE_SCHEMA), name
            n_compared += 1
    assert n_compared > 50
    examples = [text for path in DOCS.glob("*.md") if path.name not in ("json.md", "tune.md")
                for text in re.findall(r"^```json\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE)]
    assert len(examples) >= 2
    for text in examples:
        validator.validate(json.loads(text))
        cudaccl.Tracker((70, 90), regions=text)


def test_levels_are_bounded():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match="levels"):
        engine({"version": 1, "comment": deep})
    with pytest.raises(ValueError, match="more than 32 arrays"):
        engine('{"version": 1, "comment": ' + "[" * 75_000 + "]" * 75_000 + "}")


def test_arrays_and_mappings():
    polygon = numpy.array(TRIANGLE, numpy.float32)
    zone = types.MappingProxyType({"name": "a", "polygon": polygon, "crowd": numpy.int32(3)})
    tracker = cudaccl.Tracker((70, 90), regions=types.MappingProxyType({"version": 1, "zones": (zone,)}))
    assert tracker.zones == ("a",)


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
