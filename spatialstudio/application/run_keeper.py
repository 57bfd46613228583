"""Keeps what the engine says of each run, and stores the run when it has ended."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spatialstudio.application.engine.messages import JobFailed, PictureJudged
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.session import RunStored, StoreFailed
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.verdict import Evaluation

log = logging.getLogger(__name__)

StoreRun = Callable[[GenerationRequest, Sequence[GenerationEvent], Evaluation | None], Path]
"""Writes a run and returns its folder; raises StoreError."""


@dataclass(slots=True)
class _Growing:
    request: GenerationRequest
    events: list[GenerationEvent] = field(default_factory=list)


class RunKeeper:
    """Collects the events of submitted requests; publishes ``RunStored`` or ``StoreFailed``.

    Called on the engine's reporting thread only, apart from ``expect``.
    """

    def __init__(self, store: StoreRun, publish: Callable[[object], None]) -> None:
        self._store = store
        self._publish = publish
        self._growing: dict[RequestId, _Growing] = {}

    def expect(self, request: GenerationRequest) -> None:
        """Keep what comes of a request from now on."""
        self._growing[request.id] = _Growing(request)

    def follow(self, event: object) -> None:
        """Take in what the engine says."""
        match event:
            case GenerationStarted() | StepEvent() | GenerationFinished():
                if event.request_id in self._growing:
                    self._growing[event.request_id].events.append(event)
            case PictureJudged(request_id=request_id, evaluation=evaluation):
                self._end(request_id, evaluation)
            case JobFailed() | GenerationFailed() | GenerationCancelled():
                self._end(event.request_id, None)

    def _end(self, request_id: RequestId, evaluation: Evaluation | None) -> None:
        run = self._growing.pop(request_id, None)
        if run is None or not run.events or not isinstance(run.events[-1], GenerationFinished):
            return
        try:
            folder = self._store(run.request, run.events, evaluation)
        except StudioError as error:
            log.warning("A finished run could not be stored.")
            failure = report_on(error, "Storing the run")
            self._publish(StoreFailed(request_id=request_id, error=failure))
        else:
            self._publish(RunStored(request_id=request_id, folder=folder))
