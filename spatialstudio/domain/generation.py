"""What to draw and what happens while it is drawn: requests and events."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NewType, TypeAlias

from spatialstudio.domain.arrays import RgbImage, freeze
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.prompt import TokenSpan
from spatialstudio.domain.relation import RelationId, SceneGraph

RequestId = NewType("RequestId", str)

MAX_SEED = 2**32 - 1

UNGUIDED = "none"
PSG = "psg"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef:
    """Which weights.

    Attributes:
        id: Folder, hub name or built-in name.
        revision: Commit of a hub, or version of a built-in.
        sha256: Hash of the weights; empty when not taken.
    """

    id: str
    revision: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidanceSettings:
    """How the picture is held to the relations.

    Attributes:
        method_id: ``UNGUIDED``, ``PSG`` or a registered method.
        strength: Step size in variance-preserving latent units at the first step, >= 0.
        first_step: First guided step, from 0.
        last_step: Last guided step, inclusive; None for half of all steps.
        inner_updates: Latent updates a guided step, >= 1.
        paper_loss: True for the paper's -PoS^2, False for the code's squared inverse PoS.
        goal: Guidance rests while every relation's PoS is at least this, (0.5, 1]; 1 never rests.
    """

    method_id: str = UNGUIDED
    strength: float = 0.0
    first_step: int = 0
    last_step: int | None = None
    inner_updates: int = 1
    paper_loss: bool = False
    goal: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureSettings:
    """What is recorded while drawing; recording never changes the picture.

    Attributes:
        attention_every: Steps between attention snapshots; 0 is never.
        preview_every: Steps between previews; 0 is never.
    """

    attention_every: int = 1
    preview_every: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRequest:
    """All that determines a picture. Frozen when it enters the queue.

    Attributes:
        id: Unique.
        scene: What to draw.
        backend_id: Which backend draws.
        model: Which weights.
        seed: 0 to ``MAX_SEED``; the same seed gives the same first noise on every device.
        steps: Denoising steps, >= 1.
        guidance_scale: Classifier-free guidance; 1 is off.
        width: Pixels, divisible by 8; None for the model's own size.
        height: Likewise.
        scheduler_id: diffusers class name; empty for the model's own.
        guidance: How the layout is held.
        capture: What is recorded.
        parent_run_id: The run this one was made from; empty for none.
    """

    id: RequestId
    scene: SceneGraph
    backend_id: str
    model: ModelRef
    seed: int = 0
    steps: int = 25
    guidance_scale: float = 4.0
    width: int | None = None
    height: int | None = None
    scheduler_id: str = ""
    guidance: GuidanceSettings = field(default_factory=GuidanceSettings)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    parent_run_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStarted:
    """The model is loaded and the prompt encoded. Made once by a backend; may cross threads."""

    request_id: RequestId
    total_steps: int
    token_spans: tuple[TokenSpan, ...]
    device: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StepEvent:
    """One denoising step has ended. A backend makes one per step, in order.

    Safe to keep and to pass between threads: it holds read-only arrays, never tensors.

    Attributes:
        request_id: The request this step belongs to.
        step: 0 to ``total_steps - 1``.
        total_steps: Steps the scheduler will take.
        timestep: Scheduler time; high is noisy.
        pos: Relation id to PoS on this step's maps before any update, in [0, 1], ties half.
        guidance_loss: Loss before the update; None where guidance did not act.
        step_size: Step length applied, in variance-preserving units; None where it did not act.
        attention: None on steps that were not captured.
        preview: (H, W, 3) estimate of the finished image; None when previews are off.
    """

    request_id: RequestId
    step: int
    total_steps: int
    timestep: float
    pos: Mapping[RelationId, float]
    guidance_loss: float | None = None
    step_size: float | None = None
    attention: AttentionSnapshot | None = None
    preview: RgbImage | None = None

    def __post_init__(self) -> None:
        if self.preview is not None:
            freeze(self.preview)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GenerationFinished:
    """The picture is done. Made once by a backend; may cross threads.

    Attributes:
        request_id: The request.
        image: (H, W, 3) uint8.
        seconds: From the request to the picture, model loading included.
        peak_memory_bytes: Highest memory in use, resident set on the CPU.
    """

    request_id: RequestId
    image: RgbImage
    seconds: float
    peak_memory_bytes: int

    def __post_init__(self) -> None:
        freeze(self.image)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationFailed:
    """The request could not be done; the next one can. May cross threads."""

    request_id: RequestId
    error: ErrorReport


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationCancelled:
    """The user stopped the run. May cross threads.

    Attributes:
        request_id: The request.
        at_step: Steps that had ended.
    """

    request_id: RequestId
    at_step: int


GenerationEvent: TypeAlias = (
    GenerationStarted | StepEvent | GenerationFinished | GenerationFailed | GenerationCancelled
)


def unguided(request: GenerationRequest, request_id: RequestId) -> GenerationRequest:
    """Return the same request with guidance off: the baseline of the same seed."""
    return replace(request, id=request_id, guidance=GuidanceSettings())
