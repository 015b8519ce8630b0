# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clips of the tests of fleets, which also use made.py of publishing."""

import os
import secrets
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "fleet"), str(TESTS / "publish"), str(TESTS)]

# Ray reads them once, when it is imported.
os.environ |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

from fleet_made import scene, write_video  # noqa: E402  (the path comes first)


@pytest.fixture(scope="session")
def clip(tmp_path_factory):
    """Of 16 seconds, which the scene of four periods fills."""
    return write_video(tmp_path_factory.mktemp("clip") / "squares.mkv", scene(400))


@pytest.fixture(scope="session")
def busy_clip(tmp_path_factory):
    """Something is always in the picture, so a track lives at each cut."""
    images = scene(400)
    images[:, 2:12, 60:70] = 235
    return write_video(tmp_path_factory.mktemp("busy") / "busy.mkv", images)
