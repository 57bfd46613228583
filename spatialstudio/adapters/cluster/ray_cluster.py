"""Processes on the machines of a Ray cluster, one actor each.

Without an address Ray starts on this machine, on the loopback interface only, without its dashboard
and usage reports, with a token of its own and a folder that ``close`` removes.
"""

import logging
import secrets
import shutil
import signal
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from threading import Lock, current_thread, main_thread
from typing import Any

from spatialstudio.domain.cluster import JobService, ProcessLost, ProcessPlan
from spatialstudio.domain.errors import ClusterError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.search_paths import set_variables

log = logging.getLogger(__name__)

LOOPBACK = "127.0.0.1"
THREADS_VARIABLE = "OMP_NUM_THREADS"
OBJECT_STORE_BYTES = 256 * 2**20
"""Shared memory of a Ray on this machine; the reports of a picture take a few megabytes."""
NO_LIMIT = -1
CONNECTION_S = 10.0


def build(_: Surroundings) -> "RayCluster":
    """Create the adapter; Ray is imported on first use."""
    return RayCluster()


class RayCluster:
    """Implements ``Cluster``."""

    def __init__(self) -> None:
        self._ray: Any = None
        self._folder: Path | None = None
        self._before: dict[str, str | None] = {}
        self._closing = Lock()

    def open(self, address: str, plan: ProcessPlan) -> tuple["RayProcess", ...]:
        """Connect, and start processes.

        Args:
            address: As ``ray.init`` takes it: "auto", "host:6379" or "ray://host:10001"; empty for
                a Ray on this machine.
            plan: The processes.

        Raises:
            ClusterError: Ray is not installed or cannot be reached, or has no room.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="spatialstudio-"))
        try:
            self._connect(address, plan)
            nodes = [each["Resources"] for each in self._ray.nodes() if each["Alive"]]
            count = plan.count or usual_count(nodes)
            has_gpus = any(each.get("GPU") for each in nodes)
            _check_room(nodes, count, plan.threads, has_gpus=has_gpus)
            actor = self._ray.remote(_Holder).options(
                num_cpus=plan.threads,
                num_gpus=int(has_gpus),
                max_restarts=NO_LIMIT,
                scheduling_strategy="SPREAD",
            )
            return tuple(
                RayProcess(self._ray, actor.remote(plan.make), f"ray {number}")
                for number in range(1, count + 1)
            )
        except BaseException:
            self.close()
            raise

    def _connect(self, address: str, plan: ProcessPlan) -> None:
        assert self._folder is not None
        _check_reachable(address)  # before Ray is imported: it reads its variables only then
        self._before = set_variables(_variables(is_local=not address))
        self._ray = _import_ray()
        work = self._folder / "work"
        work.mkdir()
        options: dict[str, Any] = {
            "address": address or "local",
            "configure_logging": False,
            "log_to_driver": False,
            # NOTE: without a working folder Ray adds the current one to the search path of modules
            "runtime_env": {
                "working_dir": str(work),
                "env_vars": {THREADS_VARIABLE: str(plan.threads)},
            },
        }
        if not address:
            options |= {
                "num_cpus": max(plan.count, 1) * plan.threads,
                "include_dashboard": False,
                "object_store_memory": OBJECT_STORE_BYTES,
                "_node_ip_address": LOOPBACK,
                "_temp_dir": str(self._folder),
            }
        _log_instead_of_printing()
        try:
            with _own_signals():
                self._ray.init(**options)
        except Exception as error:
            raise ClusterError(
                f"Ray cannot be reached: {_cause(error)}.",
                hint='Check --address; "ray status" shows the cluster of this machine.',
            ) from error
        if not address and {each["NodeManagerAddress"] for each in self._ray.nodes()} != {LOOPBACK}:
            raise ClusterError(
                "Ray does not stay on the loopback interface.",
                hint="Restart Spatial Studio; it has used another cluster before.",
            )

    def close(self) -> None:
        """End the processes and the connection; may be called from any thread, and again."""
        with self._closing:
            if self._ray is not None and self._ray.is_initialized():
                self._ray.shutdown()
            set_variables(self._before)
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            self._ray, self._folder, self._before = None, None, {}


class RayProcess:
    """An actor that holds a service; implements ``RemoteProcess``.

    Args:
        ray: The module.
        actor: Handle of a ``_Holder``.
        name: Name in progress.
    """

    def __init__(self, ray: Any, actor: Any, name: str) -> None:
        self._ray = ray
        self._actor = actor
        self._greeting: Any = None
        self._is_ready = False
        self.name = name

    def is_ready(self) -> bool:
        """Return True if the process takes a job; False while it starts.

        Raises:
            ClusterError: It cannot start.
        """
        if self._is_ready:
            return True
        faults = self._ray.exceptions
        self._greeting = self._greeting or self._actor.greet.remote()
        if not self._ray.wait([self._greeting], timeout=0)[0]:
            return False
        try:
            self._ray.get(self._greeting)
        except faults.ActorDiedError as error:
            raise ClusterError(
                f"The process {self.name} cannot start: {_cause(error)}.",
                hint="Install the same version of Spatial Studio on every machine.",
            ) from error
        except faults.RayError:
            self._greeting = None
            return False
        self._is_ready = True
        return True

    def run(self, job: Any) -> Sequence[Any]:
        """Run a job to its end and return its reports.

        Raises:
            ProcessLost: The process ended during the job.
            ClusterError: The job or its reports cannot be sent.
        """
        faults = self._ray.exceptions
        try:
            reports: Sequence[Any] = self._ray.get(self._actor.run.remote(job))
        except faults.RayTaskError as error:
            raise ClusterError(
                f"The process {self.name} cannot run the job: {_cause(error)}.",
                hint="Install the same version of Spatial Studio on every machine.",
            ) from error
        except faults.RayError as error:
            self._is_ready, self._greeting = False, None
            raise ProcessLost(_cause(error)) from error
        return reports

    def close(self) -> None:
        """End the process and its job."""
        if self._ray.is_initialized():
            self._ray.kill(self._actor)


class _Holder:
    """The actor: holds a service in a process of the cluster."""

    def __init__(self, make: Any) -> None:
        self._service: JobService = make()

    def greet(self) -> None:
        """Show that the process runs."""

    def run(self, job: Any) -> Sequence[Any]:
        """Run a job to its end."""
        return self._service.run(job)


def usual_count(nodes: Sequence[Mapping[str, float]]) -> int:
    """Return one process per GPU, or one per machine if there are none.

    Args:
        nodes: Resources of each machine by name.
    """
    return sum(_amount(each, "GPU") for each in nodes) or len(nodes)


def room(nodes: Iterable[Mapping[str, float]], threads: int, *, has_gpus: bool) -> int:
    """Return the number of processes that fit, each with its cores, and a GPU if there are any."""
    pairs = [(_amount(each, "CPU") // threads, _amount(each, "GPU")) for each in nodes]
    return sum(min(pair) if has_gpus else pair[0] for pair in pairs)


def _amount(node: Mapping[str, float], resource: str) -> int:
    """Return the amount of a resource; a machine without it does not name it."""
    return int(node[resource]) if resource in node else 0


def _check_room(
    nodes: Sequence[Mapping[str, float]], count: int, threads: int, *, has_gpus: bool
) -> None:
    if count > (most := room(nodes, threads, has_gpus=has_gpus)):
        need = f"{threads} cores" + (" and a GPU" if has_gpus else "")
        raise ClusterError(
            f"The cluster has room for {most} processes with {need}, not for {count}.",
            hint="Pass a smaller --workers, or set threads in the plan.",
        )


def _variables(*, is_local: bool) -> dict[str, str | None]:
    """Return the environment variables of Ray that this process sets."""
    always: dict[str, str | None] = {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_FAILURE_SIGNAL_HANDLER": "1",  # it would print a stack at SIGTERM
    }
    if not is_local:
        return always
    return {
        **always,
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # on every system: the address is the loopback
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
    }


def _check_reachable(address: str) -> None:
    """Check that something listens at "host:port"; Ray itself would try for minutes.

    Raises:
        ClusterError: Nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not (host and port.isdecimal()):
        return
    try:
        socket.create_connection((host, int(port)), CONNECTION_S).close()
    except (OSError, OverflowError) as error:
        raise ClusterError(
            f'There is no Ray cluster at "{address}".',
            hint='Pass --address HOST:PORT; "ray status" shows the cluster of a machine.',
        ) from error


def _log_instead_of_printing() -> None:
    """Log what Ray would print on the standard output: long texts about lost processes."""
    worker: Any = import_module("ray._private.worker")
    worker.print_to_stdstream = lambda data, *_, **__: log.info("%s", data.get("lines"))


@contextmanager
def _own_signals() -> Iterator[None]:
    """Keep the handler of SIGTERM, which Ray replaces."""
    is_main = current_thread() is main_thread()
    before = signal.getsignal(signal.SIGTERM)
    yield
    if is_main and before is not None:
        signal.signal(signal.SIGTERM, before)


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ImportError as error:
        raise ClusterError(
            "Ray is not installed.", hint='Install it with: pip install "spatialstudio[cluster]"'
        ) from error


def _cause(error: BaseException) -> str:
    """Return the last line of an error, without its full stop; Ray's messages have many."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__).rstrip(".")
