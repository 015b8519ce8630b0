# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors of the compiled part, in a process that has loaded GStreamer first.

GStreamer brings libunwind, whose functions then take the place of those of libgcc in the libraries that follow.
"""

import subprocess
import sys

import pytest

pytest.importorskip("gi", reason="python3-gi is missing")

PROGRAM = """
import gi
gi.require_version("Gst", "1.0")
from gi.repository import Gst
Gst.init(None)
import cudaccl
try:
    cudaccl.Engine((4, 4), threshold="x")
except TypeError as error:
    print(error)
"""


def test_errors_are_raised_beside_gstreamer():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0 and "threshold must be an integer" in done.stdout, done.stderr


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-rs"]))
