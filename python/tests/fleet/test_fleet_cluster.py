# SPDX-License-Identifier: LGPL-2.1-or-later
"""Clusters whose nodes are processes of this machine: one that dies, and who may use them."""

import contextlib
import json
import os
import subprocess
import sys

import pytest

gi = pytest.importorskip("gi", reason="python3-gi is missing")
pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")

from made import PATIENCE, until  # noqa: E402
from test_fleet_run import FLEET, expected, write_fleet  # noqa: E402


def test_a_node_that_dies(clip, tmp_path):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        command = [cluster.address if word == "local" else word for word in FLEET]
        process = subprocess.Popen([*command, write_fleet(tmp_path, clip, 2)], stderr=subprocess.PIPE, text=True)
        until(lambda: list(tmp_path.glob("out/.pieces/*/*.npz")) or process.poll() is not None)
        cluster.remove_node(second, allow_graceful=False)
        error = process.communicate(timeout=PATIENCE)[1]
    finally:
        cluster.shutdown()
    assert process.returncode == 0, error
    assert error.count("1 streams at once") == 2 and "a worker died" in error
    for name in ("clip0", "clip1"):
        assert (tmp_path / f"out/{name}.jsonl").read_bytes() == expected(tmp_path, clip, name).read_bytes()


def test_no_cluster_at_the_address(clip, tmp_path):
    command = ["127.0.0.1:1" if word == "local" else word for word in FLEET]
    done = subprocess.run(
        [*command, write_fleet(tmp_path, clip, 1)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2, done.stderr
    assert "the Ray cluster 127.0.0.1:1 cannot be reached: " in done.stderr and "Traceback" not in done.stderr


HEAD = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@contextlib.contextmanager
def head(**environment):
    """Yields the address of a cluster, which is not the loopback address."""
    process = subprocess.Popen([sys.executable, "-c", HEAD], env=os.environ | environment, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.communicate()


@pytest.mark.parametrize("environment,reason", [
    ({"RAY_AUTH_MODE": "disabled"}, "wants no token: anyone who reaches it can run code on it; docs/fleet.md"),
    ({"RAY_AUTH_TOKEN": "f" * 64}, "has another token than this machine; docs/fleet.md"),
])
def test_cluster_without_this_token(clip, tmp_path, environment, reason):
    with head(**environment) as address:
        command = [address if word == "local" else word for word in FLEET]
        done = subprocess.run([*command, write_fleet(tmp_path, clip, 1)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2 and f"the Ray cluster {address} {reason}" in done.stderr, done.stderr
    assert done.stderr.count("\n") == 1


LOCAL = """
import ipaddress, json, os, subprocess, sys
from pathlib import Path
from cudaccl.fleet import cluster

def family(pid):
    children = [int(child) for thread in Path(f"/proc/{pid}/task").iterdir()
                for child in (thread / "children").read_text().split()]
    return [pid, *(member for child in children for member in family(child))]

def listening(pids):
    wanted = {os.readlink(link) for pid in pids for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()}
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            _, local, _, state, *more = line.split()
            if state == "0A" and f"socket:[{more[5]}]" in wanted:
                raw = bytes.fromhex(local.partition(":")[0])
                address = ipaddress.ip_address(b"".join(raw[i:i + 4][::-1] for i in range(0, len(raw), 4)))
                yield str(getattr(address, "ipv4_mapped", None) or address)

with cluster.connected(None, lambda text: None) as ray:
    ray.get(ray.remote(lambda: os.getpid()).remote())
    status = [sys.executable, "-m", "ray.scripts.scripts", "status", "--address"]
    status.append(ray.get_runtime_context().gcs_address)
    nobody = {name: value for name, value in os.environ.items() if name != "RAY_AUTH_TOKEN"}
    found = {
        "listening": list(listening(family(os.getpid()))),
        "ours": subprocess.run(status, capture_output=True).returncode,
        "nobody's": subprocess.run(status, capture_output=True, env=nobody | {"RAY_AUTH_MODE": "disabled"}).returncode}
print(json.dumps(found))
"""


def test_own_ray_is_for_nobody_else(tmp_path):
    """It has a token, and listens on the loopback address."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_AUTH_")}
    done = subprocess.run([sys.executable, "-c", LOCAL], env=environment | {"HOME": str(tmp_path)}, capture_output=True,
                          text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert len(found["listening"]) > 3 and set(found["listening"]) == {"127.0.0.1"}
    assert found["ours"] == 0 and found["nobody's"] != 0
    assert not (tmp_path / ".ray").exists()
