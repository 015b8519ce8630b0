# SPDX-License-Identifier: LGPL-2.1-or-later
"""A cluster of two nodes, of which one dies. Both are processes of this machine."""

import subprocess
import time

import pytest

gi = pytest.importorskip("gi", reason="python3-gi is missing")
pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")

from test_fleet_run import FLEET, expected, write_fleet  # noqa: E402


def test_a_node_that_dies(clip, tmp_path):
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        second = cluster.add_node(num_cpus=1)
        command = [cluster.address if word == "local" else word for word in FLEET]
        process = subprocess.Popen([*command, write_fleet(tmp_path, clip, 2)], stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 60
        while not list(tmp_path.glob("out/.pieces/*/*.npz")) and process.poll() is None:
            assert time.monotonic() < deadline, "no piece was made"
            time.sleep(0.02)
        cluster.remove_node(second, allow_graceful=False)
        error = process.communicate(timeout=120)[1]
    finally:
        cluster.shutdown()
    assert process.returncode == 0, error
    assert error.count("1 streams at once") == 2 and "a worker died" in error
    for name in ("clip0", "clip1"):
        assert (tmp_path / f"out/{name}.jsonl").read_bytes() == expected(tmp_path, clip, name).read_bytes()


def test_no_cluster_at_the_address(clip, tmp_path):
    command = ["127.0.0.1:1" if word == "local" else word for word in FLEET]
    done = subprocess.run(
        [*command, write_fleet(tmp_path, clip, 1)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "the Ray cluster 127.0.0.1:1 cannot be reached: " in done.stderr and "Traceback" not in done.stderr
