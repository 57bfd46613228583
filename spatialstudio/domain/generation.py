"""Generation requests with their settings, and the events of a generation."""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from enum import Enum
from typing import NewType, TypeAlias

from spatialstudio.domain.arrays import RgbImage, freeze
from spatialstudio.domain.attention import (
    AttentionDetail,
    AttentionFile,
    AttentionSnapshot,
    Moment,
    TextLayer,
)
from spatialstudio.domain.devices import NUMBER_FORMATS, MemoryEstimate, Saving
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.frozen import INLINE, SPARSE, frozen
from spatialstudio.domain.options import Option, OptionKind, OptionValue, described_by, options_of
from spatialstudio.domain.repair import LocalRepair
from spatialstudio.domain.scene import LoraUse, MentionId, RelationId, SceneGraph, TokenSpan
from spatialstudio.domain.steering import ONE_PARTICLE, ParticleStep, Steering
from spatialstudio.domain.sweep import SweepCell

RequestId = NewType("RequestId", str)

MAX_SEED = 2**32 - 1

PREDICTION_TYPES = ("epsilon", "v_prediction")
"""What denoisers are trained to predict, as diffusers names it: the noise, or the velocity."""

UNGUIDED = "none"
LAYOUT = "layout"
"""Id of the default guidance method."""
PSG = "psg"
"""Id of PoS-based generation as published."""

SMALLEST_TARGET = 0.02
"""Least size of a target, fraction of the image side."""


@frozen
class ModelRef:
    """Reference to model weights.

    Attributes:
        id: Folder, hub name or built-in name.
        revision: Commit on the hub, or version of a built-in model.
        sha256: Hash of the weights; empty when not computed.
    """

    id: str
    revision: str = ""
    sha256: str = ""


class StepUnit(Enum):
    """The parametrisation of latents in which a strength is stated."""

    VP = "vp"
    """Variance-preserving latents: the same for every sampler."""
    SIGMA = "sigma"
    """Latents of Euler-like samplers, sqrt(sigma^2 + 1) times as large, as in SDXL."""


@frozen
class Refinement:
    """A guided step on which the latents are updated until the loss is below a threshold.

    Attributes:
        step: Denoising step, from 0.
        presence: Updates stop when the loss is below one minus this, [0, 1].
    """

    step: int
    presence: float


@frozen
class PlaceTarget:
    """Where an object should be: a soft target of its attention, not a box.

    Attributes:
        mention_id: The object.
        x: Centre, fraction of the image width, [0, 1].
        y: Centre, fraction of the image height, [0, 1]; grows down.
        size: Diameter, fraction of the image side, (0, 1]; None for any size.
    """

    mention_id: MentionId
    x: float
    y: float
    size: float | None = None

    @property
    def place(self) -> tuple[float, float]:
        """The centre, (x, y)."""
        return self.x, self.y

    @property
    def is_inside(self) -> bool:
        """Whether centre and size are in their ranges; files of others may hold any number."""
        has_size = self.size is None or SMALLEST_TARGET <= self.size <= 1
        return has_size and all(0 <= share <= 1 for share in self.place)


@frozen
class GuidanceSettings:
    """Settings of the guidance that enforces the relations and the sketched places.

    Attributes:
        method_id: ``UNGUIDED``, ``PSG`` or a registered method.
        strength: Step size at the first step, in latents of ``unit``, >= 0.
        unit: Parametrisation of the latents in which the strength is stated.
        gradient_limit: Gradients with a larger root mean square are scaled down to it, > 0, in
            variance-preserving latents: their root mean square is about 1, and one update changes
            them by at most strength times the limit. None for no limit.
        decay: Fraction of the squared strength that remains at the last step, (0, 1].
        first_step: First guided step, from 0.
        last_step: Last guided step, inclusive; None for half of all steps.
        every: Interval between guided steps in the window, >= 1; 1 guides every step.
        inner_updates: Latent updates per guided step, >= 1.
        refinements: Steps with iterative refinement, as in Attend-and-Excite and BoxDiff.
        most_refinements: Maximum number of updates of one refinement.
        one_by_one: True uses a separate pass and update per relation, False one for all;
            methods that only enforce object presence always use one.
        options: Settings specific to the method, id to value; see ``options`` of its registration.
        mention_weights: Weight of each mention's presence; 1 for mentions not listed.
        targets: Where objects should be; objects without a target are free.
        target_weight: How much the targets count beside the relations, [0, 1]: 0 follows the
            relations only, 1 the sketch.
        goal: Guidance pauses while every relation's PoS is at least this, (0.5, 1]; 1 never pauses.
        names_only: True generates from "a dog and a car", so that only guidance enforces relations.
        reuses_prediction: True reuses the conditional prediction of the guiding pass for the step
            itself, so that a guided step costs little more than an unguided one.
        checkpointing: True uses gradient checkpointing: less memory, activations computed twice.
        layers: Names of the attention layers that guidance, maps and PoS read, all of one
            resolution; empty for those of the model's family.
    """

    method_id: str = UNGUIDED
    strength: float = 0.0
    unit: StepUnit = StepUnit.VP
    gradient_limit: float | None = field(default=None, metadata=SPARSE)
    decay: float = 0.5
    first_step: int = 0
    last_step: int | None = None
    every: int = 1
    inner_updates: int = 1
    refinements: tuple[Refinement, ...] = ()
    most_refinements: int = 20
    one_by_one: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    mention_weights: Mapping[MentionId, float] = field(default_factory=dict)
    targets: tuple[PlaceTarget, ...] = field(default=(), metadata=SPARSE)
    target_weight: float = field(default=1.0, metadata=SPARSE)
    goal: float = 1.0
    names_only: bool = False
    reuses_prediction: bool = False
    checkpointing: bool = False
    layers: tuple[str, ...] = field(default=(), metadata=SPARSE)

    @property
    def is_on(self) -> bool:
        """Whether there is a method, and its strength is not 0."""
        return self.method_id != UNGUIDED and self.strength > 0

    @property
    def is_sketched(self) -> bool:
        """Whether the settings place objects."""
        return bool(self.targets) and self.target_weight > 0


