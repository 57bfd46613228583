"""The port of a cluster: processes on its machines that run jobs."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from spatialstudio.domain.frozen import frozen


class ProcessLost(Exception):  # noqa: N818 - what happened, as ``Cancelled``
    """A process ended, or its machine left the cluster; its job is lost."""


class JobService(Protocol):
    """What a process of a cluster holds: the models, and how to run a job."""

    def run(self, job: Any) -> Sequence[Any]:
        """Run a job to its end and return its reports."""


@frozen(eq=False)
class ProcessPlan:
    """The processes that a cluster shall run.

    Attributes:
        make: Creates the service in each process; picklable.
        count: Number of processes; 0 for one per GPU, or one per machine if there are none.
        threads: Processor cores of each.
    """

    make: Callable[[], JobService]
    count: int = 0
    threads: int = 1


class RemoteProcess(Protocol):
    """One process of a cluster; a lost one starts again where the cluster has room."""

    @property
    def name(self) -> str:
        """Name in progress."""

    def is_ready(self) -> bool:
        """Return True if the process takes a job; False while it starts.

        Raises:
            ClusterError: It cannot start.
        """

    def run(self, job: Any) -> Sequence[Any]:
        """Run a job to its end and return its reports.

        Raises:
            ProcessLost: The process ended during the job.
            ClusterError: The job or its reports cannot be sent.
        """

    def close(self) -> None:
        """End the process and its job."""


class Cluster(Protocol):
    """A cluster that this process uses."""

    def open(self, address: str, plan: ProcessPlan) -> tuple[RemoteProcess, ...]:
        """Connect, and start processes.

        Args:
            address: Address of the cluster; empty for one on this machine that ends with
                ``close``.
            plan: The processes.

        Raises:
            ClusterError: The cluster cannot be reached, or has no room for the processes.
        """

    def close(self) -> None:
        """End the processes and the connection."""
