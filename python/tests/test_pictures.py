# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pictures of docs/events.md and docs/separate.md show what the library does."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", ["crossing.py", "separate.py"])
def test_the_picture_is_what_the_library_does(name):
    script = Path(__file__).resolve().parents[2] / "docs" / name
    done = subprocess.run([sys.executable, str(script), "--check"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