@frozen
class NoiseSearch:
    """Settings of the noise search: generate from consecutive seeds and keep the best image.

    Attributes:
        candidates: Maximum number of images, >= 1; 1 disables the search.
        enough: The search stops at an image whose PSE is at least this; above 1 it never stops.
    """

    candidates: int = 1
    enough: float = 0.95


@frozen
class CaptureSettings:
    """What is recorded during generation; recording never changes the image.

    Attributes:
        attention_every: Steps between attention snapshots; 0 is never.
        preview_every: Steps between previews; 0 is never.
        detail: How much of the attention is stored on those steps.
        full_precision: Whether layers are stored as float32, in twice the space of float16.
        self_attention: Whether the self-attention of layers with at most ``MOST_PLACES`` positions
            is stored, mean over heads; on disk.
    """

    attention_every: int = 1
    preview_every: int = 1
    detail: AttentionDetail = AttentionDetail.RELATION_WORDS
    full_precision: bool = field(default=False, metadata=SPARSE)
    self_attention: bool = field(default=False, metadata=SPARSE)

    @property
    def stores_words(self) -> bool:
        """Whether the maps of every word are stored on disk."""
        return self.attention_every > 0 and self.detail is not AttentionDetail.RELATION_WORDS

    @property
    def stores_places(self) -> bool:
        """Whether self-attention is stored on disk."""
        return self.attention_every > 0 and self.self_attention


@frozen
class SamplingSettings:
    """Sampling settings shared by the settings form and a request.

    Attributes:
        seed: 0 to ``MAX_SEED``; the same seed gives the same first noise on every device.
        steps: Denoising steps, >= 1.
        scheduler_id: diffusers class name; empty for the model's own.
        guidance: How the layout is held.
        savings: What is given up to draw with less memory.
        device: Where to draw, as a ``DeviceCard`` names it; empty for the fastest there is.
        dtype: Number format of the weights, one of ``NUMBER_FORMATS``; empty for the model's own.
        loras: LoRAs that change the model; weights of one named twice add up.
        prediction_type: What the denoiser predicts, one of ``PREDICTION_TYPES``; empty for what the
            model's configuration states.

    A field that an ``Option`` describes gets its flag in the terminal, its field in the form, its
    check, sweep and row in comparisons from that description.
    """

    seed: int = 0
    steps: int = 25
    scheduler_id: str = ""
    guidance: GuidanceSettings = field(default_factory=GuidanceSettings)
    savings: tuple[Saving, ...] = ()
    device: str = ""
    dtype: str = described_by(
        Option(
            id="dtype",
            label="Precision",
            help="precision of the weights (default: the model's, or suitable for the device)",
            kind=OptionKind.CHOICE,
            default="",
            choices=("", *NUMBER_FORMATS),
        )
    )
    loras: tuple[LoraUse, ...] = field(default=(), metadata=SPARSE)
    prediction_type: str = described_by(
        Option(
            id="prediction_type",
            label="Prediction",
            help="prediction type of a checkpoint: noise (epsilon) or velocity "
            "(v_prediction) (default: as stated in the file, else the usual one of the "
            "family)",
            kind=OptionKind.CHOICE,
            default="",
            choices=("", *PREDICTION_TYPES),
        ),
        is_sparse=True,
    )


