# SPDX-License-Identifier: LGPL-2.1-or-later
"""The Python package, as `pip install .` gives it: installed in a virtual environment, then tested by python/tests.

    test_python.py [PYTEST-OPTION...]

The environment is BUILD/python-venv (BUILD is the variable CUDACCL_BUILD), and is used again until what it is made of
changes. It is made as the README says, so the distribution's packages are visible in it: GStreamer's bindings, NumPy.
All else has the versions and hashes of python/locks; CUDACCL_TEST_FLEET=1 adds Ray, 80 MB, so that the tests of runs on
several machines are not skipped. The package is built without CUDA; with CUDACCL_PYTHON_SETUP="-Dcuda-archs=90", for
example, with it. It is compiled with little optimisation, and many files at once, which is faster: other tests run the
optimised library. Without any, the tests take longer by twice what their compilation saves.
"""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CUDACCL_BUILD", ROOT / "build")).resolve()
VENV = BUILD / "python-venv"
AXE = ROOT / "python" / "locks" / "axe.txt"  # a file, of which nothing is imported
PYTHON = VENV / "bin" / "python"
SKIPPED = 77
FAST = ["-Doptimization=1", "--unity=on", "-Dunity_size=100", "-Db_pch=false"]


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(*command, **options):
    environment = os.environ | {"PATH": f"{VENV / 'bin'}:{os.environ['PATH']}", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return subprocess.run(list(map(str, command)), env=environment, text=True, **options)


def make_environment():
    """With what the build and the tests need. Without a package index the test is skipped."""
    names = ["build", "publish", "tests"] + (["fleet"] if os.environ.get("CUDACCL_TEST_FLEET") else [])
    if run(sys.executable, "-c", "import jsonschema, numpy, scipy, skimage", capture_output=True).returncode != 0:
        names.append("peers")  # else they are the system's: what else the system has was built for its NumPy
    locks = [ROOT / "python" / "locks" / f"{name}.txt" for name in names]
    made_of = VENV / "made-of.txt"
    recipe = "\n".join([sys.version, *(path.read_text() for path in [*locks, AXE])])
    if not made_of.exists() or made_of.read_text() != recipe:
        done = run(sys.executable, "-m", "venv", "--clear", "--system-site-packages", VENV, capture_output=True)
        if done.returncode != 0:
            skip(f"no virtual environment ({done.stdout.strip()}); install python3-venv")
    # Most of what is installed is never imported, so it is compiled when it is.
    wanted = [argument for path in locks for argument in ("-r", path)]
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--no-compile", "--require-hashes"]
    for _ in range(3):  # an index that breaks off may answer the next time
        done = run(*pip, *wanted, capture_output=True)
        if done.returncode == 0:
            done = run(*pip, "--no-deps", "-r", AXE, capture_output=True)
        if done.returncode == 0:
            break
    if done.returncode != 0:
        if re.search(r"NameResolution|Failed to establish|No matching distribution|timed out", done.stderr):
            skip(f"the package index does not answer: {done.stderr.strip().splitlines()[-1]}")
        sys.exit(done.stderr)
    made_of.write_text(recipe)


def install():
    setup = shlex.split(os.environ.get("CUDACCL_PYTHON_SETUP", "-Dcuda=disabled"))
    options = [f"build-dir={BUILD / 'python-build'}"]
    options += [f"setup-args={option}" for option in [*FAST, *setup]]
    done = run(
        PYTHON, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "--force-reinstall",
        *(f"--config-settings={option}" for option in options), ROOT, capture_output=True,
    )
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)


def main():
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        skip("Python.h is missing; install python3-dev")
    make_environment()
    install()
    # The tests wait for brokers, programs and clocks half of the time.
    processes = min(4, 2 * len(os.sched_getaffinity(0)))
    options = ["-q", "-rs", "-p", "no:cacheprovider", "-n", processes, "--dist", "worksteal"]
    sys.exit(run(PYTHON, "-m", "pytest", *options, ROOT / "python" / "tests", *sys.argv[1:], cwd=BUILD).returncode)


main()
