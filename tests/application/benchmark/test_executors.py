"""Benchmarks on a cluster: the same results as in one process, also when processes are lost."""

import gc
import os
import signal
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

from spatialstudio.adapters.cluster.ray_cluster import RayCluster
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.item_queue import MOST_LOSSES
from spatialstudio.application.benchmark.item_worker import ItemWorker
from spatialstudio.application.benchmark.runner import failures_of
from spatialstudio.application.engine.remote_engine import JobRunner, RemoteEngine
from spatialstudio.domain.cluster import ProcessLost, ProcessPlan
from spatialstudio.domain.errors import ClusterError, StudioError
from spatialstudio.domain.generation import GenerationFailed
from tests.application.benchmark.conftest import FickleDetector, NotedBackend
from tests.cli.conftest import FakeRegistry

EACH = ("results/plain/eval/per_sample.jsonl", "results/psg/eval/per_sample.jsonl")


class FakeProcess:
    """A process of a cluster in this process, which is lost during some of its jobs.

    Attributes:
        lost_at: Numbers of the jobs during which it is lost.
        ready_after: Number of questions until it is ready again after a loss.
    """

    def __init__(self, service, name, lost_at=(), ready_after=2):
        self.service, self.name = service, name
        self.lost_at, self.ready_after = lost_at, ready_after
        self.jobs = self.questions = 0
        self.is_closed = False

    def is_ready(self):
        self.questions += 1
        return self.questions >= self.ready_after

    def run(self, job):
        self.jobs += 1
        if self.jobs in self.lost_at:
            self.questions = 0
            raise ProcessLost("killed")
        return self.service.run(job)

    def close(self):
        self.is_closed = True


def workers_of(processes):
    return [
        ItemWorker(RemoteEngine(each), name=each.name, is_ready=each.is_ready) for each in processes
    ]


def contents(items):
    write_results(items)
    return [(items.store.folder / name).read_bytes() for name in EACH]


@pytest.fixture
def expected(bench):
    items = bench.items("one")
    bench.runner(items).run()
    bench.notes.unlink()
    return contents(items)


def fakes(bench, *losses):
    return [
        FakeProcess(JobRunner(bench.registry), f"p{number}", lost_at)
        for number, lost_at in enumerate(losses)
    ]


def test_lost_processes_lose_only_their_items_in_flight(bench, expected):
    items = bench.items("many")
    processes = fakes(bench, (2, 5), ())
    progress = bench.runner_of(items, workers_of(processes)).run()

    assert contents(items) == expected
    assert progress.engines["p0"].lost == 2
    assert progress.done == progress.total == len(bench.drawn()) == len(set(bench.drawn()))
    assert all(each.is_closed for each in processes)


def test_an_item_that_ends_every_process_fails(bench):
    items = bench.items("many")
    bench.runner_of(items, workers_of(fakes(bench, range(1, MOST_LOSSES + 1)))).run()

    (failure,) = failures_of(items)
    assert "was lost during a picture" in failure.message


def test_a_process_that_never_starts_ends_the_run(bench):
    class Broken(FakeProcess):
        def is_ready(self):
            raise ClusterError("It cannot start.")

    items = bench.items("many")
    broken = Broken(JobRunner(bench.registry), "p0")
    with pytest.raises(StudioError, match="cannot start"):
        bench.runner_of(items, workers_of([broken])).run()


def test_a_machine_uses_its_own_copy_of_a_model_and_names_one_that_it_lacks(bench):
    items = bench.items("many")
    item = items.opened.drawable[0]
    job = items.job(item, items.opened.plan.judges[0])
    elsewhere = replace(job, model=replace(job.model, folder=Path("elsewhere")))
    other = replace(job, model=replace(job.model, revision="another"))
    runner = JobRunner(bench.registry)

    assert not any(isinstance(each, GenerationFailed) for each in runner.run(elsewhere))
    (failed,) = runner.run(other)
    assert "does not have the model" in failed.error.message


@dataclass
class FatalBackend(NotedBackend):
    """Ends its process at the fifth picture of a benchmark, once."""

    def generate(self, request, model, token, report, rate=None):
        mark = self.notes.with_name("ended")
        if self.notes.exists() and len(self.notes.read_text().split()) == 4 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate(request, model, token, report, rate)


def registry_in(home):
    backend = FatalBackend(notes=home / "drawn.txt")
    return FakeRegistry(home, backend_made=backend, detector_made=FickleDetector())


def serve_fakes(home):
    return JobRunner(partial(registry_in, home))


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_ray_gives_the_same_results_when_one_of_two_processes_is_killed(bench, expected):
    items = bench.items("ray")
    cluster = RayCluster()
    try:
        plan = ProcessPlan(make=partial(serve_fakes, bench.home), count=2)
        processes = cluster.open("", plan)
        bench.runner_of(items, workers_of(processes)).run()
    finally:
        cluster.close()
        processes = ()
        del cluster
        gc.collect()  # Ray does not wait for its processes: they warn here, not in a later test

    assert (bench.home / "ended").exists()
    assert contents(items) == expected
    assert len(bench.drawn()) == len(set(bench.drawn())) == bench.reports[-1].total
    assert sum(each.lost for each in bench.reports[-1].engines.values()) == 1
    assert not {"RAY_AUTH_TOKEN", "RAY_AUTH_MODE"} & set(os.environ)
