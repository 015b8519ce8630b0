# SPDX-License-Identifier: LGPL-2.1-or-later
"""The installed library: its symbols, its examples, programs compiled against it, and every line of docs/library.md."""

import csv
import io
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

try:
    import numpy
    import pytest
    from skimage import measure
except ImportError as missing:
    print(f"skipped: {missing}; install python3-pytest, python3-numpy and python3-skimage")
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ["CUDACCL_BUILD"])
EXAMPLES = BUILD / "tests" / "examples" / "library"
SYMBOLS = Path(__file__).with_name("libcudaccl.symbols").read_text().split()
DOCUMENT = (ROOT / "docs" / "library.md").read_text()
C = "cc -std=c11 -Wall -Wextra -pedantic -Werror"
CPP = "c++ -std=c++17 -Wall -Wextra -pedantic -Werror"
SKIPPED = 77
THRESHOLD = "190"

# What a snippet of the document stands in: a program as the first one there, on a larger image.
SKELETON = """
#include <cudaccl/cudaccl.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  static unsigned char pixels[640 * 480];
  CudacclEngine *engine = NULL;
  CudacclConfig config;
  CudacclInput input;
  CudacclFrame frame;
  CudacclResult result;
  memset(pixels + 640 * 100 + 100, 255, 50);
  cudaccl_config_init(&config, sizeof config);
  config.width = 640;
  config.height = 480;
  cudaccl_input_init(&input, sizeof input);
  input.planes[0] = pixels;
  input.strides[0] = 640;
  cudaccl_frame_init(&frame, sizeof frame);
  frame.input = &input;
  cudaccl_result_init(&result, sizeof result);
  if (cudaccl_engine_new(NULL, &engine) != CUDACCL_OK || cudaccl_engine_configure(engine, &config) != CUDACCL_OK)
    return 1;
  {
SNIPPET
    const char *error = cudaccl_last_error(engine);
    if ((strcmp(error, first_error) != 0 && strcmp(error, "no frame is in flight") != 0) ||
        cudaccl_engine_run(engine, &frame, &result) != CUDACCL_OK || result.n_records != 1) {
      fprintf(stderr, "error: %s\\n", cudaccl_last_error(engine));
      return 1;
    }
  }
  cudaccl_engine_free(engine);
  return 0;
}
"""
# Without a GPU the engine says at first why it is on the CPU.
FIRST_ERROR = """char first_error[1024];
snprintf(first_error, sizeof first_error, "%s", cudaccl_last_error(engine));
"""


