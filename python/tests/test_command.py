# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command `cudaccl` while it is loaded."""

import subprocess
import sys

import pytest

# Ctrl-C at the moment at which a module is imported.
INTERRUPTED = """
import runpy, signal, sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            signal.raise_signal(signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
sys.argv = ["cudaccl", "--version"]
{start}
"""
STARTS = {
    "module": "runpy.run_module('cudaccl', run_name='__main__')",
    "script": "from cudaccl._command import main; sys.exit(main())"}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("module", ["numpy", "numpy.linalg._umath_linalg", "cudaccl.cli", "cudaccl.video.sources", "cudaccl._library"])
def test_it_is_interrupted_while_it_is_loaded(start, module):
    code = INTERRUPTED.format(module=module, start=STARTS[start])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "cudaccl: error: interrupted\n"), done.stderr


# A signal at the moment at which Python ends, or behind it, when the handlers of Python are gone.
LATE = """
import atexit, builtins, signal, sys
from cudaccl._command import main

class Late:
    raise_signal, number = staticmethod(signal.raise_signal), signal.{name}

    def __del__(self):
        self.raise_signal(self.number)

signal.signal(signal.SIGINT, signal.default_int_handler)
if {is_behind}:
    builtins.late = Late()
else:
    atexit.register(lambda: signal.raise_signal(signal.{name}))
sys.argv = ["cudaccl", *{arguments!r}]
sys.exit(main())
"""


@pytest.mark.parametrize("is_behind", [False, True])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_behind_its_work_changes_nothing(name, is_behind, tmp_path):
    for arguments, status in ((["--version"], 0), (["label", str(tmp_path / "none.png")], 1)):
        expected = subprocess.run([sys.executable, "-m", "cudaccl", *arguments], capture_output=True)
        late = LATE.format(name=name, is_behind=is_behind, arguments=arguments)
        done = subprocess.run([sys.executable, "-c", late], capture_output=True)
        assert expected.returncode == status
        assert (done.returncode, done.stdout, done.stderr) == (status, expected.stdout, expected.stderr)


def test_the_package_is_small_until_it_is_used():
    code = "import sys, cudaccl; assert 'numpy' not in sys.modules; from cudaccl import *; assert 'numpy' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