SAMPLING_OPTIONS = options_of(SamplingSettings)
"""Settings of every run that are read by their description."""


@frozen
class GenerationRequest:
    """All settings that determine an image. Frozen when it enters the queue.

    Attributes:
        id: Unique.
        scene: The prompt with its mentions and relations.
        backend_id: The generation backend.
        model: The model weights.
        sampling: The settings shared with the form; stored inline in files.
        guidance_scale: Classifier-free guidance scale; 1 is off.
        width: Pixels, divisible by 8; None for the model's native size.
        height: Pixels, divisible by 8; None for the model's native size.
        search: The noise search, starting with the first noise of the seed.
        steering: The particles of each picture; the first begins with the noise of the seed.
        capture: What is recorded.
        repair: The regions of an earlier picture that are redrawn; None for a whole picture.
        parent_run_id: The run that this one was derived from; empty for none.
        sweep: The cell in a sweep; None outside a sweep.
    """

    id: RequestId
    scene: SceneGraph
    backend_id: str
    model: ModelRef
    sampling: SamplingSettings = field(default_factory=SamplingSettings, metadata=INLINE)
    guidance_scale: float = 4.0
    width: int | None = None
    height: int | None = None
    search: NoiseSearch = field(default_factory=NoiseSearch)
    steering: Steering = field(default=ONE_PARTICLE, metadata=SPARSE)
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    repair: LocalRepair | None = field(default=None, metadata=SPARSE)
    parent_run_id: str = ""
    sweep: SweepCell | None = None


@frozen
class GenerationStarted:
    """The model is loaded. Emitted by a backend; may cross threads.

    Emitted again where guidance begins a picture again after a trial without it.

    Attributes:
        request_id: The request.
        total_steps: Number of denoising steps, each of one or more model calls.
        token_spans: Positions of the mentions in the text encoders' sequences.
        device: The device of the model.
        attention_files: Attention that will be stored on disk; ``size_bytes`` is exact.
        self_attention_files: Self-attention that will be stored on disk.
        memory: Estimated memory of the run; None without an estimate.
        text_layers: Cross-attention layers of the denoiser, in execution order.
        is_repeated: Whether the steps that follow have run before: those of the best of several
            pictures.
        removed_runs: Number of older runs whose recorded layers were removed to make room.
    """

    request_id: RequestId
    total_steps: int
    token_spans: tuple[TokenSpan, ...]
    device: str
    attention_files: tuple[AttentionFile, ...] = ()
    self_attention_files: tuple[AttentionFile, ...] = field(default=(), metadata=SPARSE)
    memory: MemoryEstimate | None = None
    text_layers: tuple[TextLayer, ...] = ()
    is_repeated: bool = False
    removed_runs: int = 0


@frozen
class PromptEncoded:
    """The text encoders have run; denoising begins. May cross threads."""

    request_id: RequestId


@frozen(eq=False)
class StepEvent:
    """One denoising step has ended. A backend emits one per step, in order.

    Safe to store and to pass between threads: it contains read-only arrays, never tensors.

    Attributes:
        request_id: The request this step belongs to.
        step: 0 to ``total_steps - 1``.
        total_steps: Number of steps of the scheduler.
        timestep: Scheduler time; high is noisy.
        pos: Relation id to PoS before the step's updates, in [0, 1], ties half.
        guidance_loss: Loss before the updates, of the first relation if they are updated one by
            one; None on unguided steps.
        step_size: Applied step size, in variance-preserving units; None on unguided steps.
        pos_after: Like ``pos``, after the updates; empty on unguided steps and where no forward
            pass followed the updates.
        guiding_passes: Number of passes with gradient for guidance.
        clipped_updates: Number of updates whose gradient was scaled down to the settings' limit.
        attention: Captured before the step's updates, like ``pos``; None on steps without capture.
        attention_after: Captured after them, like ``pos_after``; None without a second capture,
            as in traces of version 2 and earlier.
        preview: (H, W, 3) estimate of the finished image; None when previews are off.
        particles: What happened to the particles of a steered run; None without steering.
    """

    request_id: RequestId
    step: int
    total_steps: int
    timestep: float
    pos: Mapping[RelationId, float]
    guidance_loss: float | None = None
    step_size: float | None = None
    pos_after: Mapping[RelationId, float] = field(default_factory=dict)
    guiding_passes: int = 0
    attention: AttentionSnapshot | None = None
    preview: RgbImage | None = None
    attention_after: AttentionSnapshot | None = None
    particles: ParticleStep | None = field(default=None, metadata=SPARSE)
    clipped_updates: int = field(default=0, metadata=SPARSE)

    def __post_init__(self) -> None:
        if self.preview is not None:
            freeze(self.preview)

    @property
    def is_guided(self) -> bool:
        """Whether guidance updated the latents on this step."""
        return self.step_size is not None

    def attention_at(self, moment: Moment) -> AttentionSnapshot | None:
        """Return the attention at a moment; None after the updates if it was not captured."""
        return self.attention_after if self.is_guided and moment is Moment.AFTER else self.attention

    def pos_at(self, moment: Moment) -> Mapping[RelationId, float]:
        """Return PoS at the same moment as ``attention_at``."""
        return self.pos_after if self.is_guided and moment is Moment.AFTER else self.pos


