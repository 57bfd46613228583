"""Engine in a process of a cluster: jobs out, their reports back when they end."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from threading import Thread

from spatialstudio.application.engine.worker import BuildRegistry, Worker
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import (
    EngineStopped,
    GenerateJob,
    Job,
    JobFailed,
    Question,
    Report,
    ReportTo,
)
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import open_registry
from spatialstudio.application.registry import Registry
from spatialstudio.domain.cluster import ProcessLost, RemoteProcess
from spatialstudio.domain.errors import ErrorReport, ModelNotFound, StudioError
from spatialstudio.domain.generation import GenerationFailed, RequestId
from spatialstudio.domain.ports import ModelCard, Surroundings
from spatialstudio.domain.search_paths import leave_out_current_folder


class RemoteEngine:
    """Runs jobs in a process of a cluster, one at a time.

    Args:
        process: The process.
    """

    def __init__(self, process: RemoteProcess) -> None:
        self._process = process
        self._report: ReportTo | None = None
        self._thread: Thread | None = None

    def start(self, report: ReportTo) -> None:
        """Accept jobs; reports go to ``report`` when a job ends."""
        self._report = report

    def submit(self, job: Job) -> None:
        """Send a job, after the one before has ended.

        Raises:
            RuntimeError: The engine is not started, or is closed.
        """
        if self._report is None:
            raise RuntimeError("The engine takes jobs between start and close only.")
        args = (job, self._report)
        self._thread = Thread(target=self._run, args=args, name=f"spatialstudio-{job.job_id}")
        self._thread.start()

    def ask(self, question: Question) -> None:
        """Ignore a question; a cluster answers none."""

    def cancel(self, job_id: RequestId) -> None:
        """Cancel nothing; ``close`` ends the running job with its process."""

    def close(self) -> None:
        """End the process and its job."""
        self._report = None
        self._process.close()
        if self._thread is not None:
            self._thread.join()

    def _run(self, job: Job, report: ReportTo) -> None:
        try:
            for each in self._process.run(job):
                report(each)
        except ProcessLost as lost:
            report(EngineStopped(error=_report_on_loss(self._process.name, lost), lost=job.job_id))
        except StudioError as error:
            report(JobFailed(request_id=job.job_id, error=report_on(error, "The cluster")))


def _report_on_loss(name: str, lost: ProcessLost) -> ErrorReport:
    return ErrorReport(
        title="The cluster",
        message=f"The process {name} was lost during a picture.",
        hint="See whether its machine still runs, and whether its memory suffices.",
        details=str(lost),
    )


class JobRunner:
    """Runs the jobs that a process of a cluster receives, with the models of its machine.

    Args:
        build: Creates the registry on the first job.
    """

    def __init__(self, build: BuildRegistry) -> None:
        self._registry: Registry | None = None
        self._reports: list[Report] = []
        self._build = build
        self._worker = Worker(self._ready_registry, self._reports.append)

    def run(self, job: Job) -> Sequence[Report]:
        """Run a job to its end and return its reports."""
        self._reports.clear()
        try:
            if isinstance(job, GenerateJob):
                job = replace(job, model=self._own_card(job.model))
        except StudioError as error:
            failure = report_on(error, "Generating the picture")
            return [GenerationFailed(request_id=job.job_id, error=failure)]
        self._worker.run(job, CancelFlag())
        return tuple(self._reports)

    def _ready_registry(self) -> Registry:
        if self._registry is None:
            self._registry = self._build()
        return self._registry

    def _own_card(self, card: ModelCard) -> ModelCard:
        """Return the card of the same model on this machine.

        Raises:
            ModelNotFound: It is not installed here, or is another one of the same name.
        """
        registry = self._ready_registry()
        catalogs = (registry.model_catalog(each) for each in registry.ids("model_catalog"))
        for own in (each for catalog in catalogs for each in catalog.cards()):
            is_same = (own.revision, own.size_bytes) == (card.revision, card.size_bytes)
            if own.id == card.id and is_same:
                return own
        raise ModelNotFound(
            f'A machine of the cluster does not have the model "{card.id}".',
            hint="Install the same models in every machine's model folder, or share the folder.",
        )


def serve_jobs(plugins: tuple[str, ...], surroundings: Surroundings | None = None) -> JobRunner:
    """Create the runner of a process of a cluster.

    Args:
        plugins: Names of the plugins that are in use in the process that sends jobs.
        surroundings: Paths and settings for the adapters; None for those of the machine.
    """
    leave_out_current_folder()
    here = surroundings or StudioPaths.usual().surroundings
    return JobRunner(partial(open_registry, here, plugins))
