# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every line and table of docs/publishing.md, every line of docs/camera.md, and the log of a session."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

for module in ("gi", "PIL.Image", "paho.mqtt.client", "confluent_kafka", "pyarrow", "prometheus_client"):
    pytest.importorskip(module, reason=f"{module} is missing")

from cudaccl.cli import make_parser  # noqa: E402
from cudaccl.publish import Metrics, Spool  # noqa: E402
from cudaccl.video import errors  # noqa: E402
from made import PATIENCE, Mosquitto, free_port, make_certificate, make_password, report, write_clip  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs" / "publishing.md").read_text()
ABOUT_CAMERAS = (ROOT / "docs" / "camera.md").read_text()
LINES = [line for document in (DOCUMENT, ABOUT_CAMERAS)
         for block in re.findall(r"^```sh\n(.*?)^```", document, re.MULTILINE | re.DOTALL) for line in block.splitlines()]
CAMERA = "'videotestsrc is-live=true num-buffers=5 pattern=ball ! video/x-raw,width=64,height=48'"


def chapter(title):
    return DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_cells(text):
    return re.findall(r"^\| `?([^`|]+?)`? \|", text, re.MULTILINE)[1:]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """With the files that the lines name."""
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for name in ("mask.png", "scan.png"):
        Image.fromarray((numpy.random.default_rng(1).random((60, 80)) < 0.3).astype("u1") * 250).save(name)
    write_clip("clip.avi", 20)
    Path("gate.settings").write_text("# for the gate\nthreshold=200\n")
    Path("regions.json").write_text('{"version": 1}')
    monkeypatch.setenv("GST_PRESET_PATH", str(ROOT / "gst/properties"))
    return tmp_path


@pytest.mark.parametrize("line", LINES)
def test_line(line, folder, request):
    if "mqtt" in line:
        broker = Mosquitto(folder)
        request.addfinalizer(broker.stop)
        line = line.replace("mqtt://localhost", f"mqtt://127.0.0.1:{broker.port}")
    if "mqtts" in line:
        make_certificate(folder, "ca")
        (folder / "password").write_text("secret\n")
        broker = Mosquitto(folder, "allow_anonymous false", f"password_file {make_password(folder, 'me', 'secret')}",
                           f"certfile {folder}/ca.pem", f"keyfile {folder}/ca.key")
        request.addfinalizer(broker.stop)
        line = line.replace("me@broker", f"me@localhost:{broker.port}")
    if "kafka" in line:
        line = line.replace("kafka://localhost", f"kafka://{request.getfixturevalue('kafka').servers}")
    line = re.sub(r"(\w+=)?rtsp://camera/live", lambda found: CAMERA.replace("'", f"'{found[1] or 'camera='}", 1), line)
    line = line.replace("127.0.0.1:9464", f"127.0.0.1:{free_port()}")
    line = line.replace("cudaccl ", f"{sys.executable} -m cudaccl ", 1)
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=2 * PATIENCE)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    if re.search(" (publish|camera) ", line) and "--drain" not in line:
        count = 5 if "is-live" in line else 20
        accounts = re.findall(r"(\d+) frames sent, 0 wait, 0 lost(?:, (\d+) not asked for)?\n", done.stderr)
        assert [int(sent) + int(skipped or 0) for sent, skipped in accounts] == [count] * (line.count("--to") or 1)


def snippets(title):
    return re.findall(r"^```python\n(.*?)^```", chapter(title), re.MULTILINE | re.DOTALL)


def test_snippet(folder, mosquitto):
    code, = snippets("In a program")
    code = code.replace("mqtt://localhost", f"mqtt://127.0.0.1:{mosquitto.port}")
    subprocess.run([sys.executable, "-c", code], check=True, timeout=2 * PATIENCE)
    spool = Spool(next(Path("spool").glob("*.db")))
    assert spool.accounts()["door"].sent == 20
    spool.close()


