"""Worker that runs jobs one after the other, and the engine that runs it in the calling thread."""

import logging
import os
import time
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import TypeAlias

from spatialstudio.application.engine.generate_image import draw_image, search_image
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.evaluate.judge_choice import make_judge_set, used_judge_set
from spatialstudio.application.evaluate.metrics import DaModels, score_assertions
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import (
    CostCounted,
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
from spatialstudio.application.registry import Registry
from spatialstudio.domain.derived_requests import with_savings
from spatialstudio.domain.errors import Cancelled, ErrorReport, StudioError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationStarted,
    PromptEncoded,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.ports import CancelToken, GenerationBackend
from spatialstudio.domain.prompt_syntax import drawn_prompt

log = logging.getLogger(__name__)

WAITING_VARIABLE = "OMP_WAIT_POLICY"
"""OpenMP wait policy, read when the library is loaded. By default its threads spin while they wait;
on two cores shared with a window or another program, that makes a step four times slower.
"""


Answer: TypeAlias = TokensRead | MemoryEstimated | DevicesListed | LayersListed

BuildRegistry: TypeAlias = Callable[[], Registry]
"""Creates the registry in the engine; a module-level function, so that it can be pickled."""


class Worker:
    """Runs jobs in the calling thread. A failed job does not affect the next one.

    Args:
        build: Creates the registry on the first job; its adapters keep loaded models between jobs.
        report: Receives the events.
    """

    def __init__(self, build: BuildRegistry, report: ReportTo) -> None:
        self._build = build
        self._report = report
        self._registry: Registry | None = None
        self._building = Lock()

    def warm_up(self) -> None:
        """Import the modules of every first job; an error here occurs again in the job."""
        try:
            self._backends()
        except Exception:  # noqa: BLE001 - there is no job yet to report the error
            return

    def run(self, job: Job, token: CancelToken) -> None:
        """Generate an image if the job asks for one, and evaluate it; raises nothing."""
        if isinstance(job, EvaluateJob):
            self._judge(job, token)
            return
        steps_ended = 0
        finished: GenerationFinished | None = None
        self._enter(job.job_id, Phase.LOADING)

        def report(event: GenerationEvent) -> None:
            nonlocal steps_ended
            self._report(event)
            if isinstance(event, StepEvent):
                steps_ended = event.step + 1
            if (phase := _phase_after(event)) is not None:
                self._enter(job.job_id, phase)

        try:
            registry = self._ready_registry()
            asked = replace(job, request=with_savings(job.request))
            request = asked.request
            backend = registry.backend(request.backend_id)
            judges: JudgeSet | None = None
            if request.search.candidates > 1:
                judges = make_judge_set(registry, job.judges)
                finished = search_image(asked, backend, judges, token, report)
            else:
                if request.steering.is_on and job.judges.detector_id is not None:
                    judges = make_judge_set(registry, job.judges)
                finished = draw_image(asked, backend, judges, token, report)
            self._count_cost(job, finished)
            self._report(finished)
        except Cancelled:
            self._report(GenerationCancelled(request_id=job.job_id, at_step=steps_ended))
        except Exception as error:  # noqa: BLE001 - one job's failure must not end the others
            failure = self._failure(error, "Generating the picture")
            self._report(GenerationFailed(request_id=job.job_id, error=failure))
        if finished is not None and job.judge:
            drawn = EvaluateJob(
                job_id=job.job_id,
                image=finished.image,
                scene=job.request.scene,
                judges=job.judges,
                assertions=job.assertions,
                checker=job.checker,
            )
            self._judge(drawn, token, steps_ended)

    def _count_cost(self, job: GenerateJob, finished: GenerationFinished) -> None:
        if not job.counts_cost:
            return
        backend = self._ready_registry().backend(job.request.backend_id)
        height, width, _ = finished.image.shape
        flops = backend.denoiser_flops(job.model, height, width)
        if flops is not None:
            self._report(CostCounted(request_id=job.job_id, flops=flops))

    def answer(self, question: Question) -> None:
        """Answer a question, safe to call during a job. Errors are left to the job to report."""
        try:
            answer = self._answer_to(question)
        except StudioError as error:
            log.debug("A question could not be answered: %s", error.message)
            return
        if answer is not None:
            self._report(answer)

    def _answer_to(self, question: Question) -> Answer | None:
        backend = self._ready_registry().backend
        match question:
            case ReadTokens(prompt=prompt, model=model):
                plain = drawn_prompt(prompt)
                read = backend(model.backend_id).read_tokens(plain.text, model)
                spans = (replace(each, tokens=plain.typed_spans(each.tokens)) for each in read)
                return TokensRead(prompt=prompt, model_id=model.id, readings=tuple(spans))
            case EstimateMemory(request=request, model=model):
                memory = backend(request.backend_id).estimate(with_savings(request), model)
                return None if memory is None else MemoryEstimated(request=request, memory=memory)
            case ListLayers(model=model, height=height, width=width):
                layers = backend(model.backend_id).layers(model, height, width)
                return LayersListed(model_id=model.id, layers=layers)
            case ListDevices():
                cards = (card for each in self._backends() for card in each.devices())
                return DevicesListed(devices=tuple(dict.fromkeys(cards)))

    def _judge(self, job: EvaluateJob, token: CancelToken, steps_ended: int = 0) -> None:
        self._enter(job.job_id, Phase.LOOKING)
        began = time.monotonic()
        image, scene, choice = job.image, job.scene, job.judges
        try:
            registry = self._ready_registry()
            judges = make_judge_set(registry, choice)
            evaluation = evaluate_image(
                image,
                scene,
                judges,
                token,
                job.checker,
                looked=lambda *parts: self._enter(job.job_id, Phase.JUDGING, parts),
            )
            if choice.answerer_id is not None or job.assertions is not None:
                answerer_id = choice.answerer_id
                answerer = None if answerer_id is None else registry.answerer(answerer_id)
                models = DaModels(answerer=answerer)
                evaluation = score_assertions(
                    image, scene, evaluation, models, token, job.assertions
                )
            evaluation = replace(evaluation, judge_set=used_judge_set(registry, choice))
        except Cancelled:
            self._report(GenerationCancelled(request_id=job.job_id, at_step=steps_ended))
        except Exception as error:  # noqa: BLE001 - one job's failure must not end the others
            failure = self._failure(error, "Judging the picture")
            self._report(JobFailed(request_id=job.job_id, error=failure))
        else:
            seconds = time.monotonic() - began
            self._report(
                PictureJudged(request_id=job.job_id, evaluation=evaluation, seconds=seconds)
            )

    def _enter(self, job_id: RequestId, phase: Phase, parts: tuple[int, int] | None = None) -> None:
        self._report(PhaseChanged(request_id=job_id, phase=phase, parts=parts))

    def _failure(self, error: Exception, title: str) -> ErrorReport:
        """Report an exception; the hint names the plugins that this process lacks."""
        if isinstance(error, StudioError) and self._registry is not None:
            error.hint = " ".join(filter(None, (error.hint, self._registry.missing_plugins)))
        return report_on(error, title)

    def _backends(self) -> list[GenerationBackend]:
        registry = self._ready_registry()
        return [registry.backend(each) for each in registry.ids("backend")]

    def _ready_registry(self) -> Registry:
        with self._building:
            if self._registry is None:
                os.environ.setdefault(WAITING_VARIABLE, "PASSIVE")
                self._registry = self._build()
            return self._registry


def _phase_after(event: GenerationEvent) -> Phase | None:
    """Return the phase that an event begins; None if it begins none."""
    match event:
        case GenerationStarted():
            return Phase.ENCODING
        case PromptEncoded():
            return Phase.DENOISING
        case StepEvent() if event.step + 1 == event.total_steps:
            return Phase.DECODING
    return None


class InlineEngine:
    """Runs each job inside ``submit``; another thread or a report handler may cancel it.

    Args:
        build: Creates the registry on the first job.
    """

    def __init__(self, build: BuildRegistry) -> None:
        self._build = build
        self._worker: Worker | None = None
        self._flags: dict[RequestId, CancelFlag] = {}

    def start(self, report: ReportTo) -> None:
        """Accept jobs; reports go to ``report``."""
        self._worker = Worker(self._build, report)

    def submit(self, job: Job) -> None:
        """Run a job to its end.

        Raises:
            RuntimeError: The engine is not started, or is closed.
        """
        if self._worker is None:
            raise RuntimeError("The engine takes jobs between start and close only.")
        flag = self._flags[job.job_id] = CancelFlag()
        try:
            self._worker.run(job, flag)
        finally:
            del self._flags[job.job_id]

    def ask(self, question: Question) -> None:
        """Answer a question at once; ignored before ``start`` and after ``close``."""
        if self._worker is not None:
            self._worker.answer(question)

    def cancel(self, job_id: RequestId) -> None:
        """Cancel a job before its next model call; no effect on a job that has ended."""
        if (flag := self._flags.get(job_id)) is not None:
            flag.cancel()

    def close(self) -> None:
        """Cancel the running job and release the models."""
        for flag in tuple(self._flags.values()):
            flag.cancel()
        self._worker = None
