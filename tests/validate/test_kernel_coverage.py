# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which kernels were launched: the list that an injected library makes, with a CUPTI that makes up launches, and what
scripts/kernel-coverage says of it, with a library that makes up kernels."""

import os
import subprocess
import sys
from pathlib import Path

try:
    import pytest
except ImportError:
    print("skipped: install python3-pytest")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
INJECT = "import ctypes, sys; sys.exit(ctypes.CDLL(sys.argv[1]).InitializeInjection() != 1)"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """Like one with the kernels first(), second(int) and CUB's."""
    folder = tmp_path_factory.mktemp("library")
    stubs = ["__device_stub__Z5firstv", "__device_stub__Z6secondi", "__device_stub__ZN6detail11EmptyKernelIvEEvv"]
    (folder / "stubs.c").write_text("".join(f"void {stub}(void) {{}}\n" for stub in stubs))
    subprocess.run(["cc", "-shared", "-fPIC", "-o", folder / "library.so", folder / "stubs.c"], check=True)
    return folder / "library.so"


def coverage(library, tmp_path, *lists):
    paths = [tmp_path / str(number) for number in range(len(lists))]
    for path, names in zip(paths, lists):
        path.write_text("".join(f"{name}\n" for name in names))
    done = subprocess.run([ROOT / "scripts" / "kernel-coverage", library, *paths], capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_a_kernel_that_was_not_launched_is_named(library, tmp_path):
    status, lines = coverage(library, tmp_path, ["_Z5firstv", "_Z5otherv"], ["_Z5firstv"])
    assert (status, lines[0]) == (1, "not launched: second(int)")
    assert "CUB asks" in lines[1] and "EmptyKernel" in lines[1]
    assert lines[2] == "1 of 3 kernels launched, 1 others have a reason; 1 launched are not the library's"


def test_lists_add_up(library, tmp_path):
    status, lines = coverage(library, tmp_path, ["_Z5firstv"], ["_Z6secondi"])
    assert status == 0 and lines[-1].startswith("2 of 3 kernels")


def test_a_library_without_kernels_is_an_error(library, tmp_path):
    subprocess.run(["strip", "--strip-all", "-o", tmp_path / "stripped.so", library], check=True)
    status, lines = coverage(tmp_path / "stripped.so", tmp_path, ["_Z5firstv"])
    assert status == 1 and "has no kernels" in lines[-1]


@pytest.fixture
def inject():
    """Loads the library as the driver does, in a process of its own, and returns what it prints."""
    if len(sys.argv) < 3:
        pytest.skip("it needs a CUDA toolkit with CUPTI")

    def run(**variables):
        done = subprocess.run([sys.executable, "-c", INJECT, sys.argv[1]], env=os.environ | variables, capture_output=True,
                              text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    return run


def test_each_process_lists_a_kernel_once(inject, tmp_path):
    for _ in range(2):
        assert inject(CUDACCL_LAUNCHES=str(tmp_path / "list"), CUDACCL_CUPTI=sys.argv[2]) == ""
    assert (tmp_path / "list").read_text() == 2 * "_Z5firstv\n"


def test_nothing_is_listed_unless_asked_for(inject):
    assert inject(CUDACCL_CUPTI=sys.argv[2]) == ""


@pytest.mark.parametrize("variables, message", [
    ({"CUDACCL_LAUNCHES": "/nonexistent/list"}, "/nonexistent/list: No such file"),
    ({"CUDACCL_LAUNCHES": "/dev/null", "CUDACCL_CUPTI": "libc.so.6"}, "CUPTI refuses")])
def test_the_process_goes_on_without_a_list(inject, variables, message):
    assert message in inject(**variables)


def test_the_toolkits_own_cupti_breaks_nothing(inject):
    inject(CUDACCL_LAUNCHES="/dev/null", CUDACCL_CUPTI="")


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-v", "-rs", "-p", "no:cacheprovider"]))
