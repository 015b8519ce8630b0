# SPDX-License-Identifier: LGPL-2.1-or-later
"""Metadata that is broken: read as a whole, or refused as a whole, and never outside of its memory.

What tests/fuzz/fuzz_meta.cpp does with the C header.
"""

import numpy
import pytest

hypothesis = pytest.importorskip("hypothesis", reason="hypothesis is missing")
from hypothesis import strategies  # noqa: E402

from gst_element import Gst  # noqa: E402
import cudaccl  # noqa: E402
import cudaccl.gst  # noqa: E402
from gi.repository import GLib  # noqa: E402
from gst_made import add_meta, all_fields, good_fields, in_bytes  # noqa: E402

BOUNDED = hypothesis.settings(max_examples=400, deadline=None, database=None, derandomize=True)


def buffer_with(fields, name=b"GstCudaCclMeta"):
    buffer = Gst.Buffer.new_allocate(None, 16, None)
    add_meta(buffer, fields, name)
    return buffer


def is_read(buffer):
    """Whether the metadata is taken; then all of it is consistent, else nothing of it is there."""
    found = cudaccl.gst.info(buffer)
    counts = [len(read(buffer)) for read in (cudaccl.gst.records, cudaccl.gst.tracks, cudaccl.gst.events)]
    grey, polygons = cudaccl.gst.grey(buffer), cudaccl.gst.polygons(buffer)
    if found is None:
        assert counts == [0, 0, 0] and grey is None and polygons is None
        return False
    assert found.layout_version > 0 and found.width > 0 and found.height > 0
    assert grey is None or len(grey) == counts[0]
    for polygon, vertices in polygons or ():
        assert len(vertices) == polygon["n_vertices"]
    assert polygons is None or polygons.table["n_vertices"].sum(dtype="u8") <= len(polygons.vertices)
    return True


def test_all_fields_are_read():
    buffer = buffer_with(all_fields())
    assert is_read(buffer) and cudaccl.gst.info(buffer).zones == ("door",)
    counts = [len(read(buffer)) for read in (
        cudaccl.gst.records, cudaccl.gst.tracks, cudaccl.gst.events, cudaccl.gst.grey)]
    assert counts == [2, 1, 0, 2] and len(list(cudaccl.gst.polygons(buffer))) == 2


@pytest.mark.parametrize("field", [name for name in all_fields()])
def test_a_field_of_another_type(field):
    assert not is_read(buffer_with(all_fields() | {field: "(date)2020-01-01"}))


@pytest.mark.parametrize("field, value", [
    ("components", in_bytes(bytes(cudaccl.COMPONENT.itemsize - 1))),
    ("components", (GLib.Bytes, GLib.Bytes.new(b""))),  # then there is a grey record too many
    ("grey", in_bytes(bytes(cudaccl.GREY.itemsize))),
    ("vertices", in_bytes(bytes(3 * cudaccl.VERTEX.itemsize))),
    ("polygons", in_bytes(numpy.array([(2, 7, 2, 2**32 - 1, 2)], cudaccl.POLYGON).tobytes())),
    ("polygons", in_bytes(numpy.array([(2, 7, 2, 0, 4)] * 5000, cudaccl.POLYGON).tobytes())),  # they share vertices
    ("zones", "(int)<1, 2>"), ("zones", "(string){a}"), ("lines", "(string)gate"),
    ("layout-version", "(uint)0"), ("layout-version", "(int)1"), ("width", "(uint)0"), ("source", (str, None)),
])
def test_a_field_that_does_not_fit(field, value):
    assert not is_read(buffer_with(all_fields() | {field: value}))


def test_later_versions():
    buffer = buffer_with(good_fields() | {"layout-version": "(uint)4", "of-later": "(date)2020-01-01"})
    assert is_read(buffer) and cudaccl.gst.info(buffer).source == "made"


def test_refused_metadata_is_left_out():
    buffer = buffer_with(good_fields() | {"source": "(string)good"})
    add_meta(buffer, good_fields() | {"components": "(date)2020-01-01"})
    assert cudaccl.gst.info(buffer).source == "good"


NUMBERS = strategies.sampled_from([0, 1, 2, 3, 47, 48, 64, 2**31 - 1, 2**31, 2**32 - 1])
VALUES = strategies.one_of(
    strategies.builds("({}){}".format, strategies.sampled_from(["uint", "gint64", "guint64"]), NUMBERS),
    strategies.sampled_from([
        "(boolean)true", "(string)ids", "(string)<a, b>", "(string)<>", "(int)<1>", "(string){a}", "(date)2020-01-01",
        "(fraction)1/2", "(double)0.5", "(bitmask)0x3", "(structure)[x]", "(GstCaps)[video/x-raw]", "(datetime)2020",
        "(int)[1, 3]"]),
    strategies.sampled_from([(str, None), (GLib.Bytes,), (Gst.BufferList,), (Gst.Buffer,)]),
    strategies.builds(in_bytes, strategies.binary(max_size=4 * cudaccl.GREY.itemsize)),
    strategies.builds(
        lambda count, dtype: in_bytes(bytes(count * dtype.itemsize)), strategies.integers(0, 3),
        strategies.sampled_from([cudaccl.COMPONENT, cudaccl.TRACK, cudaccl.EVENT, cudaccl.POLYGON])))


@hypothesis.given(strategies.dictionaries(strategies.sampled_from(list(all_fields())), VALUES, max_size=4),
                  strategies.sets(strategies.sampled_from(list(all_fields())), max_size=2))
@BOUNDED
def test_metadata_broken_at_random(other, missing):
    fields = {name: value for name, value in (all_fields() | other).items() if name not in missing}
    is_read(buffer_with(fields))


def label_map_fields():
    buffers = Gst.BufferList.new()
    buffers.insert(-1, Gst.Buffer.new_wrapped(numpy.arange(12, dtype="i4").tobytes()))
    return {"source": "(string)made", "frame": "(guint64)5", "width": "(uint)3", "height": "(uint)3",
            "stride": "(uint)16", "kind": "(string)ids", "labels": (Gst.BufferList, buffers)}


def test_a_label_map_is_read():
    found = cudaccl.gst.label_map(buffer_with(label_map_fields(), b"GstCudaCclLabelMap"))
    assert found.tolist() == [[0, 1, 2], [4, 5, 6], [8, 9, 10]]


@pytest.mark.parametrize("field, value", [
    ("labels", "(date)2020-01-01"), ("labels", (Gst.BufferList, Gst.BufferList.new())), ("labels", (Gst.BufferList,)),
    ("kind", "(string)colours"), ("kind", "(uint)1"), ("stride", "(uint)8"), ("stride", "(uint)15"),
    ("height", "(uint)4"), ("width", "(uint)0"), ("frame", "(uint)5"), ("source", "(uint)5"),
])
def test_a_label_map_that_does_not_fit(field, value):
    buffer = buffer_with(label_map_fields() | {field: value}, b"GstCudaCclLabelMap")
    assert cudaccl.gst.label_map(buffer) is None


@hypothesis.given(strategies.dictionaries(strategies.sampled_from(list(label_map_fields())), VALUES, max_size=3))
@BOUNDED
def test_a_label_map_broken_at_random(other):
    fields = label_map_fields() | other
    found = cudaccl.gst.label_map(buffer_with(fields, b"GstCudaCclLabelMap"))
    assert found is None or found.size <= 12