@frozen
class CandidateScore:
    """Scores of one image of a noise search.

    Attributes:
        seed: Its seed.
        pse: Mean PSE of the relations, [0, 1]; the objective of the search.
        lead: Mean of 2 PoS - 1, [-1, 1]; -1 where it cannot be measured.
        found: Number of the relations' mentions that were detected.
        sureness: Geometric mean of the scores of the best detections, [0, 1].
        second: Fraction of the relations that the second verifier accepts, [0, 1]; not used for
            the choice.
    """

    seed: int
    pse: float
    lead: float
    found: int
    sureness: float
    second: float


@frozen(eq=False)
class CandidateJudged:
    """One image of a noise search is done. Emitted by ``search_image``; may cross threads.

    Attributes:
        request_id: The request.
        number: Position in the search, from 1.
        candidates: Maximum number of candidates.
        score: Its scores.
        image: (H, W, 3) uint8.
    """

    request_id: RequestId
    number: int
    candidates: int
    score: CandidateScore
    image: RgbImage

    def __post_init__(self) -> None:
        freeze(self.image)


@frozen
class ModelSetup:
    """Numerical setup of a loaded model; a field is empty if not recorded.

    Attributes:
        dtype: torch name of the denoiser's number format: "float32".
        attention: Names of the diffusers attention processors, then of the kernels available on
            the device.
        weights_sha256: Hash of the weight file; of several files, hash of their hashes in order.
        loras: Hash of the file of each LoRA that changed the model, by name.
        threads: CPU threads of an operation, whose number can change a picture; 0 on a GPU, or if
            not recorded.
    """

    dtype: str = ""
    attention: str = ""
    weights_sha256: str = ""
    loras: Mapping[str, str] | None = field(default=None, metadata=SPARSE)
    threads: int = field(default=0, metadata=SPARSE)


@frozen(eq=False)
class GenerationFinished:
    """The image is done. Emitted once by a backend; may cross threads.

    Attributes:
        request_id: The request.
        image: (H, W, 3) uint8.
        seconds: From the request to the image, model loading included.
        peak_memory_bytes: Peak memory; on the CPU, the resident set size.
        candidates: Candidates of a noise search, best first; the image is the first one's.
        setup: Numerical setup of the model.
    """

    request_id: RequestId
    image: RgbImage
    seconds: float
    peak_memory_bytes: int
    candidates: tuple[CandidateScore, ...] = ()
    setup: ModelSetup = field(default_factory=ModelSetup)

    def __post_init__(self) -> None:
        freeze(self.image)


@frozen
class GenerationFailed:
    """The request failed; the backend stays usable. May cross threads."""

    request_id: RequestId
    error: ErrorReport


@frozen
class GenerationCancelled:
    """The user stopped the run. May cross threads.

    Attributes:
        request_id: The request.
        at_step: Number of completed steps.
    """

    request_id: RequestId
    at_step: int


GenerationEvent: TypeAlias = (
    GenerationStarted
    | PromptEncoded
    | StepEvent
    | CandidateJudged
    | GenerationFinished
    | GenerationFailed
    | GenerationCancelled
)

ReportEvent: TypeAlias = Callable[[GenerationEvent], None]
"""Receives the events of a run as they happen, on the model's thread; an exception ends the
run."""


def new_request_id() -> RequestId:
    """Return a unique request id."""
    return RequestId(uuid.uuid4().hex)


def moment_read(steps: Iterable[StepEvent], wanted: Moment) -> Moment | None:
    """Return the moment at which all steps of a run can be shown, so that moments do not mix.

    Args:
        steps: The steps of one run.
        wanted: The preferred moment.

    Returns:
        ``BEFORE`` if some guided step was captured only before its updates; None if no step was
        guided, as each has a single capture.
    """
    guided = [event for event in steps if event.is_guided]
    if not guided:
        return None
    has_after = all(
        event.attention_after is not None if event.attention is not None else event.pos_after
        for event in guided
    )
    return wanted if has_after else Moment.BEFORE
