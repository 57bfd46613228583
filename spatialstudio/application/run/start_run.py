"""From a request to the engine's work: checked, remembered on disk, submitted."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from spatialstudio.application.jobs.messages import (
    Engine,
    EstimateMemory,
    GenerateJob,
)
from spatialstudio.application.run.check_request import check_request
from spatialstudio.application.run.generate_image import check_scene
from spatialstudio.application.storage.storage import Storage
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import (
    GenerationRequest,
    RequestId,
    has_baseline,
    new_request_id,
    unguided,
)


class RunStarter:
    """Starts runs and stops them; what was prepared outlives a sudden end of the program.

    Args:
        engine: Where the models run.
        storage: Records what was asked and stores what comes of it.
        job_of: Makes the engine's job of a request; raises ModelNotFound.
    """

    def __init__(
        self,
        engine: Engine,
        storage: Storage,
        job_of: Callable[[GenerationRequest], GenerateJob],
    ) -> None:
        self._engine = engine
        self._storage = storage
        self._job_of = job_of

    def prepare(
        self, request: GenerationRequest, *, with_baseline: bool = False
    ) -> tuple[GenerationRequest, ...]:
        """Check a request and remember it on disk until it is done.

        Args:
            request: What to draw.
            with_baseline: Draw the same seed without guidance as well, where that is another.

        Returns:
            The request, and that of its baseline.

        Raises:
            PromptError: The scene contradicts itself.
            RequestError: A number of the request is out of its range, or the model cannot be
                drawn with its sampler.
            ModelNotFound: There is no such model.
            LibraryNotWritable: The folder for runs cannot be written.
        """
        check_request(request, self._job_of(request).model)
        check_scene(request.scene)
        self._storage.prepare()
        baselines = [request] if with_baseline and has_baseline(request) else []
        asked = (request, *(unguided(each, new_request_id()) for each in baselines))
        self.remember(*asked)
        return asked

    def submit(self, requests: Iterable[GenerationRequest]) -> None:
        """Have the engine draw and judge what was prepared.

        Raises:
            ModelNotFound: A model is no longer there; nothing is drawn then.
        """
        jobs = [self._job_of(request) for request in requests]
        for job in jobs:
            self.remember(job.request)  # an engine that died meanwhile made the keeper forget it
            self._engine.submit(job)

    def cancel(self, request_ids: Iterable[RequestId]) -> None:
        """Stop runs before their next model call; those that have ended are let be."""
        for request_id in request_ids:
            self._storage.run_recorder.note_cancellation(request_id)
            self._engine.cancel(request_id)

    def ask_memory(self, request: GenerationRequest) -> None:
        """Have the engine say what a request would take; ``MemoryEstimated`` may follow."""
        with suppress(ModelNotFound):
            model = self._job_of(request).model
            self._engine.ask(EstimateMemory(request=request, model=model))

    def remember(self, *requests: GenerationRequest) -> None:
        """Keep what comes of requests; they outlive a sudden end of the program."""
        for request in requests:
            self._storage.run_recorder.expect(request)

    def forget(self, *requests: GenerationRequest) -> None:
        """Let go of what nobody wants drawn any more."""
        for request in requests:
            self._storage.run_recorder.forget(request.id)

    def settle(self, *requests: GenerationRequest) -> None:
        """List what an earlier program left undone no longer."""
        if requests:
            self._storage.forget(*requests)
