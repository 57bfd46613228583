"""What every engine does, and the work that it is given to do."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

from spatialstudio.application.engine.messages import Job, JobId, Report
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import GenerationEvent, GenerationRequest
from spatialstudio.domain.ports import CancelToken, ModelCard
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation


class Workshop(Protocol):
    """Does the work of jobs with models that it loads on first use and keeps."""

    def warm_up(self) -> None:
        """Load what the first job is sure to need, so that it starts sooner."""
        ...

    def generate(
        self, request: GenerationRequest, model: ModelCard, token: CancelToken
    ) -> Iterator[GenerationEvent]:
        """Draw a picture; events and errors as a ``GenerationBackend``'s."""
        ...

    def evaluate(self, image: RgbImage, scene: SceneGraph, token: CancelToken) -> Evaluation:
        """Judge a picture.

        Raises:
            DetectorError: A model is damaged or missing.
            Cancelled: The token was cancelled.
        """
        ...


BuildWorkshop: TypeAlias = Callable[[], Workshop]
"""Makes the workshop in the thread or process in which it works; a module-level function."""

ReportTo: TypeAlias = Callable[[Report], None]
"""Takes reports, in order, on a thread of the engine's choice; returns at once."""


class Engine(Protocol):
    """Runs jobs one after the other, in order of submission."""

    def start(self, report: ReportTo) -> None:
        """Begin to accept jobs; their reports go to ``report``."""
        ...

    def submit(self, job: Job) -> None:
        """Run a job after those before it."""
        ...

    def cancel(self, job_id: JobId) -> None:
        """Stop a job before its next model call; nothing happens when it has ended."""
        ...

    def close(self) -> None:
        """Stop all work and give everything back, within about two seconds."""
        ...
