# SPDX-License-Identifier: LGPL-2.1-or-later
"""fleet.yaml with any contents is read, or refused with one line that says where."""

import copy
import re

import pytest

yaml = pytest.importorskip("yaml", reason="PyYAML is missing")
hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is missing")
from hypothesis import strategies  # noqa: E402

from cudaccl.fleet import Config, ConfigError, load  # noqa: E402

BOUNDED = hypothesis.settings(max_examples=60, deadline=None, database=None, derandomize=True)
GOOD = {
    "cluster": {"address": "head:6379", "nodes": {"gpu1": {"slots-per-gpu": 3}}},
    "properties": {"threshold": 128},
    "archives": {"output": "out", "form": "parquet", "files": [{"name": "door", "path": "door.mp4"}], "segment": 2.5},
    "live": {"sources": [{"name": "gate", "source": "rtsp://cam/live", "properties": {"track": True}}],
             "to": ["jsonl:live.jsonl"]},
}
SCALARS = strategies.one_of(
    strategies.none(), strategies.booleans(), strategies.integers(), strategies.floats(),
    strategies.text(max_size=8), strategies.sampled_from(["1s", "-1", "nan", "a b", "../a", "\x1b[31m", "a\nb"]))
VALUES = strategies.recursive(
    SCALARS, lambda inner: strategies.one_of(strategies.lists(inner, max_size=3),
                                             strategies.dictionaries(strategies.text(max_size=5), inner, max_size=3)),
    max_leaves=5)


def places(tree, path=()):
    """Of all values, the whole first."""
    yield path
    members = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in members:
        yield from places(value, (*path, key))


def replaced(path, value):
    if not path:
        return value
    tree = copy.deepcopy(GOOD)
    inner = tree
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return tree


@pytest.fixture(scope="module")
def is_read_or_refused(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fleet")
    (folder / "door.mp4").write_bytes(b"")
    file = folder / "fleet.yaml"

    def check(text):
        file.write_text(text, encoding="utf-8")
        try:
            assert isinstance(load(file), Config)
        except ConfigError as error:
            assert str(error).isprintable(), "one line, without what a terminal obeys"
            assert re.match(re.escape(str(file)) + r"(:\d+)?: .", str(error)), str(error)

    return check


@hypothesis.given(path=strategies.sampled_from(list(places(GOOD))), value=VALUES)
@BOUNDED
def test_one_value_is_another(is_read_or_refused, path, value):
    is_read_or_refused(yaml.safe_dump(replaced(path, value), allow_unicode=True))


@hypothesis.given(text=strategies.text(max_size=60))
@BOUNDED
def test_any_text(is_read_or_refused, text):
    is_read_or_refused(text.encode("utf-8", "replace").decode())


@hypothesis.given(place=strategies.integers(min_value=0), text=strategies.text(min_size=1, max_size=3))
@BOUNDED
def test_a_good_file_in_which_something_is_typed(is_read_or_refused, place, text):
    good = yaml.safe_dump(GOOD)
    place %= len(good)
    is_read_or_refused((good[:place] + text + good[place:]).encode("utf-8", "replace").decode())
