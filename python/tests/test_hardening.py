# SPDX-License-Identifier: LGPL-2.1-or-later
"""The module that pip builds has the protection of the other files."""

import sys
from pathlib import Path

from cudaccl import _core

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/validate"))

import hardening  # noqa: E402  (the path comes first)


def test_module_is_hardened():
    """Here it is compiled without optimisation, so functions of the C library are not checked."""
    assert hardening.missing(_core.__file__, "PyInit__core", is_optimised=False) == []
