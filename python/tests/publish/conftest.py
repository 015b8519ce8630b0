# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fixtures of the tests of publishing."""

import contextlib
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from made import MockKafka, Mosquitto  # noqa: E402  (the path comes first)


@contextlib.contextmanager
def mounted(folder, size, filler):
    """A file system of so many KiB, of which a file `filler` takes some."""
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a small disk needs root: {done.stderr.strip()}")
    (folder / "filler").write_bytes(bytes(filler << 10))
    yield folder
    # Lazily: a test that failed may have left a file open.
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.fixture
def small_disk(tmp_path):
    """Of 1 MiB, of which 300 KiB are free."""
    with mounted(tmp_path / "disk", 1024, 700) as folder:
        yield folder


@pytest.fixture
def medium_disk(tmp_path):
    """Of 8 MiB, of which 4 are free."""
    with mounted(tmp_path / "disk", 8192, 4096) as folder:
        yield folder


@pytest.fixture
def mosquitto(tmp_path):
    broker = Mosquitto(tmp_path)
    yield broker
    broker.stop()


@pytest.fixture
def kafka():
    cluster = MockKafka()
    yield cluster
    cluster.stop()


@pytest.fixture(autouse=True, scope="session")
def importable():
    """Programs that tests start find made.py."""
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, [str(Path(__file__).parent), os.environ.get("PYTHONPATH")]))


@pytest.fixture
def cudaccl_command(capfd, monkeypatch):
    """Runs the command in this process, which takes less time than a new one."""
    from cudaccl.cli import main

    def run(*arguments, cwd=None):
        if cwd is not None:
            monkeypatch.chdir(cwd)
        try:
            status = main(list(map(str, arguments)))
        except SystemExit as end:  # of argparse
            status = end.code
        return types.SimpleNamespace(returncode=status, **dict(zip(("stdout", "stderr"), capfd.readouterr())))

    return run
