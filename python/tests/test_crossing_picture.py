# SPDX-License-Identifier: LGPL-2.1-or-later
"""The picture of docs/events.md shows what the library does."""

import subprocess
import sys
from pathlib import Path


def test_the_picture_is_what_the_library_does():
    script = Path(__file__).resolve().parents[2] / "docs" / "crossing.py"
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
