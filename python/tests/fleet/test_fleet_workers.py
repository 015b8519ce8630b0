# SPDX-License-Identifier: LGPL-2.1-or-later
"""Workers stay in their places from task to task. Only the last test needs Ray; the others have one of their own."""

import contextlib
import os
import signal

import pytest

pytest.importorskip("gi", reason="python3-gi is missing")

from cudaccl.fleet import archive, cluster, cuda_context, join, work, workers  # noqa: E402
from cudaccl.fleet.pieces import Span  # noqa: E402
from cudaccl.fleet.placement import Node, Place  # noqa: E402
from fleet_made import job  # noqa: E402


class Places:
    """As `cluster.Slots`, with so many places for archives."""

    def __init__(self, count, gpus=0.5):
        self.count = count
        self.on_gpu = gpus > 0
        self.live_waits = False
        self._place = Place(Node("1", ("a",), 4, ()), count, 0.0, gpus)
        self.looks = 0

    def take(self, is_archive):
        if self.count == 0:
            return None
        self.count -= 1
        return self._place

    def free(self, place, is_archive):
        self.count += 1

    def options(self, place, is_archive):
        return {"num_cpus": 0, "num_gpus": place.num_gpus}

    def look_again(self):
        self.looks += 1


class RayError(Exception):
    pass


class RayTaskError(RayError):
    cause = None


class Reference:
    """A call, which is made when somebody waits for it."""

    def __init__(self, actor, function, arguments):
        self.actor, self.function, self.arguments = actor, function, arguments


class Actor:
    """Stands for an actor of the class Worker."""

    def __init__(self, is_alive):
        self.is_alive = is_alive
        self.is_ready = Method(lambda: Reference(self, lambda: True, ()))
        self.do = Method(lambda function, *arguments: Reference(self, function, arguments))


class Method:
    def __init__(self, remote):
        self.remote = remote

    def options(self, name):
        return self


class Ray:
    """Calls one task at a time, in this process. deaths: of actors at their start."""

    class exceptions:  # noqa: N801  (Ray's name)
        RayError, RayTaskError = RayError, RayTaskError

    def __init__(self, deaths=0):
        self.actors, self.tasks, self._deaths = [], [], deaths

    def remote(self, *one, **options):
        ray = self

        class Remote:
            def options(self, **options):
                return self

            def remote(self, *arguments):
                if one == (workers.Worker,):
                    actor = Actor(ray._deaths == 0)
                    ray._deaths = max(0, ray._deaths - 1)
                    ray.actors.append(actor)
                    return actor
                return Reference(None, self.function, arguments)

            def __call__(self, function):
                self.function = function
                return self

        return Remote()

    def wait(self, references, timeout=None):
        return references[:1], references[1:]

    def get(self, reference):
        if reference.actor is not None and not reference.actor.is_alive:
            raise RayError("the actor died")
        if reference.function.__name__ != "<lambda>":
            self.tasks.append((reference.function.__name__, reference.actor))
        try:
            return reference.function(*reference.arguments)
        except RayError:
            raise
        except Exception as error:
            failed = RayTaskError(str(error))
            failed.cause = error
            raise failed from None

    def put(self, value):
        return value

    def kill(self, actor):
        actor.is_alive = False

    def cancel(self, reference, force):
        assert reference.actor is None, "Ray cancels tasks so, and no calls of actors"


@pytest.fixture
def fast(monkeypatch):
    """Without pauses."""
    for module, name in ((archive, "_FIRST_PAUSE_S"), (archive, "_LOOK_S"), (workers, "_PAUSE_S")):
        monkeypatch.setattr(module, name, 0.0)


@pytest.fixture
def steps(monkeypatch):
    """Tasks that do nothing; each archive has two segments."""
    def survey(job):
        return "index"

    def label(job, index, span):
        if job.archive.properties.get("fails"):
            raise FileNotFoundError("gone")
        return work.Done(10)

    def put_together(job, index, obstacle):
        return {"frames": 20, "segments": ["1", "2"], "cuts": [], "uncut": ""}

    for function in (survey, label, put_together):
        monkeypatch.setattr(work, function.__name__, function)
    monkeypatch.setattr(work, "complete", lambda job, say: None)
    monkeypatch.setattr(join, "obstacle", lambda *_: "")
    monkeypatch.setattr(join, "first_spans", lambda *_: [Span(0, 0, 10), Span(0, 10, 20)])


def run_all(ray, places, jobs):
    said = []
    run = archive.ArchiveRun(ray, places, jobs, said.append)
    for _ in range(1000):
        if not run.step():
            return run, said
    raise AssertionError(said)


@pytest.mark.parametrize("gpus", [0.5, 0.0])
def test_a_worker_for_each_place_labels_everything(tmp_path, steps, gpus):
    """On GPUs, files are indexed and put together by tasks elsewhere."""
    ray, places = Ray(), Places(2, gpus)
    run, _ = run_all(ray, places, [job("clip", tmp_path) for _ in range(5)])
    assert [state.manifest["frames"] for state in run.states] == [20] * 5
    assert len(ray.actors) == 2 and sum(name == "label" for name, _ in ray.tasks) == 10
    assert {actor is None for name, actor in ray.tasks if name != "label"} == {gpus > 0}
    assert places.count == 2 and not any(actor.is_alive for actor in ray.actors)


def test_warnings_of_the_element_are_passed_on(tmp_path, steps, monkeypatch):
    """Each once for an archive, with its name."""
    def label(job, index, span):
        return work.Done(10, "", ("clip: a frame is corrupt", f"parse0: segment {span.first}"))

    monkeypatch.setattr(work, "label", label)
    _, said = run_all(Ray(), Places(1), [job("clip", tmp_path)])
    assert said[:-1] == ["clip: a frame is corrupt", "clip: parse0: segment 0", "clip: parse0: segment 10"]