def run(command, status=0, **options):
    shell = isinstance(command, str)
    done = subprocess.run(command, shell=shell, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def snippets(language):
    return re.findall(rf"^```{language}\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of programs that use the library in a staging folder."""
    if shutil.which("meson") is None or shutil.which("pkg-config") is None:
        pytest.skip("no meson or pkg-config on PATH")
    root = tmp_path_factory.mktemp("root")
    run(["meson", "install", "--no-rebuild", "-C", str(BUILD), "--destdir", str(root)])
    library = find(root, "libcudaccl.so.0")
    pc = find(root, "cudaccl.pc").parent
    paths = {"PKG_CONFIG_PATH": pc, "PKG_CONFIG_SYSROOT_DIR": root, "LD_LIBRARY_PATH": library.parent}
    return os.environ | {name: str(path) for name, path in paths.items()}


def find(root, name):
    paths = list(Path(root).rglob(name))
    assert len(paths) == 1, (name, paths)
    return paths[0]


def library_of(environment):
    return Path(environment["LD_LIBRARY_PATH"]) / "libcudaccl.so.0"


def compile_program(compiler, source, folder, environment, flags=""):
    program = folder / "program"
    run(f"{compiler} {flags} {source} -o {program} $(pkg-config --cflags --libs cudaccl)", env=environment)
    return program


def write_pgm(path, image):
    path.write_bytes(b"P5 %d %d 255\n" % (image.shape[1], image.shape[0]) + image.tobytes())


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    """A PGM file, and the lines that `label` must print for the threshold."""
    image = numpy.random.default_rng(1).integers(0, 256, (90, 131), numpy.uint8)
    path = tmp_path_factory.mktemp("picture") / "noise.pgm"
    write_pgm(path, image)
    return path, image >= int(THRESHOLD)


def check_records(text, mask):
    rows = list(csv.DictReader(io.StringIO(text)))
    regions = measure.regionprops(measure.label(mask, connectivity=2))
    assert len(rows) == len(regions) > 100
    for row, region in zip(rows, regions):
        top, left, bottom, right = region.bbox
        box = (left, top, right - left, bottom - top)
        assert (int(row["label"]), int(row["area"])) == (region.label, region.area)
        assert tuple(int(row[name]) for name in ("x", "y", "width", "height")) == box
        assert float(row["cx"]) == pytest.approx(region.centroid[1], abs=6e-4)
        assert float(row["cy"]) == pytest.approx(region.centroid[0], abs=6e-4)


# What is exported


def symbols_of(library):
    lines = run(["nm", "-D", "--defined-only", "--with-symbol-versions", str(library)]).splitlines()
    named = [line.split()[2] for line in lines if " A " not in line]
    return {name.split("@")[0]: name.rsplit("@", 1)[1] for name in named}


def test_symbols_are_those_of_the_list(installed):
    symbols = symbols_of(library_of(installed))
    public = sorted(name for name, version in symbols.items() if version == "CUDACCL_1.0")
    assert public == sorted(SYMBOLS)
    others = {version for version in symbols.values() if version != "CUDACCL_1.0"}
    version = re.search(r"^Version: (.*)$", (find(installed["PKG_CONFIG_PATH"], "cudaccl.pc")).read_text(), re.M)[1]
    assert others == {f"CUDACCL_PRIVATE_{version}"}
    private = [name for name, version in symbols.items() if version != "CUDACCL_1.0"]
    assert all(re.match(r"_ZNK?3ccl", name) for name in private)


def test_headers_declare_what_is_exported():
    text = (ROOT / "cuda" / "cudaccl" / "cudaccl.h").read_text()
    assert sorted(set(re.findall(r"CUDACCL_API[^;(]*?(cudaccl_\w+)\(", text))) == sorted(SYMBOLS)


def test_library_needs_neither_driver_nor_gstreamer(installed):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(["readelf", "-d", str(library_of(installed))]))
    allowed = re.compile(r"(libstdc\+\+|libgcc_s|libm|libc|libdl|librt|libpthread|ld-linux.*)\.so\.\d+")
    assert needed and all(allowed.fullmatch(name) for name in needed), needed
    assert "[libcudaccl.so.0]" in run(["readelf", "-d", str(library_of(installed))])


def test_plugin_uses_the_library(installed):
    plugin = find(Path(installed["LD_LIBRARY_PATH"]) / "gstreamer-1.0", "libgstcudaccl.so")
    assert "[libcudaccl.so.0]" in run(["readelf", "-d", str(plugin)])
    assert "CUDACCL_PRIVATE_" in run(["readelf", "--version-info", str(plugin)])


# Programs


def test_example_label(picture):
    path, mask = picture
    check_records(run([str(EXAMPLES / "label"), str(path), THRESHOLD]), mask)


def test_example_label_refuses(tmp_path):
    (tmp_path / "text.pgm").write_text("P2 1 1 255 0")
    run([str(EXAMPLES / "label")], status=2)
    run([str(EXAMPLES / "label"), str(tmp_path / "text.pgm")], status=1)


def test_example_on_a_gpu(picture):
    program = EXAMPLES / "label-device"
    if not program.exists():
        pytest.skip("a build without CUDA")
    path, mask = picture
    done = subprocess.run([str(program), str(path), THRESHOLD], capture_output=True, text=True, timeout=300)
    if done.returncode == SKIPPED:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stderr
    records, last = done.stdout.rstrip("\n").rsplit("\n", 1)
    check_records(records, mask)
    assert last == f"{mask.sum()} pixels"


def test_example_follow():
    lines = run([str(EXAMPLES / "follow")]).splitlines()
    for track in (1, 2):
        happened = [line.split(": ")[1] for line in lines if f"track {track} " in line]
        assert happened == ["born", "entered the zone", "left the zone"]
    assert run([str(EXAMPLES / "follow"), "1"]) == "0.00 s: the scene started\n"


@pytest.mark.parametrize("name,compiler", [("label.c", C), ("follow.cpp", CPP)])
def test_examples_compile_against_the_installation(installed, tmp_path, picture, name, compiler):
    # A copy, so that no header of the tree is found; without padding, in which a later field would not be seen.
    for header in ("pgm.h", name):
        shutil.copy(ROOT / "tests" / "examples" / "library" / header, tmp_path)
    flags = "-Wpadded" if name.endswith(".c") else ""
    program = compile_program(compiler, tmp_path / name, tmp_path, installed, flags)
    arguments = [str(picture[0]), THRESHOLD] if name == "label.c" else []
    output = run([str(program), *arguments], env=installed)
    if name == "label.c":
        check_records(output, picture[1])


def test_a_program_of_a_later_library_does_not_start(installed, tmp_path):
    """The dynamic linker finds out: here for a function that no version has."""
    source = tmp_path / "later.c"
    source.write_text("void cudaccl_of_the_future(void);\nint main(void) { cudaccl_of_the_future(); return 0; }\n")
    stub = tmp_path / "libcudaccl.so.0"
    (tmp_path / "stub.c").write_text("void cudaccl_of_the_future(void) {}\n")
    (tmp_path / "stub.map").write_text("CUDACCL_1.1 { global: *; };\n")
    flags = f"-Wl,-soname,libcudaccl.so.0 -Wl,--version-script={tmp_path}/stub.map"
    run(f"cc -shared -fPIC {tmp_path}/stub.c -o {stub} {flags}")
    run(f"cc {source} -o {tmp_path}/later {stub}")
    done = subprocess.run([str(tmp_path / "later")], env=installed, capture_output=True, text=True)
    assert done.returncode != 0 and "CUDACCL_1.1" in done.stderr


# The document


def test_programs_of_the_document(installed, tmp_path):
    program, = (text for text in snippets("c") if "int main" in text)
    (tmp_path / "program.c").write_text(program)
    lines, = snippets("sh")
    assert run(f"set -e\n{lines}", cwd=tmp_path, env=dict(installed)) == "1: 4 pixels\n2: 3 pixels\n"
    program, = snippets("cpp")
    (tmp_path / "program.cpp").write_text(program)
    compiled = compile_program(CPP, tmp_path / "program.cpp", tmp_path, installed)
    assert run([str(compiled)], env=installed) == "1: 4 pixels\n"


PARTS = [text for text in snippets("c") if "int main" not in text]


@pytest.mark.parametrize("part", PARTS, ids=[text.split(";")[0].split()[-1] for text in PARTS])
def test_snippets_of_the_document(installed, tmp_path, part):
    source = tmp_path / "snippet.c"
    declarations = textwrap.indent(FIRST_ERROR, "    ")
    source.write_text(SKELETON.replace("SNIPPET", declarations + textwrap.indent(part, "    ")))
    output = run([str(compile_program(C, source, tmp_path, installed))], env=installed)
    if "cudaccl_device_count" in part:
        has_gpu = shutil.which("nvidia-smi") is not None
        assert has_gpu or output.startswith("devices: 0\n"), "a library that loads without a driver"


def test_every_struct_and_function_is_in_a_test():
    """Names that no document and no test uses are names that nobody has tried."""
    tests = (ROOT / "tests" / "check" / "capi").iterdir()
    files = [ROOT / "docs" / "library.md", ROOT / "cuda" / "cudaccl" / "cudaccl.hpp", *tests]
    text = "\n".join(path.read_text() for path in files)
    assert [name for name in SYMBOLS if name not in text] == []


def test_subproject(tmp_path):
    """In a project without GStreamer, compiled without optimisation and many files at once, which is faster."""
    project = tmp_path / "project"
    (project / "subprojects").mkdir(parents=True)
    for name in ("meson.build", "meson_options.txt", "cuda", "scripts"):
        (project / "subprojects" / "cudaccl").mkdir(exist_ok=True)
        (project / "subprojects" / "cudaccl" / name).symlink_to(ROOT / name)
    text, = snippets("meson")
    options = "default_options: ['optimization=0', 'debug=false']"
    (project / "meson.build").write_text(f"project('outside', 'c', 'cpp', {options})\n" + text)
    (project / "program.c").write_text(next(text for text in snippets("c") if "int main" in text))
    environment = dict(os.environ, PKG_CONFIG_LIBDIR=str(tmp_path))  # no installed library is taken
    fast = ["--unity=subprojects", "-Dunity_size=100", "-Db_pch=false"]
    run(["meson", "setup", "--wrap-mode=forcefallback", *fast, str(tmp_path / "build"), str(project)], env=environment)
    run(["meson", "compile", "-C", str(tmp_path / "build"), "program"])
    assert run([str(tmp_path / "build" / "program")]) == "1: 4 pixels\n2: 3 pixels\n"


if __name__ == "__main__":
    arguments = ["-k", "subproject"] if "--subproject" in sys.argv else ["-k", "not subproject"]
    sys.exit(pytest.main([__file__, "-q", "-rs", *arguments]))
