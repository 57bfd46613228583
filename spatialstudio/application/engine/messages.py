"""What goes to an engine and what comes back: frozen, safe to cross threads and processes.

An engine answers every job with its reports in order and with ``JobEnded`` last, whatever came of
it. Of a ``GenerateJob`` come ``PhaseChanged`` and the generation events of the domain, then
``PictureJudged`` when it was asked for; of an ``EvaluateJob`` comes ``PictureJudged``.
"""

from dataclasses import dataclass
from enum import Enum
from typing import NewType, TypeAlias

from spatialstudio.domain.arrays import RgbImage, freeze
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationEvent, GenerationRequest
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation

JobId = NewType("JobId", str)


class Phase(Enum):
    """What a job is doing now."""

    LOADING = "loading"
    DENOISING = "denoising"
    DECODING = "decoding"
    JUDGING = "judging"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerateJob:
    """Draw a picture.

    Attributes:
        request: What to draw.
        model: The card of ``request.model``.
        judge: Whether the picture is judged as soon as it is done.
    """

    request: GenerationRequest
    model: ModelCard
    judge: bool = True

    @property
    def id(self) -> JobId:
        """The request's id."""
        return JobId(self.request.id)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class EvaluateJob:
    """Judge a picture.

    Attributes:
        id: Unique.
        image: (H, W, 3) uint8.
        scene: What it shall show.
    """

    id: JobId
    image: RgbImage
    scene: SceneGraph

    def __post_init__(self) -> None:
        freeze(self.image)


Job: TypeAlias = GenerateJob | EvaluateJob


@dataclass(frozen=True, slots=True)
class CancelJob:
    """Stop a job before its next model call; nothing happens when it has ended."""

    job_id: JobId


@dataclass(frozen=True, slots=True)
class Stop:
    """Cancel what runs or waits, and end the engine."""


Command: TypeAlias = GenerateJob | EvaluateJob | CancelJob | Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseChanged:
    """A job goes on to another kind of work."""

    job_id: JobId
    phase: Phase


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PictureJudged:
    """A picture was judged."""

    job_id: JobId
    evaluation: Evaluation


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingFailed:
    """A picture could not be judged; the picture itself stands."""

    job_id: JobId
    error: ErrorReport


@dataclass(frozen=True, slots=True, kw_only=True)
class JobEnded:
    """Nothing more comes of a job: it is done, failed, cancelled or lost."""

    job_id: JobId


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStopped:
    """The engine died; the next job starts it again. Its unfinished jobs end."""

    error: ErrorReport


Report: TypeAlias = (
    GenerationEvent | PhaseChanged | PictureJudged | JudgingFailed | JobEnded | EngineStopped
)