def test_workers_start_while_files_are_indexed(tmp_path, steps):
    ray = Ray()
    run = archive.ArchiveRun(ray, Places(2), [job("clip", tmp_path) for _ in range(3)], print)
    run._start_tasks()
    run._start_tasks()
    assert len(ray.actors) == 2 and ray.tasks == []
    run.cancel()
    assert not any(actor.is_alive for actor in ray.actors)


def test_workers_that_die_at_their_start(tmp_path, steps, fast):
    """They are started again; and if that does not help, there is an end."""
    ray, places = Ray(deaths=3), Places(1)
    run, said = run_all(ray, places, [job("clip", tmp_path)])
    assert run.states[0].manifest is not None and run.deaths >= 1 and len(ray.actors) == 4
    assert places.count == 1 and places.looks == 3
    ray = Ray(deaths=1000)
    run, said = run_all(ray, places, [job("clip", tmp_path)])
    assert run.states[0].error.startswith("its worker died 5 times") and places.count == 1


def test_a_worker_that_dies_is_replaced(tmp_path, steps, fast, monkeypatch):
    label, found = work.label, []

    def dying(job, index, span):
        found.append(span)
        if len(found) == 1:
            raise RayError("killed")
        return label(job, index, span)

    dying.__name__ = "label"
    monkeypatch.setattr(work, "label", dying)
    ray, places = Ray(), Places(1)
    run, said = run_all(ray, places, [job("clip", tmp_path)])
    assert len(ray.actors) == 2 and run.deaths == 1 and run.states[0].manifest is not None
    assert "clip: a worker died (RayError); it is tried again in 0 seconds" in said and places.count == 1


@pytest.mark.parametrize(("gpus", "processes"), [(0.5, 3), (0.0, 1)])
def test_after_an_error_on_a_gpu_there_is_a_new_process(tmp_path, steps, gpus, processes):
    """A GPU may stay unusable for a process."""
    ray = Ray()
    jobs = [job("clip", tmp_path, {"fails": "1"}), job("clip", tmp_path, {"fails": "1"}), job("clip", tmp_path)]
    run, _ = run_all(ray, Places(1, gpus), jobs)
    assert [state.error for state in run.states] == ["gone", "gone", ""] and len(ray.actors) == processes


def test_places_go_to_live_sources(monkeypatch):
    """And those that nobody needs are free after a while."""
    ray, places = Ray(), Places(2)
    pool = workers.Pool(ray, places)
    pool.start(2)
    for reference in list(pool.starting):
        assert pool.started(reference) is None
    busy = pool.take()
    pool.trim()
    assert places.count == 0
    places.live_waits = True
    pool.trim()
    assert places.count == 1 and busy.actor.is_alive
    pool.give_back(busy)
    places.live_waits = False
    pool.trim()
    assert places.count == 1
    monkeypatch.setattr(workers, "_IDLE_S", -1.0)
    pool.trim()
    assert places.count == 2 and pool.take() is None


def test_a_node_has_its_registry_before_workers_start(monkeypatch):
    """And a node without GStreamer's bindings has GPUs nevertheless."""
    calls = []
    monkeypatch.setattr(cluster, "gstreamer", lambda: calls.append("gstreamer"))
    assert cluster._probe(lambda limit: calls.append("look") or (limit,), 2) == (2,) and calls == ["gstreamer", "look"]

    def missing():
        raise ImportError("python3-gi is missing")

    monkeypatch.setattr(cluster, "gstreamer", missing)
    assert cluster._probe(lambda limit: (limit,), 3) == (3,)


def test_the_context_of_a_process_goes_to_its_pipelines(monkeypatch):
    """Where there is no GPU, the element opens none."""
    from gst_element import Gst

    monkeypatch.setattr(cuda_context, "_of_process", [])
    cuda_context.open_for_process()
    pipeline = Gst.parse_launch("fakesrc ! fakesink")
    cuda_context.share(pipeline)
    has_gpu = pipeline.get_context(cuda_context.TYPE) is not None
    assert has_gpu == bool(cuda_context._of_process)
    if not has_gpu:
        context = Gst.Context.new(cuda_context.TYPE, True)
        cuda_context._of_process.append(context)
        cuda_context.share(pipeline)
        assert pipeline.get_context(cuda_context.TYPE) == context


def test_processes_of_ray_stay():
    """With a share of a GPU, for which Ray ends the process of each task."""
    ray = pytest.importorskip("ray", reason="ray is missing: pip install 'cudaccl[fleet]'")
    with contextlib.ExitStack() as stack:
        init = ray.init
        stack.callback(setattr, ray, "init", init)
        ray.init = lambda **options: init(**options, num_gpus=1)
        stack.enter_context(cluster.connected(None, lambda text: None))
        places = Places(2)
        pool = workers.Pool(ray, places)
        pool.start(3)
        assert len(pool.starting) == 2
        for reference in list(pool.starting):
            assert pool.started(reference) is None
        both = pool.take(), pool.take()
        pids = [ray.get([one.actor.do.remote(os.getpid) for one in both]) for _ in range(3)]
        assert pids[0] == pids[1] == pids[2] and pids[0][0] != pids[0][1]
        first = os.environ.get("CUDA_VISIBLE_DEVICES", "0").partition(",")[0]
        assert ray.get(both[0].actor.do.remote(os.getenv, "CUDA_VISIBLE_DEVICES")) == first
        os.kill(pids[0][0], signal.SIGKILL)
        with pytest.raises(ray.exceptions.RayActorError):
            ray.get(both[0].actor.do.remote(os.getpid))
        assert ray.get(both[1].actor.do.remote(os.getpid)) == pids[0][1]
        pool.end_all()
        assert places.count == 2
