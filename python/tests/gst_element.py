# SPDX-License-Identifier: LGPL-2.1-or-later
"""GStreamer with the element. A module of tests that imports this one is skipped where one of both is missing."""

import pytest

gi = pytest.importorskip("gi", reason="python3-gi is missing")
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402  (the version comes first)

Gst.init(None)
if Gst.ElementFactory.make("cudaccl") is None:  # which registers its metadata
    pytest.skip("GStreamer has no element cudaccl", allow_module_level=True)
