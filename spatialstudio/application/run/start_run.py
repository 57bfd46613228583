"""Submission of requests to the engine, with validation and a journal on disk."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import (
    Engine,
    EstimateMemory,
    GenerateJob,
)
from spatialstudio.application.run.check_request import check_request, check_scene
from spatialstudio.application.storage.storage import Storage
from spatialstudio.domain.derived_requests import has_baseline, unguided
from spatialstudio.domain.errors import ModelNotFound, StudioError
from spatialstudio.domain.generation import (
    GenerationFailed,
    GenerationRequest,
    RequestId,
    new_request_id,
)


class RunStarter:
    """Starts and cancels runs; prepared requests survive a crash of the application.

    Args:
        engine: Engine that runs the models.
        storage: Journal of requests and storage of runs.
        job_of: Creates the engine job of a request; raises ModelNotFound.
        publish: Receives ``GenerationFailed`` for requests that cannot be submitted.
    """

    def __init__(
        self,
        engine: Engine,
        storage: Storage,
        job_of: Callable[[GenerationRequest], GenerateJob],
        publish: Callable[[object], None],
    ) -> None:
        self._engine = engine
        self._storage = storage
        self._job_of = job_of
        self._publish = publish

    def prepare(
        self, request: GenerationRequest, *, with_baseline: bool = False
    ) -> tuple[GenerationRequest, ...]:
        """Validate a request and record it in the journal until it is done.

        Args:
            request: The generation request.
            with_baseline: Also generate the same seed without guidance, if the request is guided.

        Returns:
            The request, and the request of its baseline.

        Raises:
            PromptError: The scene contradicts itself.
            RequestError: A setting is out of range, or the model does not support the sampler.
            ModelNotFound: The model is not installed.
            LibraryNotWritable: The runs folder is not writable.
        """
        check_request(request, self._job_of(request).model)
        check_scene(request.scene)
        self._storage.prepare()
        baselines = [request] if with_baseline and has_baseline(request) else []
        asked = (request, *(unguided(each, new_request_id()) for each in baselines))
        self.remember(*asked)
        return asked

    def submit(self, requests: Sequence[GenerationRequest]) -> None:
        """Submit prepared requests for generation and evaluation.

        If a model was removed since, nothing is submitted and each request is reported as failed.
        """
        try:
            jobs = [self._job_of(request) for request in requests]
            for job in jobs:
                self.remember(job.request)  # recorder entries are lost if the engine died
                self._engine.submit(job)
        except StudioError as error:
            report = report_on(error, "Starting the run")
            for request in requests:
                self._publish(GenerationFailed(request_id=request.id, error=report))

    def cancel(self, request_ids: Iterable[RequestId]) -> None:
        """Cancel runs before their next model call; no effect on runs that have ended."""
        for request_id in request_ids:
            self._storage.run_recorder.note_cancellation(request_id)
            self._engine.cancel(request_id)

    def ask_memory(self, request: GenerationRequest) -> None:
        """Request a memory estimate; the engine may answer with ``MemoryEstimated``."""
        with suppress(ModelNotFound):
            model = self._job_of(request).model
            self._engine.ask(EstimateMemory(request=request, model=model))

    def remember(self, *requests: GenerationRequest) -> None:
        """Record the events of requests, and note them in the journal to survive a crash."""
        for request in requests:
            self._storage.run_recorder.expect(request)

    def forget(self, *requests: GenerationRequest) -> None:
        """Drop requests that are no longer wanted."""
        for request in requests:
            self._storage.run_recorder.forget(request.id)

    def settle(self, *requests: GenerationRequest) -> None:
        """Remove interrupted requests of an earlier session from the journal."""
        if requests:
            self._storage.forget(*requests)
