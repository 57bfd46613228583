"""Executors of benchmarks: engine processes of this machine, or processes of a cluster."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial

from spatialstudio.application.benchmark.item_worker import ItemWorker
from spatialstudio.application.engine.process_engine import open_engine
from spatialstudio.application.engine.remote_engine import RemoteEngine, serve_jobs
from spatialstudio.application.jobs.messages import Engine
from spatialstudio.application.studio import Studio
from spatialstudio.domain.cluster import ProcessPlan
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.search_paths import set_variables

THREADS_VARIABLE = "OMP_NUM_THREADS"
"""Read when the model library is loaded."""


class Executor(Enum):
    """Where the engines of a benchmark run."""

    LOCAL = "local"
    """Engine processes of this machine."""
    RAY = "ray"
    """Processes of a Ray cluster; the value is the id of the adapter."""


@frozen
class EnginePlan:
    """The engines of a benchmark.

    Attributes:
        executor: Where they run.
        workers: Their number; 0 for one per listed device, on a cluster for one per GPU, or per
            machine if there are none.
        devices: Devices of this machine, one engine each; empty for the fastest.
        address: Address of the cluster; empty for one on this machine.
        threads: Processor threads of each.
    """

    executor: Executor = Executor.LOCAL
    workers: int = 0
    devices: tuple[str, ...] = ()
    address: str = ""
    threads: int = 1


class Workers:
    """The engines of a benchmark, closed at the end of a ``with`` block.

    Attributes:
        all: The engines, which the runner starts.

    Args:
        workers: The engines.
        end: Ends what they run in; may be called from any thread.
    """

    def __init__(self, workers: Sequence[ItemWorker], end: Callable[[], object]) -> None:
        self.all = tuple(workers)
        self._end = end

    def close(self) -> None:
        """End what the engines run in, from any thread; jobs in flight are lost."""
        self._end()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_workers(studio: Studio, plan: EnginePlan, own: Engine | None = None) -> Workers:
    """Return the engines of a benchmark.

    Args:
        studio: The studio.
        plan: The engines.
        own: An engine of this process, used where a single one is wanted; None to use a process.

    Raises:
        ClusterError: The cluster cannot be reached, or has no room.
    """
    if plan.executor is not Executor.LOCAL:
        return _cluster_workers(studio, plan)
    before = set_variables({THREADS_VARIABLE: str(plan.threads)})
    devices = plan.devices or ("",) * max(plan.workers, 1)
    if own is not None and len(devices) == 1:
        workers = [ItemWorker(own, devices[0])]
    else:
        engines = [
            open_engine("process", studio.paths.surroundings, _plugins_of(studio)) for _ in devices
        ]
        workers = [
            ItemWorker(engine, device, device or f"engine {number}")
            for number, (engine, device) in enumerate(zip(engines, devices, strict=True), 1)
        ]
    return Workers(workers, lambda: set_variables(before))


def _cluster_workers(studio: Studio, plan: EnginePlan) -> Workers:
    cluster = studio.registry.cluster(plan.executor.value)
    surroundings = None if plan.address else studio.paths.surroundings
    make = partial(serve_jobs, _plugins_of(studio), surroundings)
    asked = ProcessPlan(make=make, count=plan.workers, threads=plan.threads)
    workers = [
        ItemWorker(RemoteEngine(each), name=each.name, is_ready=each.is_ready)
        for each in cluster.open(plan.address, asked)
    ]
    return Workers(workers, cluster.close)


def _plugins_of(studio: Studio) -> tuple[str, ...]:
    return tuple(each.name for each in studio.plugins.loaded)
