"""What to draw and what happens while it is drawn: requests and events."""

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
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
from spatialstudio.domain.devices import NUMBER_FORMATS, MemoryEstimate, MemoryFix, Saving
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.frozen import INLINE, frozen
from spatialstudio.domain.options import Option, OptionKind, OptionValue, described_by, options_of
from spatialstudio.domain.prompt import MentionId, TokenSpan
from spatialstudio.domain.relation import RelationId, SceneGraph
from spatialstudio.domain.sweep import SweepCell

RequestId = NewType("RequestId", str)

MAX_SEED = 2**32 - 1

UNGUIDED = "none"
PSG = "psg"
"""Id of the method that is chosen where none is."""


@frozen
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


class StepUnit(Enum):
    """In which latents a strength is stated."""

    VP = "vp"
    """Variance-preserving: the same for every sampler."""
    SIGMA = "sigma"
    """Those of samplers like Euler, sqrt(sigma^2 + 1) times as large: as SDXL was published."""


@frozen
class Refinement:
    """A guided step on which the latents are moved until the loss is low enough.

    Attributes:
        step: Denoising step, from 0.
        presence: The loss goes below one minus this, [0, 1].
    """

    step: int
    presence: float


@frozen
class GuidanceSettings:
    """How the picture is held to the relations.

    Attributes:
        method_id: ``UNGUIDED``, ``PSG`` or a registered method.
        strength: Step size at the first step, in latents of ``unit``, >= 0.
        unit: In which latents the strength is stated.
        decay: Share of the squared strength that is left at the last step, (0, 1].
        first_step: First guided step, from 0.
        last_step: Last guided step, inclusive; None for half of all steps.
        every: Guide every step of the window, every second, ..., >= 1.
        inner_updates: Latent updates a guided step, >= 1.
        refinements: Steps with more updates; what Attend-and-Excite and BoxDiff do.
        most_refinements: Updates that one refinement may take.
        one_by_one: True gives every relation a pass and an update of its own, False one for all;
            methods that only see to it that things are there always make one.
        options: The method's own settings, id to value; see the ``options`` of its registration.
        mention_weights: How much each mention's presence counts; 1 for those left out.
        goal: Guidance rests while every relation's PoS is at least this, (0.5, 1]; 1 never rests.
        names_only: True draws "a dog and a car", so that guidance alone holds the relations.
        reuses_prediction: True takes the prompt's prediction of the guiding pass for the step
            itself, so that a guided step costs little more than a plain one.
        checkpointing: True keeps less in memory and computes it twice.
    """

    method_id: str = UNGUIDED
    strength: float = 0.0
    unit: StepUnit = StepUnit.VP
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
    goal: float = 1.0
    names_only: bool = False
    reuses_prediction: bool = False
    checkpointing: bool = False


@frozen
class NoiseSearch:
    """Drawing several pictures from seeds that follow each other, to keep the best.

    Attributes:
        candidates: Most pictures that are drawn, >= 1; 1 searches nothing.
        enough: The search ends with a picture whose PSE is at least this; above 1 all are drawn.
    """

    candidates: int = 1
    enough: float = 0.95


@frozen
class CaptureSettings:
    """What is recorded while drawing; recording never changes the picture.

    Attributes:
        attention_every: Steps between attention snapshots; 0 is never.
        preview_every: Steps between previews; 0 is never.
        detail: How much of the attention is kept on those steps.
    """

    attention_every: int = 1
    preview_every: int = 1
    detail: AttentionDetail = AttentionDetail.RELATION_WORDS


@frozen
class SamplingSettings:
    """Settings of a run that mean the same in the form and in a request, which contain them whole.

    Attributes:
        seed: 0 to ``MAX_SEED``; the same seed gives the same first noise on every device.
        steps: Denoising steps, >= 1.
        scheduler_id: diffusers class name; empty for the model's own.
        guidance: How the layout is held.
        savings: What is given up to draw with less memory.
        device: Where to draw, as a ``DeviceCard`` names it; empty for the fastest there is.
        dtype: Number format of the weights, one of ``NUMBER_FORMATS``; empty for the model's own.

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


SAMPLING_OPTIONS = options_of(SamplingSettings)
"""Settings of every run that are read by their description."""


@frozen
class GenerationRequest:
    """All that determines a picture. Frozen when it enters the queue.

    Attributes:
        id: Unique.
        scene: What to draw.
        backend_id: Which backend draws.
        model: Which weights.
        sampling: The settings that the form has as well; files hold its fields in its place.
        guidance_scale: Classifier-free guidance; 1 is off.
        width: Pixels, divisible by 8; None for the model's own size.
        height: Likewise.
        search: How many first noises are tried, beginning with that of the seed.
        capture: What is recorded.
        parent_run_id: The run this one was made from; empty for none.
        sweep: Where it stands in a sweep; None for a picture that belongs to none.
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
    capture: CaptureSettings = field(default_factory=CaptureSettings)
    parent_run_id: str = ""
    sweep: SweepCell | None = None


