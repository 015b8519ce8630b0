# SPDX-License-Identifier: LGPL-2.1-or-later
"""In a process that has loaded libstdc++ before GStreamer, as NumPy, PyTorch and OpenCV do, mistakes of a user are
warnings.

Debian's GStreamer is built with libunwind, which then unwinds the plugin's exceptions together with libgcc: a process
that throws one aborts. The plugin is found through GST_PLUGIN_PATH_1_0.
"""

import os
import subprocess
import sys

try:
    import gi  # noqa: F401
    import pytest
except ImportError as missing:
    print(f"skipped: {missing}; install python3-gi and python3-pytest")
    sys.exit(77)

PROGRAM = """
import ctypes
import sys
ctypes.CDLL("libstdc++.so.6")
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
element = Gst.ElementFactory.make("cudaccl")
bus = Gst.Bus()
element.set_bus(bus)
element.set_state(Gst.State.READY)
element.set_property("regions", sys.argv[1])
element.set_state(Gst.State.PAUSED)
message = bus.pop_filtered(Gst.MessageType.ERROR)
print(message.parse_error()[0].message if message else "no error")
element.set_state(Gst.State.NULL)
element.set_bus(None)
"""


@pytest.mark.parametrize(("regions", "words"), [
    ("/nonexistent/regions.json", "No such file"),
    ('{"version": 1,', "line 1"),
    ('{"version": 1, "zone": []}', 'unknown member "zone"'),
    ('{"version": 1, "zones": [{"name": "a"}]}', 'zones[0] has no member "polygon"'),
    ('{"version": 1, "lines": [{"name": "a", "from": [0], "to": 3}]}', "lines[0].from has 1 numbers"),
])
def test_bad_regions(regions, words):
    ended = subprocess.run([sys.executable, "-c", PROGRAM, regions], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert words in ended.stdout


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
