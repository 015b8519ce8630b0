# SPDX-License-Identifier: LGPL-2.1-or-later
"""docs/grafana.json: each query has an answer of what a real run serves. Debian and PyPI have no Grafana, so promtool,
the parser and engine of Prometheus, takes its place."""

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

for module in ("paho.mqtt.client", "prometheus_client"):
    pytest.importorskip(module, reason=f"{module} is missing")
from prometheus_client.parser import text_string_to_metric_families  # noqa: E402

import gst_element  # noqa: E402, F401
from made import PATIENCE, Mosquitto, free_port, program, until  # noqa: E402

DASHBOARD = json.loads((Path(__file__).resolve().parents[3] / "docs/grafana.json").read_text())
SOURCES = [f"{name}=videotestsrc is-live=true pattern=ball ! video/x-raw,width=160,height=120,framerate=50/1"
           for name in ("door", "yard")]
REGIONS = {
    "version": 1, "zones": [{"name": "hall", "polygon": [[0, 0], [1, 0], [1, 1], [0, 1]]}],
    "lines": [{"name": "gate", "from": [0.5, 0], "to": [0.5, 1]}]}
QUERIES = {f"{panel['title']} {target['refId']}": (target["expr"], target["legendFormat"])
           for panel in DASHBOARD["panels"] for target in panel["targets"]}


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The text, when each source has come into its zone."""
    folder = tmp_path_factory.mktemp("run")
    broker, port = Mosquitto(folder), free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "cudaccl", "publish", "--spool", folder, "--metrics", str(port), "--to",
         f"mqtt://127.0.0.1:{broker.port}", "-s", "threshold=200", "-s", "track=true", "-s",
         f"regions={json.dumps(REGIONS)}", *SOURCES], stderr=subprocess.PIPE, text=True)
    text = ""

    def is_ready():
        nonlocal text
        assert process.poll() is None, process.stderr.read()
        try:
            text = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).read().decode()
        except OSError:
            return False
        wanted = ('cudaccl_events_total{{line="",source="{}",type="entered",zone="hall"}} 1',
                  'cudaccl_sink_frames_total{{outcome="sent",.*,source="{}"}} [1-9]')
        return all(re.search(one.format(name), text) for one in wanted for name in ("door", "yard"))

    try:
        until(is_ready)
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=PATIENCE)
        broker.stop()
    return text


@pytest.fixture(scope="module")
def samples(served):
    return [sample for family in text_string_to_metric_families(served) for sample in family.samples]


def expanded(query):
    """As Grafana sends it, with all sources."""
    result = query.replace("$__rate_interval", "1m").replace("$source", ".*")
    assert "$" not in result
    return result


def test_it_can_be_imported():
    """Each panel has a place of its own, and asks the source of data that the user chooses."""
    taken = set()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert not cells & taken and place["x"] + place["w"] <= 24
        taken |= cells
        assert all(one["datasource"]["uid"] == "${datasource}" for one in [panel, *panel["targets"]])
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert [variable["name"] for variable in DASHBOARD["templating"]["list"]] == ["datasource", "source"]


@pytest.mark.parametrize("title", QUERIES)
def test_names_and_labels_are_there(samples, title):
    query, legend = QUERIES[title]
    names = re.findall(r"cudaccl_\w+", query)
    labels = set(re.findall(r"(\w+)\s*[=!]~?\"", query)) | set(re.findall(r"{{(\w+)}}", legend))
    labels |= {label for group in re.findall(r"by \(([^)]*)\)", query) for label in group.split(", ")}
    assert names
    for name in names:
        found = [sample.labels.keys() for sample in samples if sample.name == name]
        assert found, f"nothing serves {name}"
        assert all(labels <= set(keys) for keys in found), f"{name} has {found[0]}, not {labels}"


def test_the_list_of_sources(samples):
    for variable in DASHBOARD["templating"]["list"][1:]:
        name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]["query"]).groups()
        assert {sample.labels[label] for sample in samples if sample.name == name} == {"door", "yard"}


def test_promtool_answers_each_query(samples, tmp_path):
    """What was served, for ten minutes: no query has an empty vector as its result."""
    promtool = program("promtool", "prometheus")
    series = []
    for sample in samples:
        labels = ",".join(f"{name}={json.dumps(value)}" for name, value in sample.labels.items())
        series.append({"series": f"{sample.name}{{{labels}}}", "values": f"{sample.value}+1x20"})
    wanted = [{"expr": f"count({expanded(query)}) > bool 0", "eval_time": "10m",
               "exp_samples": [{"labels": "{}", "value": 1}]} for query, _ in QUERIES.values()]
    rules = {"evaluation_interval": "30s", "rule_files": [], "tests": [
        {"interval": "30s", "input_series": series, "promql_expr_test": wanted}]}
    (tmp_path / "test.yaml").write_text(json.dumps(rules))
    done = subprocess.run([promtool, "test", "rules", tmp_path / "test.yaml"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_promtool_likes_the_names(served):
    promtool = program("promtool", "prometheus")
    done = subprocess.run([promtool, "check", "metrics"], input=served, capture_output=True, text=True)
    assert done.returncode == 0 and not done.stdout + done.stderr, done.stdout + done.stderr
