"""Messages between the application and the engine, safe to cross threads and processes.

A ``GenerateJob`` reports ``PhaseChanged`` and the domain's generation events, then
``PictureJudged`` if evaluation was requested; an ``EvaluateJob`` reports ``PictureJudged``. A job
that fails or is cancelled ends with ``GenerationFailed``, ``JobFailed`` or ``GenerationCancelled``.
"""

from collections.abc import Callable
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

from spatialstudio.domain.arrays import RgbImage, freeze
from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationRequest,
    RequestId,
)
from spatialstudio.domain.judge_choice import STICKER_JUDGES, JudgeSetChoice
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.scene import SceneGraph, TokenReading
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings, Evaluation


class Phase(Enum):
    """Current phase of a job."""

    LOADING = "loading"
    ENCODING = "encoding"
    DENOISING = "denoising"
    DECODING = "decoding"
    LOOKING = "looking"
    """Detector, segmenter and depth on the image."""
    JUDGING = "judging"
    """Perturbed images and the second detector."""


@frozen(eq=False)
class GenerateJob:
    """Job: generate an image.

    Attributes:
        request: The generation request.
        model: The card of ``request.model``.
        judge: Whether to evaluate the image after generation.
        judges: Judge set for the evaluation and for the ranking of a noise search.
        assertions: Assertions of the DA-score; None for those of the scene.
        checker: Settings of the checker.
        start: (H, W, 3) uint8, the picture that a local repair starts from; None without one.
        counts_cost: Whether to report ``CostCounted``.
    """

    request: GenerationRequest
    model: ModelCard
    judge: bool = True
    judges: JudgeSetChoice = STICKER_JUDGES
    assertions: Assertions | None = None
    checker: CheckerSettings = REPRODUCE
    start: RgbImage | None = None
    counts_cost: bool = False

    @property
    def job_id(self) -> RequestId:
        """Id of the request."""
        return self.request.id


@frozen(eq=False)
class EvaluateJob:
    """Job: evaluate an image.

    Attributes:
        job_id: Unique id; reports carry it as their ``request_id``.
        image: (H, W, 3) uint8.
        scene: Scene of the prompt.
        judges: Judge set for the evaluation.
        assertions: Assertions of the DA-score; None for those of the scene.
        checker: Settings of the checker.
    """

    job_id: RequestId
    image: RgbImage
    scene: SceneGraph
    judges: JudgeSetChoice = STICKER_JUDGES
    assertions: Assertions | None = None
    checker: CheckerSettings = REPRODUCE

    def __post_init__(self) -> None:
        freeze(self.image)


Job: TypeAlias = GenerateJob | EvaluateJob


@frozen
class ReadTokens:
    """Question: tokenize a prompt as a model does; answered with ``TokensRead``."""

    prompt: str
    model: ModelCard


@frozen(kw_only=False)
class CancelJob:
    """Command: cancel a job before its next model call; no effect on a job that has ended."""

    job_id: RequestId


@frozen(kw_only=False)
class Stop:
    """Command: cancel the running job, drop the waiting ones, and end the engine."""


@frozen
class EstimateMemory:
    """Question: estimate a request's memory; answered with ``MemoryEstimated``."""

    request: GenerationRequest
    model: ModelCard


@frozen(kw_only=False)
class ListDevices:
    """Question: list the compute devices; answered with ``DevicesListed``."""


@frozen
class ListLayers:
    """Question: list a model's cross-attention layers; answered with ``LayersListed``.

    Attributes:
        model: Card of the model.
        height: Image height, pixels.
        width: Image width, pixels.
    """

    model: ModelCard
    height: int
    width: int


Question: TypeAlias = ReadTokens | EstimateMemory | ListDevices | ListLayers
Command: TypeAlias = GenerateJob | EvaluateJob | Question | CancelJob | Stop


@frozen
class PhaseChanged:
    """A job entered another phase, or made progress within it.

    Attributes:
        request_id: Id of the job.
        phase: The current phase.
        parts: Parts of the phase done and in total; None if not counted.
    """

    request_id: RequestId
    phase: Phase
    parts: tuple[int, int] | None = None


@frozen
class TokensRead:
    """Tokens of a prompt for each text encoder of a model. May cross threads."""

    prompt: str
    model_id: str
    readings: tuple[TokenReading, ...]


@frozen
class MemoryEstimated:
    """Memory estimate of a request. May cross threads."""

    request: GenerationRequest
    memory: MemoryEstimate


@frozen
class DevicesListed:
    """Compute devices, fastest first. May cross threads."""

    devices: tuple[DeviceCard, ...]


@frozen
class LayersListed:
    """Cross-attention layers of a model. May cross threads."""

    model_id: str
    layers: ModelLayers


@frozen(eq=False)
class PictureJudged:
    """Evaluation of an image, the last report of its job. May cross threads.

    Attributes:
        request_id: The job.
        evaluation: What the judge set found.
        seconds: Time that it took, model loading included.
    """

    request_id: RequestId
    evaluation: Evaluation
    seconds: float = 0.0


@frozen
class CostCounted:
    """The cost of a picture's denoiser passes, before ``GenerationFinished``. May cross threads.

    Attributes:
        request_id: The job.
        flops: Floating-point operations of one pass over one latent image.
    """

    request_id: RequestId
    flops: int


@frozen
class JobFailed:
    """An evaluation failed; the image itself is unaffected. May cross threads."""

    request_id: RequestId
    error: ErrorReport


@frozen
class EngineStopped:
    """The engine died with its running job; waiting jobs continue in a new engine.

    Attributes:
        error: What is known about the cause.
        lost: The running job; None if unknown, in which case no job continues.
    """

    error: ErrorReport
    lost: RequestId | None = None


Report: TypeAlias = (
    GenerationEvent
    | PhaseChanged
    | TokensRead
    | MemoryEstimated
    | DevicesListed
    | LayersListed
    | PictureJudged
    | CostCounted
    | JobFailed
    | EngineStopped
)

ReportTo: TypeAlias = Callable[[Report], None]
"""Receives reports in order, on a thread of the engine's choice; returns at once."""


class Engine(Protocol):
    """Runs jobs in order of submission."""

    def start(self, report: ReportTo) -> None:
        """Accept jobs; reports go to ``report``."""

    def submit(self, job: Job) -> None:
        """Queue a job."""

    def ask(self, question: Question) -> None:
        """Answer a question independently of the jobs; drop it if it cannot be answered now."""

    def cancel(self, job_id: RequestId) -> None:
        """Cancel a job before its next model call; no effect on a job that has ended."""

    def close(self) -> None:
        """Stop all work and release resources, within about two seconds."""


QuestionT = TypeVar("QuestionT")
AnswerT = TypeVar("AnswerT")


class EngineAnswer(Generic[QuestionT, AnswerT]):
    """Sends questions to the engine and stores the latest answer.

    Args:
        ask: Sends a question to the engine; returns at once.
        subscribe: Adds a listener to the engine's reports.
    """

    answer_type: type[AnswerT]

    def __init__(
        self,
        ask: Callable[[QuestionT], None],
        subscribe: Callable[[Callable[[object], None]], object],
    ) -> None:
        self._ask = ask
        self._newest: AnswerT | None = None
        subscribe(self._apply_event)

    def _apply_event(self, event: object) -> None:
        if isinstance(event, self.answer_type):
            self._newest = event