def test_reading_messages(folder, mosquitto):
    code = snippets("Reading what arrives")[0].replace('"localhost", 1883', f'"127.0.0.1", {mosquitto.port}')
    code = code.replace('qos=1)', 'qos=1) and print("here")')
    limited = ["timeout", str(2 * PATIENCE), sys.executable, "-u", "-c", code]
    with subprocess.Popen(limited, stdout=subprocess.PIPE, text=True) as reader:
        try:
            assert reader.stdout.readline() == "here\n"
            subprocess.run([sys.executable, "-m", "cudaccl", "publish", "--to", f"mqtt://127.0.0.1:{mosquitto.port}",
                            "-s", "threshold=200", "-s", "track=true", "door=clip.avi"], check=True, timeout=2 * PATIENCE)
            assert re.fullmatch(r"door/\S+/0 started 0\n", reader.stdout.readline())
            assert re.fullmatch(r"door/\S+/2 born 1\n", reader.stdout.readline())
        finally:
            reader.terminate()


def test_reading_tables(folder):
    subprocess.run([sys.executable, "-m", "cudaccl", "run", "--parquet", "day", "-s", "threshold=200", "-s",
                    "track=true", "door=clip.avi"], check=True, timeout=2 * PATIENCE)
    done = subprocess.run([sys.executable, "-c", snippets("Reading what arrives")[1]], capture_output=True, text=True,
                          timeout=2 * PATIENCE)
    assert re.fullmatch(r"door 2 1 [0-9.]+ [0-9.]+\n", done.stdout), done.stderr


def test_tables():
    metrics = Metrics()
    metrics.source_started("a")
    metrics.observe(report(), 0.1)
    metrics.observe_stats("a", {})
    served = {family.name for family in metrics.registry.collect() if family.name.startswith("cudaccl_")}
    documented = {re.sub("_total$", "", name) for name in first_cells(chapter("Figures for Prometheus"))}
    assert documented == served | {"cudaccl_device_memory_bytes"}  # without a GPU it is not served
    assert [int(status) for status in first_cells(chapter("Exit status"))] == sorted(
        value for name, value in vars(errors).items() if isinstance(value, int))
    table = (ROOT / "pyproject.toml").read_text().split("optional-dependencies]\n")[1].split("\n\n")[0]
    extras = re.findall(r"^(\w+) = ", table, re.M)
    assert [f"cudaccl[{extra}]" for extra in extras] == first_cells(DOCUMENT.split("## Images")[0])
    assert table.endswith(f'all = ["cudaccl[{",".join(extras[:-1])}]"]')


def test_service(tmp_path):
    """systemd finds nothing wrong, and thinks little of what it could do."""
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is missing: install the package systemd")
    version = int(subprocess.run(["systemd-analyze", "--version"], capture_output=True, text=True).stdout.split()[1])
    if version < 250:
        pytest.skip(f"systemd {version} does not check a unit that is not installed; 250 does")
    text, = re.findall(r"^```ini\n(.*?)^```", chapter("As a service"), re.MULTILINE | re.DOTALL)
    command = text.split("ExecStart=")[1].split("\nExecReload")[0].replace("\\\n", "").split()
    arguments = make_parser().parse_args(command[1:])
    assert arguments.sources == ["gate=rtsp://camera.example/live"] and str(arguments.settings) == "/etc/cudaccl/gate.settings"
    unit = tmp_path / "cudaccl-gate.service"
    unit.write_text(text.replace(command[0], sys.executable).replace("/bin/kill", sys.executable))
    for check in (["verify"], ["security", "--offline=yes", "--threshold=40"]):
        done = subprocess.run(["systemd-analyze", *check, unit], capture_output=True, text=True, timeout=PATIENCE)
        assert done.returncode == 0, done.stdout + done.stderr
        assert unit.name not in done.stderr, done.stderr


def test_options_that_are_named_exist():
    actions = make_parser()._subparsers._group_actions[0].choices
    options = {option for parser in actions.values() for option in parser._option_string_actions}
    for document in (DOCUMENT, ABOUT_CAMERAS):
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", document))
        assert named and named <= options


def test_log_of_the_session():
    clip = Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi")
    if not clip.is_file() and not (ROOT / "build/clip/vtest.avi").is_file():
        pytest.skip("the clip vtest.avi is missing: install opencv-doc, or run scripts/demo")
    command = shutil.which("cudaccl", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the command cudaccl is not installed beside this Python")
    done = subprocess.run(["env", f"CUDACCL={command}", ROOT / "scripts/session-log", "--check"], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
