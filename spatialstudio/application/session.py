"""The open run, scene and selection, on the thread of the window or the terminal."""

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
from spatialstudio.domain.derived_requests import best_request, unguided
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
)
from spatialstudio.domain.library import PictureOrigin
from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.scene import MentionId, RelationId, SceneGraph, TokenSpan
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.scenes.consistency import Contradiction, contradictions_of
from spatialstudio.science.scenes.layout import still_held


class RunState(Enum):
    """State of a run."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


MOST_EARLIER = 100
"""Prompts whose sketched places are remembered."""

OVER = frozenset({RunState.DONE, RunState.FAILED, RunState.CANCELLED})


@frozen(eq=False)
class OpenRun:
    """A live or stored run in its current state, or an imported image that is only evaluated.

    Attributes:
        id: Id of its request.
        scene: Scene of its prompt.
        request: None for an imported image; after a noise search, the request of the best image
            alone.
        state: State of the run.
        phase: Current engine phase; None if the engine is not working on this run.
        parts: Parts of the phase done and in total; None if not counted.
        total_steps: Number of denoising steps; 0 until the model is loaded.
        token_spans: Positions of the mentions in the text encoders' sequences.
        steps: Events of the steps so far, in order.
        image: (H, W, 3) uint8; None until the run has finished.
        evaluation: None until the image is evaluated.
        failure: Why generation or evaluation failed; None otherwise.
        device: Compute device; empty until the run has started.
        seconds: Generation time; None until the run has finished.
        candidates: Results of a noise search, best first; otherwise empty.
        setup: How the model computed; empty until the run has finished.
        path: Path of the image file; None until the run is stored.
        attention_files: Stored attention maps of every word; empty until the run has started.
        self_attention_files: Stored self-attention; empty until the run has started.
        text_layers: Cross-attention layers of the model; empty until the run has started.
        recorded_model_id: The model of an imported image, from the application's metadata in the
            file; empty without such metadata.
        origin: File of an imported image; None for a generated one.
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
    self_attention_files: tuple[AttentionFile, ...] = ()
    text_layers: tuple[TextLayer, ...] = ()
    recorded_model_id: str = ""
    origin: PictureOrigin | None = None

    @property
    def model_id(self) -> str:
        """Id of the model that generated the image; empty if unknown."""
        return self.recorded_model_id if self.request is None else self.request.model.id

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.state in OVER

    @property
    def events(self) -> tuple[GenerationEvent, ...]:
        """Engine events that recreate a finished run; memory is not stored and reported as 0."""
        if self.image is None or self.seconds is None:
            return ()
        started = GenerationStarted(
            request_id=self.id,
            total_steps=self.total_steps,
            token_spans=self.token_spans,
            device=self.device,
            attention_files=self.attention_files,
            self_attention_files=self.self_attention_files,
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
        """Folder of the run's files; None until the run is stored."""
        return None if self.path is None else self.path.parent


@frozen
class RunStored:
    """A finished run, or a new evaluation of it, is stored. Published by the studio."""

    request_id: RequestId
    path: Path


@frozen
class StoreFailed:
    """A finished run could not be stored in the library; the run is still open.

    Attributes:
        request_id: Id of the request.
        error: Why storing failed.
        recovered: Path of the recovery copy; None if that failed as well.
        is_evaluation: Whether only the evaluation of an open image could not be stored.
    """

    request_id: RequestId
    error: ErrorReport
    recovered: Path | None = None
    is_evaluation: bool = False


@frozen
class SceneChanged:
    """The prompt was read, or the scene was edited.

    Attributes:
        scene: None if the prompt cannot be read.
        contradictions: Claims of the scene that cannot all hold.
        error: Why the prompt cannot be read.
    """

    scene: SceneGraph | None
    contradictions: tuple[Contradiction, ...] = ()
    error: ErrorReport | None = None


@frozen
class PlacesChanged:
    """The places of the layout sketch changed."""

    places: SketchedPlaces


@frozen(eq=False)
class RunChanged:
    """The open run changed, or another run was opened."""

    run: OpenRun


@frozen(eq=False)
class BaselineChanged:
    """The comparison run, usually the baseline, changed; None if there is none."""

    run: OpenRun | None


@frozen
class StepPicked:
    """Another denoising step is selected."""

    step: int


@frozen
class MentionPicked:
    """Another object mention is selected; None for none."""

    mention_id: MentionId | None


@frozen
class RelationPicked:
    """Another relation is selected; None for none."""

    relation_id: RelationId | None


class Session:
    """The open run and the selection.

    Changes by the user are published; ``apply_event`` returns the changes that an engine event
    causes, and the studio passes them on with that event.

    Args:
        publish: Receives the session's events.
    """

    def __init__(self, publish: Callable[[object], None]) -> None:
        self._publish = publish
        self.scene: SceneGraph | None = None
        self.last_scene: SceneGraph | None = None
        self.scene_error: ErrorReport | None = None
        self.places = SketchedPlaces()
        self._earlier_places: dict[str, tuple[SceneGraph | None, SketchedPlaces]] = {}
        self.run: OpenRun | None = None
        self.baseline: OpenRun | None = None
        self.step = 0
        self.follows_live = True
        self.mention_id: MentionId | None = None
        self.relation_id: RelationId | None = None

    def set_scene(
        self,
        scene: SceneGraph | None,
        contradictions: tuple[Contradiction, ...] = (),
        error: ErrorReport | None = None,
    ) -> None:
        """Set the current scene; ``last_scene`` keeps the last valid one.

        Sketched places follow a valid scene: those of objects that it does not mention, or that a
        changed relation contradicts, are dropped; a prompt of earlier, as after an undo, has the
        places of earlier.
        """
        before, self.scene, self.scene_error = self.last_scene, scene, error
        self.last_scene = scene or self.last_scene
        had, self.places = self.places, self._places_in(scene, before)
        self._publish(SceneChanged(scene=scene, contradictions=contradictions, error=error))
        if self.places != had:
            self._publish(PlacesChanged(places=self.places))

    def set_places(self, places: SketchedPlaces) -> None:
        """Set the places of the layout sketch; only objects of the last scene have one."""
        places = places.within(self.last_scene)
        if places != self.places:
            self.places = places
            self._publish(PlacesChanged(places=places))

    def forget_places(self, prompt: str) -> None:
        """Free all objects of a prompt, which is the current one or will be."""
        self._keep_earlier(prompt, None, SketchedPlaces())
        if self.scene is not None and self.scene.prompt.text == prompt:
            self.set_places(SketchedPlaces())

    def _places_in(self, scene: SceneGraph | None, before: SceneGraph | None) -> SketchedPlaces:
        """Return the places for a scene that follows another one."""
        if scene is None:
            return self.places
        if before is None:
            return self.places.within(scene)
        self._keep_earlier(before.prompt.text, before, self.places)
        if (earlier := self._earlier_places.get(scene.prompt.text)) is not None:
            known, places = earlier
            if known is None or known.mentions == scene.mentions:
                return places.within(scene)
        return still_held(self.places.within(scene), scene, before)

    def _keep_earlier(self, prompt: str, scene: SceneGraph | None, places: SketchedPlaces) -> None:
        self._earlier_places.pop(prompt, None)
        self._earlier_places[prompt] = scene, places
        while len(self._earlier_places) > MOST_EARLIER:
            self._earlier_places.pop(next(iter(self._earlier_places)))

    def present(self) -> tuple[object, ...]:
        """Return the events that describe the current state, for a late subscriber."""
        events: list[object] = []
        if self.scene is not None:
            contradictions = contradictions_of(self.scene)
            events.append(SceneChanged(scene=self.scene, contradictions=contradictions))
            events.append(PlacesChanged(places=self.places))
            events.append(RelationPicked(relation_id=self.relation_id))
        if self.run is not None:
            events.append(RunChanged(run=self.run))
            events.append(BaselineChanged(run=self.baseline))
            events.append(StepPicked(step=self.step))
            events.append(MentionPicked(mention_id=self.mention_id))
        return tuple(events)

    def open(self, run: OpenRun, baseline: OpenRun | None = None) -> None:
        """Open a run together with its baseline."""
        self.run, self.baseline = run, baseline
        self.follows_live = not run.is_over
        self.step = max(len(run.steps) - 1, 0)
        self._publish(RunChanged(run=run))
        self._publish(BaselineChanged(run=baseline))
        self._publish(StepPicked(step=self.step))

    def set_second_run(self, run: OpenRun | None) -> None:
        """Set the comparison run in place of the baseline; None for none."""
        self.baseline = run
        self._publish(BaselineChanged(run=run))

    def apply_event(self, event: object) -> tuple[object, ...]:
        """Apply an engine event and return the changes; ignore events of runs that are not open."""
        if self.run is None:
            return ()
        changes: list[object] = []
        moved, second = both_after(self.run, self.baseline, event)
        if moved is not self.run:
            self.run = moved
            changes.append(RunChanged(run=moved))
            if self.follows_live and isinstance(event, StepEvent):
                self.step = event.step
                changes.append(StepPicked(step=event.step))
        if second is not self.baseline:
            self.baseline = second
            changes.append(BaselineChanged(run=second))
        return tuple(changes)

    def set_evaluation(self, evaluation: Evaluation) -> None:
        """Replace the evaluation of the open run."""
        if self.run is not None:
            self.run = replace(self.run, evaluation=evaluation)
            self._publish(RunChanged(run=self.run))

    def pick_step(self, step: int) -> None:
        """Select a step and stop following a live run."""
        self.follows_live = False
        self._show_step(step)

    def go_live(self) -> None:
        """Follow the newest step."""
        self.follows_live = True
        if self.run is not None and self.run.steps:
            self._show_step(self.run.steps[-1].step)

    def pick_mention(self, mention_id: MentionId | None) -> None:
        """Select an object mention."""
        self.mention_id = mention_id
        self._publish(MentionPicked(mention_id=mention_id))

    def pick_relation(self, relation_id: RelationId | None) -> None:
        """Select a relation."""
        if relation_id != self.relation_id:
            self.relation_id = relation_id
            self._publish(RelationPicked(relation_id=relation_id))

    def _show_step(self, step: int) -> None:
        self.step = step
        self._publish(StepPicked(step=step))


def both_after(
    run: OpenRun, baseline: OpenRun | None, event: object
) -> tuple[OpenRun, OpenRun | None]:
    """Return a run and its baseline after an event; see ``after``.

    After a noise search, the baseline is generated from the seed of the best image.
    """
    moved = after(run, event)
    if baseline is None:
        return moved, None
    second, was, now = after(baseline, event), run.request, moved.request
    if was and now and now is not was and baseline.request == unguided(was, baseline.id):
        second = replace(second, request=unguided(now, baseline.id))
    return moved, second


def after(run: OpenRun, event: object) -> OpenRun:
    """Return the run after an event; the same object if the event belongs to another run."""
    if isinstance(event, EngineStopped):
        is_hit = not run.is_over and event.lost in (None, run.id)
        return _failed(run, event.error) if is_hit else run
    if getattr(event, "request_id", None) != run.id:
        return run
    match event:
        case StepEvent() | GenerationStarted() | PhaseChanged():
            return _moved(run, event)
        case GenerationFinished():
            return replace(
                run,
                request=run.request and best_request(run.request, event.candidates),
                image=event.image,
                seconds=event.seconds,
                candidates=event.candidates,
                setup=event.setup,
            )
        case RunStored(path=path):
            return replace(run, path=path)
        case PictureJudged(evaluation=evaluation):
            return replace(run, state=RunState.DONE, phase=None, evaluation=evaluation)
        case JobFailed(error=error):
            return replace(run, state=RunState.DONE, phase=None, failure=error)
        case GenerationFailed(error=error):
            return _failed(run, error)
        case GenerationCancelled():
            state = RunState.CANCELLED if run.image is None else RunState.DONE
            return replace(run, state=state, phase=None)
    return run


def _moved(run: OpenRun, event: StepEvent | GenerationStarted | PhaseChanged) -> OpenRun:
    match event:
        case PhaseChanged(phase=phase, parts=parts):
            return replace(run, state=RunState.RUNNING, phase=phase, parts=parts)
        case StepEvent():
            return replace(run, steps=(*run.steps, event))
        case GenerationStarted(total_steps=count, token_spans=spans, device=device):
            return replace(  # a noise search starts once per image, then once more for the best
                run,
                state=RunState.RUNNING,
                total_steps=count,
                token_spans=spans,
                device=device,
                attention_files=event.attention_files,
                self_attention_files=event.self_attention_files,
                text_layers=event.text_layers,
                steps=(),
            )


def _failed(run: OpenRun, error: ErrorReport) -> OpenRun:
    return replace(run, state=RunState.FAILED, phase=None, failure=error)