@frozen
class GenerationStarted:
    """The model is loaded. Made once by a backend; may cross threads.

    Attributes:
        request_id: The request.
        total_steps: Denoising steps that follow, each of one model call or more.
        token_spans: Where the text encoders hold the mentions.
        device: Where the model runs.
        attention_files: What will be kept on disk; their ``size_bytes`` are exact.
        memory: What the run will take; None where nobody estimates it.
        text_layers: Where the denoiser attends to the text, in the order in which that runs.
    """

    request_id: RequestId
    total_steps: int
    token_spans: tuple[TokenSpan, ...]
    device: str
    attention_files: tuple[AttentionFile, ...] = ()
    memory: MemoryEstimate | None = None
    text_layers: tuple[TextLayer, ...] = ()


@frozen
class PromptEncoded:
    """The prompt was read by the text encoders; denoising begins. May cross threads."""

    request_id: RequestId


@frozen(eq=False)
class StepEvent:
    """One denoising step has ended. A backend makes one per step, in order.

    Safe to keep and to pass between threads: it holds read-only arrays, never tensors.

    Attributes:
        request_id: The request this step belongs to.
        step: 0 to ``total_steps - 1``.
        total_steps: Steps the scheduler will take.
        timestep: Scheduler time; high is noisy.
        pos: Relation id to PoS before the step's updates, in [0, 1], ties half.
        guidance_loss: Loss before the updates, of the first relation where they take turns; None
            where guidance did not act.
        step_size: Step length applied, in variance-preserving units; None where it did not act.
        pos_after: Like ``pos``, after the updates; empty where guidance did not act, and where no
            pass was made after it.
        guiding_passes: Passes with a gradient that guidance made.
        attention: Before the step's updates, as ``pos``; None on steps that were not captured.
        attention_after: After them, as ``pos_after``; None where there is no second reading. Traces
            of version 2 and earlier hold none.
        preview: (H, W, 3) estimate of the finished image; None when previews are off.
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

    def __post_init__(self) -> None:
        if self.preview is not None:
            freeze(self.preview)

    @property
    def is_guided(self) -> bool:
        """Whether guidance has moved the picture on this step."""
        return self.step_size is not None

    def attention_at(self, moment: Moment) -> AttentionSnapshot | None:
        """Return the reading of a moment; a guided step may lack the one after its updates."""
        if self.is_guided and moment is Moment.AFTER:
            return self.attention_after
        return self.attention

    def pos_at(self, moment: Moment) -> Mapping[RelationId, float]:
        """Return PoS of the same reading as ``attention_at``."""
        if self.is_guided and moment is Moment.AFTER:
            return self.pos_after
        return self.pos


@frozen
class CandidateScore:
    """How good one picture of a noise search is.

    Attributes:
        seed: Its seed.
        pse: Mean PSE of the relations, [0, 1]; what the search goes by.
        lead: Mean of 2 PoS - 1, [-1, 1]; -1 where it cannot be measured.
        found: Mentions of the relations that were seen.
        sureness: Geometric mean of the scores of the best detections, [0, 1].
        second: Share of the relations that the second verifier accepts, [0, 1]; it never chooses.
    """

    seed: int
    pse: float
    lead: float
    found: int
    sureness: float
    second: float


@frozen(eq=False)
class CandidateJudged:
    """One picture of a noise search is done. Made by ``search_image``; may cross threads.

    Attributes:
        request_id: The request.
        number: From 1.
        candidates: Most that there will be.
        score: How good it is.
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
    """How a loaded model computes; each is empty where nobody noted it.

    Attributes:
        dtype: Number format of the denoiser's weights, as torch names it: "float32".
        attention: What computes its attention: names of diffusers' processors, then of the
            kernels that the device may choose among.
        weights_sha256: Of the weight file; of several, of their hashes in order.
    """

    dtype: str = ""
    attention: str = ""
    weights_sha256: str = ""


