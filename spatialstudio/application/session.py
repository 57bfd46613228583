"""What is open and selected now; lives on the thread of the window, or of the terminal."""

from collections.abc import Callable
from dataclasses import field, replace
from enum import Enum
from pathlib import Path

from spatialstudio.application.jobs.messages import (
    EngineStopped,
    JobFailed,
    Phase,
    PhaseChanged,
    PictureJudged,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionFile, TextLayer
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationCancelled,
    GenerationEvent,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelSetup,
    RequestId,
    StepEvent,
    best_request,
    unguided,
)
from spatialstudio.domain.prompt import MentionId, TokenSpan
from spatialstudio.domain.relation import RelationId, SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.scenes.consistency import Contradiction, contradictions_of


class RunState(Enum):
    """How far a run is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED})


@frozen(eq=False)
class OpenRun:
    """A run as it is known so far, live and replayed alike; or a picture that is only judged.

    Attributes:
        id: Of its request.
        scene: What it shall show.
        request: None for a picture that was not drawn here; once a search has ended, what draws
            its best picture alone.
        state: How far it is.
        phase: What the engine does now; None when it does nothing for this run.
        parts: How many parts of the phase are done, and of how many; None where nobody counts.
        total_steps: 0 until the model is loaded.
        token_spans: Where the text encoders hold the mentions.
        steps: Steps so far, in order.
        image: (H, W, 3) uint8; None until it is finished.
        evaluation: None until it is judged.
        failure: Set when it failed, or when its picture could not be judged.
        device: Where it ran; empty until it started.
        seconds: Time to draw; None until finished.
        candidates: Of a noise search, best first; empty without one.
        setup: How the model computed; nothing is told until it is finished.
        path: Of its picture's file; None until it is stored.
        attention_files: Attention to every word that is kept on disk; empty until it started.
        text_layers: Where the model attends to the text; empty until it started.
        recorded_model_id: The model that drew an imported picture, from this program's record in
            the file; empty without such a record.
    """

    id: RequestId
    scene: SceneGraph
    request: GenerationRequest | None = None
    state: RunState = RunState.WAITING
    phase: Phase | None = None
    parts: tuple[int, int] | None = None
    total_steps: int = 0
    token_spans: tuple[TokenSpan, ...] = ()
    steps: tuple[StepEvent, ...] = ()
    image: RgbImage | None = None
    evaluation: Evaluation | None = None
    failure: ErrorReport | None = None
    device: str = ""
    seconds: float | None = None
    candidates: tuple[CandidateScore, ...] = ()
    setup: ModelSetup = field(default_factory=ModelSetup)
    path: Path | None = None
    attention_files: tuple[AttentionFile, ...] = ()
    text_layers: tuple[TextLayer, ...] = ()
    recorded_model_id: str = ""

    @property
    def model_id(self) -> str:
        """The model that drew the picture; empty where nobody knows."""
        return self.recorded_model_id if self.request is None else self.request.model.id

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.state in OVER

    @property
    def events(self) -> tuple[GenerationEvent, ...]:
        """What the engine told of a finished picture; its memory is no longer known, hence 0."""
        if self.image is None or self.seconds is None:
            return ()
        started = GenerationStarted(
            request_id=self.id,
            total_steps=self.total_steps,
            token_spans=self.token_spans,
            device=self.device,
            attention_files=self.attention_files,
            text_layers=self.text_layers,
        )
        finished = GenerationFinished(
            request_id=self.id,
            image=self.image,
            seconds=self.seconds,
            peak_memory_bytes=0,
            candidates=self.candidates,
            setup=self.setup,
        )
        return (started, *self.steps, finished)

    @property
    def folder(self) -> Path | None:
        """The folder that its files lie in; None until it is stored."""
        return None if self.path is None else self.path.parent


@frozen
class RunStored:
    """A finished run is safe on disk. Published by the studio once a run."""

    request_id: RequestId
    path: Path


@frozen
class StoreFailed:
    """A finished run could not be written where it belongs; the picture is still open.

    Attributes:
        request_id: The request.
        error: Why.
        recovered: Where it was written instead; None when that failed as well.
    """

    request_id: RequestId
    error: ErrorReport
    recovered: Path | None = None


@frozen
class SceneChanged:
    """The prompt was read, or the scene was edited by hand.

    Attributes:
        scene: None when the prompt cannot be read.
        contradictions: Claims that cannot hold together.
        error: Why it cannot be read.
    """

    scene: SceneGraph | None
    contradictions: tuple[Contradiction, ...] = ()
    error: ErrorReport | None = None


@frozen(eq=False)
class RunChanged:
    """The open run has moved on, or another one was opened."""

    run: OpenRun


@frozen(eq=False)
class BaselineChanged:
    """The run beside the open one, most often its baseline, has moved on; None for none."""

    run: OpenRun | None


@frozen
class StepPicked:
    """Another denoising step is looked at."""

    step: int


@frozen
class MentionPicked:
    """Another object word is looked at; None for none."""

    mention_id: MentionId | None


@frozen
class RelationPicked:
    """Another relation is looked at; None for none."""

    relation_id: RelationId | None


class Session:
    """What is open and selected now; publishes what changes.

    Args:
        publish: Takes the session's events.
    """

    def __init__(self, publish: Callable[[object], None]) -> None:
        self._publish = publish
        self.scene: SceneGraph | None = None
        self.last_scene: SceneGraph | None = None
        self.run: OpenRun | None = None
        self.baseline: OpenRun | None = None
        self.step = 0
        self.follows_live = True
        self.mention_id: MentionId | None = None
        self.relation_id: RelationId | None = None

    def show_scene(
        self,
        scene: SceneGraph | None,
        contradictions: tuple[Contradiction, ...] = (),
        error: ErrorReport | None = None,
    ) -> None:
        """Make a scene the one that is worked on; ``last_scene`` outlasts a prompt that is none."""
        self.scene = scene
        self.last_scene = scene or self.last_scene
        self._publish(SceneChanged(scene=scene, contradictions=contradictions, error=error))

    def present(self) -> tuple[object, ...]:
        """Return the events that tell a late listener what is open and selected now."""
        events: list[object] = []
        if self.scene is not None:
            contradictions = contradictions_of(self.scene)
            events.append(SceneChanged(scene=self.scene, contradictions=contradictions))
            events.append(RelationPicked(relation_id=self.relation_id))
        if self.run is not None:
            events.append(RunChanged(run=self.run))
            events.append(BaselineChanged(run=self.baseline))
            events.append(StepPicked(step=self.step))
            events.append(MentionPicked(mention_id=self.mention_id))
        return tuple(events)

    def open(self, run: OpenRun, baseline: OpenRun | None = None) -> None:
        """Look at a run, and at its baseline beside it."""
        self.run, self.baseline = run, baseline
        self.follows_live = not run.is_over
        self.step = max(len(run.steps) - 1, 0)
        self._publish(RunChanged(run=run))
        self._publish(BaselineChanged(run=baseline))
        self._publish(StepPicked(step=self.step))

    def set_beside(self, run: OpenRun | None) -> None:
        """Look at another run beside the open one instead of its baseline; None for none."""
        self.baseline = run
        self._publish(BaselineChanged(run=run))

    def follow(self, event: object) -> None:
        """Take in what the engine says; events of runs that are not open are let pass."""
        if self.run is None:
            return
        moved, beside = both_after(self.run, self.baseline, event)
        if moved is not self.run:
            self.run = moved
            self._publish(RunChanged(run=moved))
            if self.follows_live and isinstance(event, StepEvent):
                self._show_step(event.step)
        if beside is not self.baseline:
            self.baseline = beside
            self._publish(BaselineChanged(run=beside))

    def show_evaluation(self, evaluation: Evaluation) -> None:
        """Look at the open run with another evaluation."""
        if self.run is not None:
            self.run = replace(self.run, evaluation=evaluation)
            self._publish(RunChanged(run=self.run))

    def pick_step(self, step: int) -> None:
        """Look at a step by hand; a live run is no longer followed."""
        self.follows_live = False
        self._show_step(step)

    def go_live(self) -> None:
        """Follow the newest step again."""
        self.follows_live = True
        if self.run is not None and self.run.steps:
            self._show_step(self.run.steps[-1].step)

    def pick_mention(self, mention_id: MentionId | None) -> None:
        """Look at one object word."""
        self.mention_id = mention_id
        self._publish(MentionPicked(mention_id=mention_id))

    def pick_relation(self, relation_id: RelationId | None) -> None:
        """Look at one relation."""
        if relation_id != self.relation_id:
            self.relation_id = relation_id
            self._publish(RelationPicked(relation_id=relation_id))

    def _show_step(self, step: int) -> None:
        self.step = step
        self._publish(StepPicked(step=step))


def both_after(
    run: OpenRun, baseline: OpenRun | None, event: object
) -> tuple[OpenRun, OpenRun | None]:
    """Return a run and its baseline as they are after an event; see ``after``.

    Once a search has ended, the baseline is that of the best picture's seed.
    """
    moved = after(run, event)
    if baseline is None:
        return moved, None
    beside, was, now = after(baseline, event), run.request, moved.request
    if was and now and now is not was and baseline.request == unguided(was, baseline.id):
        beside = replace(beside, request=unguided(now, baseline.id))
    return moved, beside


def after(run: OpenRun, event: object) -> OpenRun:
    """Return the run as it is after an event; the run itself when the event is not its own."""
    match event:
        case EngineStopped(error=error, lost=lost):
            is_hit = not run.is_over and lost in (None, run.id)
            return _failed(run, error) if is_hit else run
        case StepEvent() | GenerationStarted() | PhaseChanged() if event.request_id == run.id:
            return _moved(run, event)
        case GenerationFinished() if event.request_id == run.id:
            return replace(
                run,
                request=run.request and best_request(run.request, event.candidates),
                image=event.image,
                seconds=event.seconds,
                candidates=event.candidates,
                setup=event.setup,
            )
        case RunStored(path=path) if event.request_id == run.id:
            return replace(run, path=path)
        case PictureJudged() | JobFailed() | GenerationFailed() | GenerationCancelled() if (
            event.request_id == run.id
        ):
            return _ended(run, event)
        case _:
            return run


def _moved(run: OpenRun, event: StepEvent | GenerationStarted | PhaseChanged) -> OpenRun:
    match event:
        case PhaseChanged(phase=phase, parts=parts):
            return replace(run, state=RunState.RUNNING, phase=phase, parts=parts)
        case StepEvent():
            return replace(run, steps=(*run.steps, event))
        case GenerationStarted(total_steps=count, token_spans=spans, device=device):
            return replace(  # a noise search starts once for each picture, and then anew
                run,
                state=RunState.RUNNING,
                total_steps=count,
                token_spans=spans,
                device=device,
                attention_files=event.attention_files,
                text_layers=event.text_layers,
                steps=(),
            )


def _ended(
    run: OpenRun, event: PictureJudged | JobFailed | GenerationFailed | GenerationCancelled
) -> OpenRun:
    match event:
        case PictureJudged(evaluation=evaluation):
            return replace(run, state=RunState.DONE, phase=None, evaluation=evaluation)
        case JobFailed(error=error):
            return replace(run, state=RunState.DONE, phase=None, failure=error)
        case GenerationFailed(error=error):
            return _failed(run, error)
        case GenerationCancelled():
            state = RunState.CANCELLED if run.image is None else RunState.DONE
            return replace(run, state=state, phase=None)


def _failed(run: OpenRun, error: ErrorReport) -> OpenRun:
    return replace(run, state=RunState.FAILED, phase=None, failure=error)
