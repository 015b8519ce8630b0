# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which GPUs the CUDA backend is compiled for: those of this machine, or those that were asked for. The toolkit and the
driver are scripts that answer as nvcc and nvidia-smi do, and nothing is compiled.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import pytest
except ImportError:
    print("skipped: install python3-pytest")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
KNOWN = "75 80 86 90 90a 100 100a 120 121"
NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


class Machine:
    def __init__(self, folder, gpus):
        """gpus: compute capabilities, or None if no driver answers."""
        self.folder = folder
        self.bin = folder / "cuda" / "bin"
        self.bin.mkdir(parents=True)
        codes = "\n".join(f"sm_{arch}" for arch in KNOWN.split())
        self._write("nvcc", f"""case "$*" in
          --version) echo 'Cuda compilation tools, release 13.0, V13.0.48' ;;
          --list-gpu-code) echo '{codes}' ;;
          *) exit 0 ;;
        esac""")
        self._write("nvidia-smi", f'echo "{NO_DRIVER}"; exit 9' if gpus is None else
                    f"""[[ "$*" == "--query-gpu=compute_cap --format=csv,noheader" ]] && echo '{chr(10).join(gpus)}'""")
        (folder / "cuda" / "lib64").mkdir()
        (folder / "cuda" / "lib64" / "libcudart_static.a").write_bytes(b"!<arch>\n")
        # Meson looks in /usr/local/cuda before PATH.
        (folder / "native.ini").write_text(f"[binaries]\nnvcc = '{self.bin / 'nvcc'}'\n")
        self.environment = os.environ | {"PATH": f"{self.bin}:{os.environ['PATH']}"}

    def _write(self, name, text):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def chosen(self, otherwise, options="-eu -o pipefail"):
        """What scripts/check, scripts/demo and Meson ask for."""
        program = f'set {options}; source "$0/scripts/cuda-toolkit"; default_cuda_archs "$1"'
        done = subprocess.run(["bash", "-c", program, ROOT, otherwise], env=self.environment, capture_output=True,
                              text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.rstrip("\n")

    def setup(self, *options):
        """(exit status, log, codes that nvcc would make) of `meson setup` with pip's options."""
        build = self.folder / "build"
        done = subprocess.run(
            ["meson", "setup", build, ROOT, "--native-file", self.folder / "native.ini", *pip_options(), *options],
            env=self.environment, capture_output=True, text=True)
        made = build / "build.ninja"
        text = made.read_text() if made.exists() else ""
        return done.returncode, done.stdout, set(re.findall(r"code=((?:sm|compute)_\w+)", text))


def pip_options():
    """All but the Python package, which needs nanobind."""
    setup = re.search(r"^setup = \[(.*?)^\]", (ROOT / "pyproject.toml").read_text(), re.MULTILINE | re.DOTALL)
    return [option for option in re.findall(r'"([^"]+)"', setup.group(1)) if "python-package" not in option]


@pytest.mark.parametrize("gpus, archs", [
    (["9.0"], "90"),
    (["8.6", "8.6", "12.0"], "86,120"),
    (["6.1", "9.0"], "90"),                 # too old for the CUDA backend
    (["7.0"], None),                        # too old for the toolkit
    (["8.9"], "86-virtual"),                # not known: the driver compiles PTX that it can run
    (["12.2", "13.0"], "121-virtual"),
    (["[N/A]"], None),
    ([], None),
    (None, None),
])
def test_architectures_of_this_machine(tmp_path, gpus, archs):
    machine = Machine(tmp_path, gpus)
    for options in ("-eu -o pipefail", "+e"):
        assert machine.chosen("75-virtual,90", options) == (archs or "75-virtual,90")
        assert machine.chosen("", options) == (archs or "")


needs_meson = pytest.mark.skipif(shutil.which("meson") is None, reason="no meson on PATH")


@needs_meson
@pytest.mark.parametrize("gpus", [None, ["6.1"]])
def test_toolkit_without_a_gpu(tmp_path, gpus):
    """CPU only, and one line says how to get more."""
    status, log, codes = Machine(tmp_path, gpus).setup()
    assert status == 0 and not codes
    line, = re.findall(r"^Message: CPU only: (.*)$", log, re.MULTILINE)
    assert "no NVIDIA GPU" in line and "--config-settings=setup-args=-Dcuda-archs=all" in line


@needs_meson
def test_toolkit_and_a_gpu(tmp_path):
    status, log, codes = Machine(tmp_path, ["9.0"]).setup()
    assert status == 0 and codes == {"sm_90"}
    assert "CPU only" not in log


@needs_meson
@pytest.mark.parametrize("gpus", [None, ["8.0"]])
@pytest.mark.parametrize("archs, wanted", [
    ("86,75-virtual", {"sm_86", "compute_75"}),
    ("all", {"sm_90", "sm_120", "compute_120"}),  # 12.1 runs the machine code of 12.0
])
def test_what_was_asked_for(tmp_path, gpus, archs, wanted):
    status, _, codes = Machine(tmp_path, gpus).setup(f"-Dcuda-archs={archs}")
    assert status == 0 and codes >= wanted
    assert archs == "all" or codes == wanted


@needs_meson
def test_cuda_that_must_be_there(tmp_path):
    status, log, _ = Machine(tmp_path, None).setup("-Dcuda=enabled")
    assert status != 0 and "no NVIDIA GPU that it can compile for" in log


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, "-q", "-rs", "-p", "no:cacheprovider"]))