@frozen(eq=False)
class GenerationFinished:
    """The picture is done. Made once by a backend; may cross threads.

    Attributes:
        request_id: The request.
        image: (H, W, 3) uint8.
        seconds: From the request to the picture, model loading included.
        peak_memory_bytes: Highest memory in use, resident set on the CPU.
        candidates: Of a noise search, best first; the image is the first one's.
        setup: How the model computed it.
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
    """The request could not be done; the next one can. May cross threads."""

    request_id: RequestId
    error: ErrorReport


@frozen
class GenerationCancelled:
    """The user stopped the run. May cross threads.

    Attributes:
        request_id: The request.
        at_step: Steps that had ended.
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
"""Takes the events of a run as they happen, on the thread of the model; what it raises ends the
run."""


FEW_CANDIDATES = 4
"""How many pictures a search draws that stands in for guidance."""


def unguided(request: GenerationRequest, request_id: RequestId) -> GenerationRequest:
    """Return the same request without guidance and search: the baseline of the same seed."""
    plain = _alone(request)
    sampling = replace(plain.sampling, guidance=GuidanceSettings())
    return replace(plain, id=request_id, sampling=sampling, sweep=None)


def has_baseline(request: GenerationRequest) -> bool:
    """Tell whether the picture would be another without guidance, as far as can be foreseen."""
    return with_savings(request).sampling.guidance.strength > 0


def candidate_count(request: GenerationRequest) -> int:
    """Return how many pictures may be drawn to choose from, as asked for or to save memory."""
    return with_savings(request).search.candidates


def is_search(request: GenerationRequest) -> bool:
    """Tell whether there are pictures to choose from."""
    return candidate_count(request) > 1


def best_request(
    request: GenerationRequest, candidates: Sequence[CandidateScore]
) -> GenerationRequest:
    """Return what draws the picture that a search kept, alone and the same to the bit.

    Args:
        request: What was asked for.
        candidates: Of the search, best first; empty without one, and the request stays as it is.
    """
    if not candidates:
        return request
    alone = _alone(with_savings(request))
    return replace(alone, sampling=replace(alone.sampling, seed=candidates[0].seed))


def with_memory_fix(request: GenerationRequest, fix: MemoryFix) -> GenerationRequest:
    """Return a request that gives up what a fix says, beside what it gives up already."""
    height, width = fix.size or (request.height, request.width)
    savings = (*request.sampling.savings, *fix.savings)
    return replace(
        request, sampling=replace(request.sampling, savings=savings), height=height, width=width
    )


def with_savings(request: GenerationRequest) -> GenerationRequest:
    """Return a request whose settings follow its savings; those of the backend stay with it.

    A scene without relations gives a search nothing to go by, so none stands in for its guidance.
    """
    guidance, search = request.sampling.guidance, request.search
    if Saving.CHECKPOINTING in request.sampling.savings:
        guidance = replace(guidance, checkpointing=True)
    if Saving.EVERY_SECOND_STEP in request.sampling.savings:
        guidance = replace(guidance, every=max(guidance.every, 2))
    if Saving.SEARCH in request.sampling.savings:
        guidance = GuidanceSettings()
        if request.scene.relations:
            search = replace(search, candidates=max(search.candidates, FEW_CANDIDATES))
    return replace(request, sampling=replace(request.sampling, guidance=guidance), search=search)


def _alone(request: GenerationRequest) -> GenerationRequest:
    """Return a request of a single picture, whatever it would be chosen from."""
    savings = tuple(saving for saving in request.sampling.savings if saving is not Saving.SEARCH)
    return replace(
        request, search=NoiseSearch(), sampling=replace(request.sampling, savings=savings)
    )


def new_request_id() -> RequestId:
    """Return an id that no other request has."""
    return RequestId(uuid.uuid4().hex)


def moment_read(steps: Iterable[StepEvent], wanted: Moment) -> Moment | None:
    """Return the moment at which all of a run's steps can be shown, so that none are mixed.

    Args:
        steps: Of one run.
        wanted: The moment asked for.

    Returns:
        ``BEFORE`` where a guided step was captured before its updates alone; None where no step was
        guided, as all were read once.
    """
    guided = [event for event in steps if event.is_guided]
    if not guided:
        return None
    has_after = all(
        event.attention_after is not None if event.attention is not None else event.pos_after
        for event in guided
    )
    return wanted if has_after else Moment.BEFORE
