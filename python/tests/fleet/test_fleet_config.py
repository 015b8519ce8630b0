# SPDX-License-Identifier: LGPL-2.1-or-later
"""fleet.yaml, and where streams are placed."""

import os
import pwd
import sys
import types

import pytest

pytest.importorskip("yaml", reason="PyYAML is missing")

from cudaccl.cli import main  # noqa: E402
from cudaccl.fleet import ConfigError, load  # noqa: E402
from cudaccl.fleet.placement import Gpu, Node, gpus_here, place  # noqa: E402
from cudaccl.publish.address import BROKERS  # noqa: E402

GOOD = """\
cluster:
  address: head:6379
  nodes:
    gpu1: {slots-per-gpu: 3}
properties: {threshold: 128}
archives:
  output: out
  form: parquet
  files:
    - "*.mkv"
    - {name: door, path: other.mp4, properties: {min_area: 9}}
  segment: 2.5
  to: ["mqtt://broker/{source}"]
live:
  sources:
    - {name: gate, source: "rtsp://cam/live", properties: {track: true}}
  to: ["jsonl:live.jsonl"]
  metrics: 127.0.0.1:9464
"""


@pytest.fixture
def write(tmp_path, monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    for name in ("a.mkv", "b.mkv", "other.mp4"):
        (tmp_path / name).write_bytes(b"")

    def to_file(text):
        path = tmp_path / "fleet.yaml"
        path.write_text(text)
        return path

    return to_file


def test_all_keys(write, tmp_path):
    config = load(write(GOOD))
    assert config.address == "head:6379" and config.nodes["gpu1"].slots_per_gpu == 3
    assert [one.name for one in config.archives.files] == ["a", "b", "door"]
    assert config.archives.files[2].properties == {"threshold": "128", "min-area": "9"}
    assert config.archives.files[0].path == str(tmp_path / "a.mkv")
    assert (config.archives.segment, config.archives.overlap, config.archives.longest_overlap) == (
        2_500_000_000, 10**10, 4 * 10**10)
    assert (config.archives.to, config.archives.spool) == (("mqtt://broker/{source}",), str(tmp_path / "spool"))
    assert config.live.sources[0].properties == {"threshold": "128", "track": "true"}
    assert config.live.metrics == ("127.0.0.1", 9464)


def test_paths_begin_at_the_folder_of_the_file(write, tmp_path, monkeypatch):
    """Also of regions, and whatever letters the folder has; a path in the home begins there."""
    folder = tmp_path / "a [x] *"
    folder.mkdir()
    monkeypatch.setenv("HOME", "/home/me")
    for name in ("a.mkv", "other.mp4", "c[1].mkv"):
        (folder / name).write_bytes(b"")
    text = GOOD.replace("threshold: 128", "regions: r.json").replace("track: true", "regions: /abs/r.json")
    text = text.replace("jsonl:live", "jsonl:~/live").replace('- "*.mkv"', '- "*a.mkv"\n    - "c[1].mkv"')
    path = folder / "fleet.yaml"
    path.write_text(text.replace("min_area: 9", "regions: '{\"version\": 1}'"))
    config = load(path)
    assert [one.path for one in config.archives.files] == [
        str(folder / name) for name in ("a.mkv", "c[1].mkv", "other.mp4")]
    assert [one.properties["regions"] for one in config.videos] == [
        *2 * [str(folder / "r.json")], '{"version": 1}', "/abs/r.json"]
    assert config.live.to == ("jsonl:/home/me/live.jsonl",)


def test_every_broker_is_possible(write, monkeypatch):
    """One that only the table of sinks knows."""
    monkeypatch.setitem(BROKERS, "queue", BROKERS["mqtt"])
    text = GOOD.replace("mqtt://broker", "queue://broker").replace("jsonl:live.jsonl", "queue://broker")
    config = load(write(text))
    assert (config.archives.to, config.live.to) == (("queue://broker/{source}",), ("queue://broker",))


@pytest.mark.parametrize("to,name", [("{source}.mkv", "{}/a.mkv"), ("fleet.yaml", "{}/fleet.yaml")])
def test_no_file_of_the_fleet_is_destroyed(write, tmp_path, capsys, to, name):
    path = write(GOOD.replace("name: gate", "name: a").replace("live.jsonl", to))
    assert main(["fleet", "check", str(path)]) == 2
    name = name.format(tmp_path)
    assert f"error: live: jsonl:{name} and {name} are one file" in capsys.readouterr().err


@pytest.mark.parametrize("old,new,line,reason", [
    ("  form: parquet", "  from: parquet", 8, "the key from is not known; possible are properties, files, overlap"),
    ("form: parquet", "form: csv", 8, "'csv' is not possible here; possible are jsonl, parquet"),
    ("segment: 2.5", "segment: 0x2", 12, "'0x2' is no time, such as 2s or 500ms"),
    ("segment: 2.5", "segment: 2.5\n  overlap: 5\n  longest-overlap: 4", 14, "longest-overlap is less than overlap"),
    ("segment: 2.5", "segment: 2.5\n  segment: 3", 13, "the key segment is there twice"),
    ("  output: out\n", "", 7, "the key output is missing"),
    ('"*.mkv"', '"*.avi"', 10, "there is no file"),
    ("path: other.mp4", "path: none.mp4", 11, "there is no file"),
    ("name: door", "name: a", 11, "two files have the name a"),
    ("name: door", "name: ../door", 11, "is no name"),
    ("name: door", "name: manifest", 7, "the folder manifest is not for a file"),
    ("min_area: 9", "output: mask", 11, "this program sets output itself"),
    ("min_area: 9", "backend: gpu", 11, "'gpu' is not possible here; possible are auto, cpu, cuda"),
    ("slots-per-gpu: 3", "slots-per-gpu: 0", 4, "'0' is no positive whole number"),
    ("jsonl:live.jsonl", "ftp://x", 17, "ftp://x is no sink"),
    ("jsonl:live.jsonl", "jsonl:live.jsonl?rate=0", 17, "'0' is no number above 0"),
    ("{track: true}}\n  to: [\"", "{}}\n  to: [\"mqtt://x?what=events\", \"", 17,
     "what=events needs track=true, which gate does not have"),
    ("mqtt://broker/{source}", "mqtt://broker?what=tracks", 13, "archives send each frame"),
    ("jsonl:live.jsonl", "mqtt:localhost", 17, "'mqtt:localhost' is no sink: write mqtt://HOST/TOPIC"),
    ("jsonl:live.jsonl", "mqtt://me:secret@host", 17, "everybody on this machine can read a password"),
    ("mqtt://broker/{source}", "kafka:broker", 13, "'kafka:broker' is no sink: write kafka://HOST/TOPIC"),
    ("mqtt://broker/{source}", "jsonl:x", 13, "jsonl:x is no broker; possible are mqtt, mqtts, kafka"),
    ("127.0.0.1:9464", "a..b:9464", 18, "'a..b' is no name of a host"),
    ("mqtt://broker/{source}", "mqtt://a..b", 13, "'a..b' is no name of a host"),
    ("127.0.0.1:9464", "high", 18, "'high' is no [HOST:]PORT"),
    ("name: gate, ", "", 16, "the key name is missing"),
    ('  to: ["jsonl', '  to: ]["jsonl', 17, "expected the node content, but found ']'"),
    ("cluster:", "cluster: 5\nother:", 1, "a mapping is needed here"),
    ("  files:", "  files: 5\n  more:", 9, "a list is needed here"),
])
def test_wrong_files_name_the_line(write, capfd, old, new, line, reason):
    assert old in GOOD
    path = write(GOOD.replace(old, new, 1))
    for action in ("check", "run"):
        assert main(["fleet", action, str(path)]) == 2
        error = capfd.readouterr().err
        assert error.startswith(f"cudaccl: error: {path}:{line}: ") and reason in error and error.count("\n") == 1


@pytest.mark.parametrize("text,reason", [
    ("", ":1: the file is empty"), ("properties: {}\n", ":1: there is nothing to do"), ("a: \x07\n", "fleet.yaml")])
def test_empty_files(write, text, reason):
    with pytest.raises(ConfigError, match=reason):
        load(write(text))


def test_no_file(tmp_path, capfd):
    assert main(["fleet", "run", str(tmp_path / "no.yaml")]) == 2
    assert "no.yaml: No such file" in capfd.readouterr().err


def test_address(write, monkeypatch):
    path = write(GOOD.replace("  address: head:6379\n", ""))
    assert load(path).address is None
    monkeypatch.setenv("RAY_ADDRESS", "other:6379")
    assert load(path).address == "other:6379"
    assert load(path, "local").address is None
    assert load(write(GOOD), "third:1").address == "third:1"


@pytest.mark.parametrize("action", ["check", "run"])
@pytest.mark.parametrize("address,environment,reason", [
    ("head:6379", {}, "head:6379 needs a token, and there is none here: `ray get-auth-token --generate` makes one"),
    ("head:6379", {"RAY_AUTH_TOKEN": ""}, "there is none here"),
    ("head:6379", {"RAY_AUTH_TOKEN_PATH": "/no/such"}, "there is none here"),
    ("head:6379", {"RAY_AUTH_TOKEN": "x", "RAY_AUTH_MODE": "disabled"}, "but RAY_AUTH_MODE is 'disabled'"),
    ("10.0.0.1:6379", {}, "there is none here"),
    ("auto", {}, "there is none here"),
    ("ray://127.0.0.1:10001", {"RAY_AUTH_TOKEN": "x"}, "no HOST:PORT"),
])
def test_other_machines_need_a_token(write, tmp_path, monkeypatch, capfd, action, address, environment, reason):
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    for name, value in (environment | {"HOME": str(tmp_path)}).items():
        monkeypatch.setenv(name, value)
    assert main(["fleet", action, "--address", address, str(write(GOOD))]) == 2
    error = capfd.readouterr().err
    assert error.count("\n") == 1 and reason in error


def test_a_cluster_whose_name_no_host_has():
    from cudaccl.fleet import cluster

    with pytest.raises(ConfigError, match="the Ray cluster a..b:6379 cannot be reached: 'a..b' is no name of a host"):
        cluster._check_reachable("a..b:6379")


def test_a_user_without_a_home_has_no_token(monkeypatch):
    from cudaccl.fleet import ray_token

    def unknown(_user):
        raise KeyError("no such user")

    for name in ("HOME", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    assert not ray_token._has_token()


@pytest.mark.parametrize("script,reason", [
    ("exit(1)", "no reason is given"),
    ("exit('a node\\x1b[2J is away')", r"a node\x1b[2J is away"),
    ("", "wants no token"),
    ("exit('ray.exceptions.AuthenticationError: no')", "has another token"),
    ("exit('ray.exceptions.AuthenticationError: no' if os.environ['RAY_AUTH_MODE'] == 'disabled' else 0)", None),
])
def test_only_a_cluster_that_refuses_strangers_is_used(tmp_path, monkeypatch, script, reason):
    """Whatever else its probe fails with, nobody knows whether the cluster is open to all."""
    from cudaccl.fleet import ray_token

    package = tmp_path / "ray" / "scripts"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    (package / "scripts.py").write_text(f"import os\n{script}\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    if reason is None:
        ray_token.demand_of_cluster("192.0.2.1:6379")
    else:
        with pytest.raises(ConfigError) as caught:
            ray_token.demand_of_cluster("192.0.2.1:6379")
        assert reason in str(caught.value)


@pytest.mark.parametrize("address", ["127.0.0.1:6379", "127.1.2.3:6379", "localhost:6379", "[::1]:6379", "local"])
def test_this_machine_needs_no_token(write, tmp_path, monkeypatch, address):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert main(["fleet", "check", "--address", address, str(write(GOOD))]) == 0


@pytest.mark.parametrize("where", ["default", "path"])
def test_token_in_a_file(write, tmp_path, monkeypatch, where):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    monkeypatch.delenv("RAY_AUTH_TOKEN", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / (".ray/auth_token" if where == "default" else "token")
    path.parent.mkdir(exist_ok=True)
    path.write_text("0123456789abcdef")
    if where == "path":
        monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(path))
    assert main(["fleet", "check", str(write(GOOD))]) == 0
    assert os.environ["RAY_AUTH_MODE"] == "token"


def test_check_shows_what_there_is(write, capfd):
    assert main(["fleet", "check", str(write(GOOD))]) == 0
    text = capfd.readouterr().out
    assert "cluster: head:6379" in text and "archives: 3 files" in text and "gate: rtsp://cam/live" in text


@pytest.mark.parametrize("old,new,reason", [
    ("min_area: 9", "min_arae: 9", "door: the element cudaccl has no property min-arae; did you mean min-area?"),
    ("threshold: 128", "threshold: 70000", "a: threshold is 70000; possible are whole numbers from 0 to 65535"),
    ("track: true", "foreground: otso", "gate: could not set property"),
    ("track: true", "regions: none.json", "gate: regions: {}/none.json: No such file"),
    ("min_area: 9", "min_area: -5", "door: min-area is -5; possible are whole numbers from 0 to 2147483647"),
    ("track: true", "track: true, track-lost: 2", "gate: track-lost is 2 nanoseconds"),
    ("track: true", "draw-ids: true", "gate: draw-ids=true has no effect: track=true"),
    ("track: true", "regions: '{\"version\": 1, \"lines\": [{\"name\": \"a\", \"from\": [0, 0], \"to\": [1, 0]}]}'",
     "gate: zones and lines of regions have no effect: track=true"),
])
def test_the_element_is_asked(write, tmp_path, capfd, old, new, reason):
    gst = pytest.importorskip("cudaccl._gst_pipeline")
    try:
        gst.check_properties({})
    except (ImportError, gst.MissingElement) as missing:
        pytest.skip(str(missing))
    assert old in GOOD
    for action in ("check", "run"):
        assert main(["fleet", action, str(write(GOOD.replace(old, new, 1)))]) == 2
        assert capfd.readouterr().err.startswith(f"cudaccl: error: {reason.replace('{}', str(tmp_path))}")


def test_archives_need_files_and_a_folder(write, tmp_path):
    (tmp_path / "a.mp4").touch()
    for archives, reason in (("{output: records, files: []}", "files names no file"),
                             ("{output: a.mp4, files: [a.mp4]}", "output is a folder, and .*/a.mp4 is a file")):
        with pytest.raises(ConfigError, match=reason):
            load(write(f"archives: {archives}"))


@pytest.mark.parametrize("source,reason", [
    ("none.mp4", "'none.mp4' is no URI, no camera, no file and no launch line"),
    ("videotestsrc ! nosuchelement", 'no element "nosuchelement"'),
    ("videotestsrc pattern=none", 'could not set property "pattern"'),
    ("videotestsrc ! videoconvert", None), ("/dev/video99", None), ("rtsp://192.0.2.1/live", None)])
def test_check_finds_sources_that_nothing_can_open(write, capfd, source, reason):
    gst = pytest.importorskip("cudaccl._gst_pipeline")
    try:
        gst.check_properties({})
    except (ImportError, gst.MissingElement) as missing:
        pytest.skip(str(missing))
    if source.startswith("/dev") and gst.gstreamer().Gst.ElementFactory.find("v4l2src") is None:
        pytest.skip("GStreamer has no element v4l2src")
    assert GOOD.count("rtsp://cam/live") == 1
    path = str(write(GOOD.replace("rtsp://cam/live", source)))
    assert main(["fleet", "check", "--address", "local", path]) == (1 if reason else 0)
    errors = capfd.readouterr().err
    assert f"error: gate: {reason}" in errors if reason else "error" not in errors
    assert main(["fleet", "check", path]) == 0  # the machines of a cluster may have it
    assert (f"gate: this machine could not open it: {reason}" in capfd.readouterr().err) == bool(reason)


def test_a_live_file_begins_at_the_folder(write, tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "door.avi").touch()
    assert load(write(GOOD.replace("rtsp://cam/live", "door.avi"))).live.sources[0].source == str(tmp_path / "door.avi")


def test_check_without_gstreamer(write, capfd, monkeypatch):
    def missing(_properties):
        raise ImportError("there is no gi")

    monkeypatch.setattr("cudaccl._gst_pipeline.check_properties", missing)
    assert main(["fleet", "check", str(write(GOOD))]) == 0
    assert "cudaccl: properties are not checked: there is no gi\n" in capfd.readouterr().err


GIB = 1 << 30
LARGE = Gpu(100 * GIB, 7)
SMALL = Gpu(3 * GIB, 7)


def node(name, cpus=8, *gpus):
    return Node(f"id-{name}", (name, f"10.0.0.{len(name)}"), cpus, gpus)


def config(write, extra="", backend="auto"):
    text = GOOD.replace("  nodes:\n    gpu1: {slots-per-gpu: 3}\n", "").replace(
        "threshold: 128", f"threshold: 128, backend: {backend}")
    return load(write(text + extra))


def test_memory_and_decoders_decide(write):
    places = place(config(write), [node("large", 8, LARGE, LARGE), node("small", 8, SMALL), node("cpu")])
    assert [(one.node.names[0], one.slots) for one in places] == [("large", 2 * 7 * 8), ("small", 3)]
    assert places[0].num_gpus == 1 / 56 and places[1].num_gpus == 1 / 3
    assert [one.archive_slots for one in places] == [8, 3]


def test_slots_are_taken_and_freed(write, monkeypatch):
    """A segment of an archive takes a whole decoder."""
    from cudaccl.fleet import cluster

    monkeypatch.setattr(cluster, "living_nodes", lambda ray: [node("large", 8, LARGE)])
    monkeypatch.setattr(cluster, "on_node", lambda ray, node_id: node_id)
    slots = cluster.Slots(None, config(write), print)
    places = [slots.take(is_archive=True) for _ in range(6)]
    assert [slots.take(is_archive=False) is None for _ in range(9)] == [False] * 8 + [True]
    assert slots.take(is_archive=True) is None
    slots.free(places[0], is_archive=True)
    assert slots.take(is_archive=True) is not None
    assert slots.options(places[0], is_archive=True) == {
        "num_cpus": 0, "num_gpus": 0.1428, "scheduling_strategy": "id-large"}


def test_nodes_that_go_and_come_back(write, monkeypatch):
    from cudaccl.fleet import cluster

    there = [node("gpu", 8, LARGE)]
    said = []
    monkeypatch.setattr(cluster, "living_nodes", lambda ray: there)
    monkeypatch.setattr(cluster, "_LOOK_AGAIN_S", 0)
    slots = cluster.Slots(None, config(write, backend="cuda"), said.append)
    there.clear()
    slots.look_again()
    assert slots.take(is_archive=False) is None
    assert said == ["backend: cuda needs a GPU, and no node of the cluster has one; this waits for nodes"]
    there.append(node("gpu", 8, LARGE))
    assert slots.take(is_archive=False) is not None


def test_resources_and_nodes_of_the_file_come_first(write):
    extra = "resources: {stream-memory: 2G, streams-per-decoder: 1}\n"
    assert place(config(write, extra), [node("large", 8, LARGE)])[0].slots == 7
    assert place(config(write, extra), [node("small", 8, SMALL)])[0].slots == 1
    more = "resources: {decoders: 2, streams-per-decoder: 3}\n"
    assert place(config(write, more), [node("large", 8, LARGE)])[0].slots == 6
    with_node = load(write(GOOD))
    assert place(with_node, [node("gpu1", 8, LARGE, LARGE)])[0].slots == 6


def test_gpus_here(monkeypatch):
    """NVML counts no decoders: the fewest of the kind."""
    capabilities = [(8, 9), (9, 0), (8, 9)]
    nvml = types.SimpleNamespace(
        nvmlInit=lambda: None, nvmlShutdown=lambda: None, nvmlDeviceGetCount=lambda: 4,
        nvmlDeviceGetHandleByIndex=lambda index: index,
        nvmlDeviceGetCudaComputeCapability=lambda index: capabilities[index],
        nvmlDeviceGetMemoryInfo=lambda index: types.SimpleNamespace(free=index << 30))
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    assert gpus_here(3) == tuple(Gpu(i << 30, n) for i, n in enumerate([1, 7, 1]))
    assert gpus_here(0) == ()


def test_without_a_gpu(write):
    places = place(config(write), [node("one", 4)])
    assert (places[0].slots, places[0].num_cpus, places[0].num_gpus) == (4, 1, 0)
    with pytest.raises(ConfigError, match="no node of the cluster has one"):
        place(config(write, backend="cuda"), [node("one", 4)])
    assert place(config(write, backend="cpu"), [node("one", 4), node("gpu", 6, LARGE)])[1].slots == 6


def test_no_room(write):
    with pytest.raises(ConfigError, match="no node has room for a stream: 1024 MiB"):
        place(config(write), [node("full", 8, Gpu(GIB // 2, 1))])
    with pytest.raises(ConfigError, match="the cluster has no node gpu1; its nodes are 10.0.0.3, one"):
        place(load(write(GOOD)), [node("one")])


def test_levels_of_yaml_are_bounded(write):
    with pytest.raises(ConfigError, match="fleet.yaml: it has too many levels"):
        load(write("archives: " + "[" * 10_000 + "]" * 10_000))


def test_files_whose_name_is_no_utf_8(write, tmp_path):
    (tmp_path / "a.mkv").rename(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.mkv"))
    with pytest.raises(ConfigError, match="UTF-8"):
        load(write(GOOD))
