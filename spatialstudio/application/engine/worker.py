"""Worker that runs jobs one after the other and reports their events."""

import logging
import os
from collections.abc import Callable
from threading import Lock
from typing import Protocol, TypeAlias

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.evaluate_image import PerturbationProgress
from spatialstudio.application.jobs.messages import (
    DevicesListed,
    EstimateMemory,
    EvaluateJob,
    GenerateJob,
    Job,
    JobFailed,
    LayersListed,
    ListDevices,
    ListLayers,
    MemoryEstimated,
    Phase,
    PhaseChanged,
    PictureJudged,
    Question,
    ReadTokens,
    ReportTo,
    TokensRead,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    PromptEncoded,
    ReportEvent,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.ports import CancelToken, ModelCard
from spatialstudio.domain.scene import SceneGraph, TokenReading
from spatialstudio.domain.verdict import Evaluation

log = logging.getLogger(__name__)

WAITING_VARIABLE = "OMP_WAIT_POLICY"
"""OpenMP wait policy, read when the library is loaded. By default its threads spin while they wait;
on two cores shared with a window or another program, that makes a step four times slower.
"""


class ModelService(Protocol):
    """Runs the work of jobs with models that it loads on first use and keeps."""

    def warm_up(self) -> None:
        """Load what the first job always needs, so that it starts sooner."""

    def devices(self) -> tuple[DeviceCard, ...]:
        """Return the compute devices, fastest first."""

    def layers(self, model: ModelCard, height: int, width: int) -> ModelLayers:
        """Return the cross-attention layers of a model for an image size, pixels.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def estimate(self, request: GenerationRequest, model: ModelCard) -> MemoryEstimate | None:
        """Estimate the memory of a request; None if that requires loading its model.

        Raises:
            StudioError: The request cannot be generated.
        """

    def read_tokens(self, prompt: str, model: ModelCard) -> tuple[TokenReading, ...]:
        """Tokenize a prompt as a model does.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def generate(
        self,
        request: GenerationRequest,
        model: ModelCard,
        token: CancelToken,
        report: ReportEvent,
        *,
        choice: JudgeSetChoice,
    ) -> GenerationFinished:
        """Generate an image, with the events and errors of a ``GenerationBackend``."""

    def evaluate(
        self,
        image: RgbImage,
        scene: SceneGraph,
        token: CancelToken,
        *,
        choice: JudgeSetChoice,
        looked: PerturbationProgress,
    ) -> Evaluation:
        """Evaluate an image with the chosen judge set; ``looked`` receives the progress.

        Raises:
            DetectorError: A model is damaged or missing.
            Cancelled: The token was cancelled.
        """


Answer: TypeAlias = TokensRead | MemoryEstimated | DevicesListed | LayersListed

BuildModelService: TypeAlias = Callable[[], ModelService]
"""Creates the model service in the engine; a module-level function, so that it can be pickled."""


class Worker:
    """Runs jobs in the calling thread. A failed job does not affect the next one.

    Args:
        build: Creates the model service on the first job.
        report: Receives the events.
    """

    def __init__(self, build: BuildModelService, report: ReportTo) -> None:
        self._build = build
        self._report = report
        self._model_service: ModelService | None = None
        self._building = Lock()

    def warm_up(self) -> None:
        """Prepare for the first job; an error here occurs again, and is reported, in the job."""
        try:
            self._ready_model_service().warm_up()
        except Exception:  # noqa: BLE001 - there is no job yet to report the error
            return

    def run(self, job: Job, token: CancelToken) -> None:
        """Run a job to its end; raises nothing."""
        match job:
            case GenerateJob():
                self._draw(job, token)
            case EvaluateJob():
                self._judge(job, token)

    def answer(self, question: Question) -> None:
        """Answer a question, safe to call during a job. Errors are left to the job to report."""
        try:
            answer = self._answer_to(question)
        except StudioError as error:
            log.debug("A question has no answer: %s", error.message)
            return
        if answer is not None:
            self._report(answer)

    def _answer_to(self, question: Question) -> Answer | None:
        model_service = self._ready_model_service()
        match question:
            case ReadTokens(prompt=prompt, model=model):
                readings = model_service.read_tokens(prompt, model)
                return TokensRead(prompt=prompt, model_id=model.id, readings=readings)
            case EstimateMemory(request=request, model=model):
                memory = model_service.estimate(request, model)
                return None if memory is None else MemoryEstimated(request=request, memory=memory)
            case ListLayers(model=model, height=height, width=width):
                layers = model_service.layers(model, height, width)
                return LayersListed(model_id=model.id, layers=layers)
            case ListDevices():
                return DevicesListed(devices=model_service.devices())

    def _draw(self, job: GenerateJob, token: CancelToken) -> None:
        steps_ended = 0
        finished: GenerationFinished | None = None
        self._enter(job.job_id, Phase.LOADING)

        def report(event: GenerationEvent) -> None:
            nonlocal steps_ended
            self._report(event)
            match event:
                case GenerationStarted():
                    self._enter(job.job_id, Phase.ENCODING)
                case PromptEncoded():
                    self._enter(job.job_id, Phase.DENOISING)
                case StepEvent():
                    steps_ended = event.step + 1
                    if steps_ended == event.total_steps:
                        self._enter(job.job_id, Phase.DECODING)

        try:
            model_service = self._ready_model_service()
            finished = model_service.generate(
                job.request, job.model, token, report, choice=job.judges
            )
            self._report(finished)
        except Cancelled:
            self._report(GenerationCancelled(request_id=job.job_id, at_step=steps_ended))
        except Exception as error:  # noqa: BLE001 - one job's failure must not end the others
            failure = report_on(error, "Drawing the picture")
            self._report(GenerationFailed(request_id=job.job_id, error=failure))
        if finished is not None and job.judge:
            drawn = EvaluateJob(
                job_id=job.job_id,
                image=finished.image,
                scene=job.request.scene,
                judges=job.judges,
            )
            self._judge(drawn, token, steps_ended)

    def _judge(self, job: EvaluateJob, token: CancelToken, steps_ended: int = 0) -> None:
        self._enter(job.job_id, Phase.LOOKING)
        try:
            evaluation = self._ready_model_service().evaluate(
                job.image,
                job.scene,
                token,
                choice=job.judges,
                looked=lambda *parts: self._enter(job.job_id, Phase.JUDGING, parts),
            )
        except Cancelled:
            self._report(GenerationCancelled(request_id=job.job_id, at_step=steps_ended))
        except Exception as error:  # noqa: BLE001 - one job's failure must not end the others
            failure = report_on(error, "Judging the picture")
            self._report(JobFailed(request_id=job.job_id, error=failure))
        else:
            self._report(PictureJudged(request_id=job.job_id, evaluation=evaluation))

    def _enter(self, job_id: RequestId, phase: Phase, parts: tuple[int, int] | None = None) -> None:
        self._report(PhaseChanged(request_id=job_id, phase=phase, parts=parts))

    def _ready_model_service(self) -> ModelService:
        with self._building:
            if self._model_service is None:
                os.environ.setdefault(WAITING_VARIABLE, "PASSIVE")
                self._model_service = self._build()
            return self._model_service
