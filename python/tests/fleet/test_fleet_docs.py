# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file, the tables and the lines of docs/fleet.md."""

import csv
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="PyYAML is missing")

from cudaccl.cli import main, make_parser  # noqa: E402
from cudaccl.fleet import config, load, yaml_tree  # noqa: E402
from cudaccl.video import values  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = (ROOT / "docs/fleet.md").read_text()


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


def first_cells(title):
    text = DOCUMENT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`|]+)` \|", text, re.MULTILINE)


@pytest.fixture
def fleet(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for name in ("archive/one.mp4", "archive/two.mp4", "archive/door/2026-01-31.mkv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    path = tmp_path / "fleet.yaml"
    path.write_text(blocks("yaml")[0])
    return path


def test_the_example(fleet, capfd):
    assert main(["fleet", "check", str(fleet)]) == 0
    text = capfd.readouterr().out
    assert "archives: 3 files, as parquet" in text and "gate: rtsp://camera/live" in text
    fleet.write_text(fleet.read_text().replace("parquet", "csv"))
    assert main(["fleet", "check", str(fleet)]) == 2
    reason = re.search(r"such as `fleet.yaml:(4:\s.*?)`", DOCUMENT, re.DOTALL)[1].replace("\n", " ")
    assert reason in capfd.readouterr().err


def test_all_keys_and_their_defaults(fleet, monkeypatch):
    """Every key that is read is in the table, and no other."""
    known = set()
    take = yaml_tree.Mapping.take
    monkeypatch.setattr(yaml_tree.Mapping, "take", lambda self, key: known.add(key) or take(self, key))
    fleet.write_text(fleet.read_text() + "cluster: {nodes: {a: {slots: 1}}}\nresources: {stream-memory: 2G}\n")
    load(fleet)
    documented = {key.rpartition(".")[2] for key in first_cells("The file")}
    parts = {"cluster", "nodes", "resources", "archives", "live"}
    of_items = {"name", "path", "source"}
    assert known == documented | parts | of_items
    cells = dict(re.findall(r"^\| `([\w.-]+)` \| `?([^`|]+)`? \|", DOCUMENT, re.MULTILINE))
    made = load(fleet)
    archives, live = made.archives, made.live
    assert (archives.segment, archives.overlap, archives.tries, archives.stall) == tuple(
        int(cells[f"archives.{key}"]) * scale
        for key, scale in (("segment", config._NS), ("overlap", config._NS), ("tries", 1), ("stall", 1)))
    assert archives.longest_overlap == 4 * archives.overlap
    assert (live.stall, live.report) == (int(cells["live.stall"]), int(cells["live.report"]))
    assert config._DEFAULT_STREAMS == int(cells["resources.streams-per-decoder"])
    assert values.size(cells["resources.stream-memory"]) == config._DEFAULT_MEMORY


def test_lines_and_examples(capfd):
    lines = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("cudaccl ")]
    assert len(lines) == 4
    assert main_help(capfd).count("  cudaccl fleet ") >= 3
    examples = re.findall(r"^  (cudaccl fleet .*)$", main_help(capfd), re.MULTILINE)
    for line in lines + examples:
        make_parser().parse_args(shlex.split(line, comments=True)[1:])


def test_recipe_of_a_cluster_has_a_token():
    recipe = next(block for block in blocks("sh") if "ray start" in block)
    assert recipe.index("ray get-auth-token --generate") < recipe.index("export RAY_AUTH_MODE=token")
    assert recipe.index("export RAY_AUTH_MODE=token") < recipe.index("ray start --head")


def main_help(capfd):
    with pytest.raises(SystemExit):
        main(["fleet", "--help"])
    return capfd.readouterr().out


def test_figures():
    pytest.importorskip("prometheus_client", reason="prometheus-client is missing")
    from cudaccl.fleet.config import Live
    from cudaccl.fleet.figures import FleetFigures
    from cudaccl.fleet.live import LiveRun

    class Ray:
        def remote(self, one):
            return one

    served = {family.name for family in FleetFigures(
        LiveRun(Ray(), None, Live((), (), "", 1, None, 1.0, 0.0), print)).collect()}
    assert {re.sub("_total$", "", name) for name in first_cells("Live sources")} == served


def test_measured_overlaps():
    path = ROOT / "tests/benchmarks/results/epyc/fleet-settle.csv"
    rows = list(csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")))
    for model in ("sigma-delta", "mixture"):
        cells = [f"{row['equal_frames']} of {row['frames']}" for row in rows if row["model"] == model]
        assert f"| `{model}`: equal frames | " + " | ".join(cells) + " |" in DOCUMENT


def test_extra():
    extras = (ROOT / "pyproject.toml").read_text()
    assert all(name in re.search(r"^fleet = \[(.*)\]$", extras, re.MULTILINE)[1] for name in ("ray", "pyyaml"))


def test_log_of_the_session():
    """With Ray: it is the log of a run."""
    pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")
    if not Path("/usr/share/doc/opencv-doc/examples/data/vtest.avi").is_file():
        pytest.skip("the clip vtest.avi is missing: install opencv-doc")
    command = shutil.which("cudaccl", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("the command cudaccl is not installed beside this Python")
    done = subprocess.run(["env", f"CUDACCL={command}", ROOT / "scripts/fleet-log", "--check"], capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
