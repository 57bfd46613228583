"""What goes to an engine and what comes back: frozen, safe to cross threads and processes.

Of a ``GenerateJob`` come ``PhaseChanged`` and the generation events of the domain, then
``PictureJudged`` when it was asked for; of an ``EvaluateJob`` comes ``PictureJudged``. A job that
fails or is cancelled ends with ``GenerationFailed``, ``JobFailed`` or ``GenerationCancelled``.
"""

from collections.abc import Callable
from enum import Enum
from typing import Generic, Protocol, TypeAlias, TypeVar

from spatialstudio.domain.arrays import RgbImage, freeze
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
from spatialstudio.domain.prompt import TokenReading
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation


class Phase(Enum):
    """What a job is doing now."""

    LOADING = "loading"
    ENCODING = "encoding"
    DENOISING = "denoising"
    DECODING = "decoding"
    LOOKING = "looking"
    """At the picture: detector, segmenter and depth."""
    JUDGING = "judging"
    """With the looks at small changes of the picture, and the second detector's."""


@frozen
class GenerateJob:
    """Draw a picture.

    Attributes:
        request: What to draw.
        model: The card of ``request.model``.
        judge: Whether the picture is judged as soon as it is done.
        judges: Who judges it, and chooses among the pictures of a search.
    """

    request: GenerationRequest
    model: ModelCard
    judge: bool = True
    judges: JudgeSetChoice = STICKER_JUDGES

    @property
    def job_id(self) -> RequestId:
        """The request's id."""
        return self.request.id


@frozen(eq=False)
class EvaluateJob:
    """Judge a picture.

    Attributes:
        job_id: Unique; the reports name it as their ``request_id``.
        image: (H, W, 3) uint8.
        scene: What it shall show.
        judges: Who judges it.
    """

    job_id: RequestId
    image: RgbImage
    scene: SceneGraph
    judges: JudgeSetChoice = STICKER_JUDGES

    def __post_init__(self) -> None:
        freeze(self.image)


Job: TypeAlias = GenerateJob | EvaluateJob


@frozen
class ReadTokens:
    """Take a prompt apart as a model does; answered beside the jobs with ``TokensRead``."""

    prompt: str
    model: ModelCard


@frozen(kw_only=False)
class CancelJob:
    """Stop a job before its next model call; nothing happens when it has ended."""

    job_id: RequestId


@frozen(kw_only=False)
class Stop:
    """Cancel what runs, forget what waits, and end the engine."""


@frozen
class EstimateMemory:
    """Say what a request would take; answered beside the jobs with ``MemoryEstimated``."""

    request: GenerationRequest
    model: ModelCard


@frozen(kw_only=False)
class ListDevices:
    """Say what models can run on here; answered beside the jobs with ``DevicesListed``."""


@frozen
class ListLayers:
    """Say where a model attends to the text; answered beside the jobs with ``LayersListed``.

    Attributes:
        model: Whose layers.
        height: Of the pictures it shall draw, pixels.
        width: Likewise.
    """

    model: ModelCard
    height: int
    width: int


Question: TypeAlias = ReadTokens | EstimateMemory | ListDevices | ListLayers
Command: TypeAlias = GenerateJob | EvaluateJob | Question | CancelJob | Stop


@frozen
class PhaseChanged:
    """A job goes on to another kind of work, or further within it.

    Attributes:
        request_id: Of the job.
        phase: What is done now.
        parts: How many parts of it are done, and of how many; None where nobody counts.
    """

    request_id: RequestId
    phase: Phase
    parts: tuple[int, int] | None = None


@frozen
class TokensRead:
    """A prompt was taken apart, by each text encoder of a model. May cross threads."""

    prompt: str
    model_id: str
    readings: tuple[TokenReading, ...]


@frozen
class MemoryEstimated:
    """What a request would take is known. May cross threads."""

    request: GenerationRequest
    memory: MemoryEstimate


@frozen
class DevicesListed:
    """What models can run on is known, the fastest first. May cross threads."""

    devices: tuple[DeviceCard, ...]


@frozen
class LayersListed:
    """Where a model attends to the text is known. May cross threads."""

    model_id: str
    layers: ModelLayers


@frozen(eq=False)
class PictureJudged:
    """A picture was judged: the last report of its job."""

    request_id: RequestId
    evaluation: Evaluation


@frozen
class JobFailed:
    """A picture could not be judged; the picture itself stands."""

    request_id: RequestId
    error: ErrorReport


@frozen
class EngineStopped:
    """The engine died, and the job in work with it; those that waited go on in a new one.

    Attributes:
        error: What is known of it.
        lost: The job in work; None when nobody knows, so that none may go on.
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
    | JobFailed
    | EngineStopped
)

ReportTo: TypeAlias = Callable[[Report], None]
"""Takes reports, in order, on a thread of the engine's choice; returns at once."""


class Engine(Protocol):
    """Runs jobs one after the other, in order of submission."""

    def start(self, report: ReportTo) -> None:
        """Begin to accept jobs; their reports go to ``report``."""

    def submit(self, job: Job) -> None:
        """Run a job after those before it."""

    def ask(self, question: Question) -> None:
        """Answer a question beside the jobs; one that cannot be answered now is forgotten."""

    def cancel(self, job_id: RequestId) -> None:
        """Stop a job before its next model call; nothing happens when it has ended."""

    def close(self) -> None:
        """Stop all work and give everything back, within about two seconds."""


QuestionT = TypeVar("QuestionT")
AnswerT = TypeVar("AnswerT")


class EngineAnswer(Generic[QuestionT, AnswerT]):
    """Sends questions to the engine and keeps the newest answer.

    Args:
        ask: Takes a question for the engine; returns at once.
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
        subscribe(self._follow)

    def _follow(self, event: object) -> None:
        if isinstance(event, self.answer_type):
            self._newest = event
