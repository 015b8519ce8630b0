# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is installed is all that a user needs: plugin, header, pkg-config file."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

try:
    import pytest
except ImportError as missing:
    print(f"skipped: {missing}; install python3-pytest")
    sys.exit(77)

import hardening  # beside this file

BUILD = Path(os.environ["CUDACCL_BUILD"])
PROGRAM = """
#include <cudaccl/gstcudacclmeta.h>

int main (void)
{
  GstCudaCclInfo info;
  static CclComponent component;
  GstBuffer *buffer;
  gboolean found;
  gst_init (NULL, NULL);
  buffer = gst_buffer_new ();
  found = gst_buffer_get_cudaccl_info (buffer, &info);
  gst_buffer_unref (buffer);
  component.mxy = (float) (g_random_double () + 1);  /* so that atan2f() is really called */
  return found || ccl_component_orientation (&component) == 0 ? 1 : 0;
}
"""


def run(command, **options):
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    if shutil.which("meson") is None:
        pytest.skip("no meson on PATH")
    root = tmp_path_factory.mktemp("root")
    run(f"meson install --no-rebuild -C {BUILD} --destdir {root}")
    return root


def find(root, name):
    paths = list(root.rglob(name))
    assert len(paths) == 1, (name, paths)
    return paths[0]


def test_installed_plugin_is_found(installed, tmp_path):
    plugin = find(installed, "libgstcudaccl.so")
    environment = dict(os.environ, GST_PLUGIN_PATH_1_0=str(plugin.parent), GST_REGISTRY_1_0=str(tmp_path / "registry"))
    environment.pop("GST_PLUGIN_PATH", None)
    assert str(plugin) in run("gst-inspect-1.0 cudaccl", env=environment)


def test_presets_are_installed(installed):
    assert find(installed, "GstCudaCcl.prs").parent.parts[-3:] == ("share", "gstreamer-1.0", "presets")


def test_plugin_links_neither_driver_nor_cuda_runtime(installed):
    needed = run(f"readelf -d {find(installed, 'libgstcudaccl.so')}")
    assert "libcuda.so" not in needed
    assert "libcudart.so" not in needed


@pytest.mark.parametrize("name,function", [
    ("libgstcudaccl.so", "gst_plugin_cudaccl_get_desc"), ("libcudaccl.so.0", "cudaccl_engine_new")])
def test_files_are_hardened(installed, name, function):
    options = {one["name"]: one["value"] for one in json.loads(run(f"meson introspect --buildoptions {BUILD}"))}
    is_optimised = options["optimization"] not in ("0", "plain") and options["b_sanitize"] in ("none", [], "")
    assert hardening.missing(find(installed, name), function, is_optimised) == []


def test_flags_of_the_build_folder_serve_too(tmp_path):
    """`meson devenv` sets PKG_CONFIG_PATH to them."""
    environment = dict(os.environ, PKG_CONFIG_PATH=str(BUILD / "meson-uninstalled"))
    source = tmp_path / "program.c"
    source.write_text(PROGRAM)
    flags = run("pkg-config --cflags --libs gstreamer-cudaccl-1.0", env=environment)
    run(f"cc {source} -o {tmp_path / 'program'} {flags}")
    run(str(tmp_path / "program"))
    plugin = run("pkg-config --variable=pluginsdir gstreamer-cudaccl-1.0", env=environment).strip()
    assert Path(plugin, "libgstcudaccl.so").exists()


@pytest.mark.parametrize("compiler,suffix", [("cc -std=c11", ".c"), ("c++ -std=c++17", ".cpp")])
def test_header_serves_c_and_cpp(installed, tmp_path, compiler, suffix):
    pc_folder = find(installed, "gstreamer-cudaccl-1.0.pc").parent
    environment = dict(os.environ, PKG_CONFIG_PATH=str(pc_folder))
    flags = run("pkg-config --cflags --libs gstreamer-cudaccl-1.0", env=environment)
    prefix = run("pkg-config --variable=prefix gstreamer-cudaccl-1.0", env=environment).strip()
    flags = flags.replace(prefix + "/include/cudaccl", f"{installed}{prefix}/include/cudaccl")
    source = tmp_path / ("program" + suffix)
    source.write_text(PROGRAM)
    run(f"{compiler} -Wall -Wextra -Werror {source} -o {tmp_path / 'program'} {flags}")
    run(str(tmp_path / "program"))


if __name__ == "__main__":
    raise SystemExit(pytest.main([__file__, "-q", "-rs"]))
