# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the system has for Python still works in a virtual environment that sees it."""

import subprocess
import sys
from pathlib import Path

import pytest


def imports(python, module):
    """Whether it can be imported, and what was printed: NumPy prints a module that was built for another one."""
    done = subprocess.run([python, "-c", f"import {module}"], capture_output=True, text=True)
    return done.returncode == 0 and "compiled using NumPy" not in done.stderr, done.stderr


@pytest.mark.parametrize("module", ["cv2", "matplotlib.pyplot", "pandas", "scipy.ndimage", "skimage.measure"])
def test_module_of_the_system_works(module):
    system = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    if sys.prefix == sys.base_prefix:
        pytest.skip("this is no virtual environment")
    if not imports(system, module)[0]:
        pytest.skip(f"{module} is missing in the system")
    works, error = imports(sys.executable, module)
    assert works, error
