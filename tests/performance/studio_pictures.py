"""Has the studio draw and judge pictures, one after the other."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from spatialstudio.application.engine.generate_image import draw_image
from spatialstudio.application.evaluate.evaluate_image import evaluate_image
from spatialstudio.application.evaluate.judge_choice import make_judge_set
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.jobs.messages import GenerateJob, JobFailed, PictureJudged
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    GuidanceSettings,
    StepEvent,
)
from spatialstudio.domain.judge_choice import STICKER_JUDGES
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from tests.performance.prompt_lists import ListedPrompt

METHODS = ("none", "psg")
NOTHING_CAPTURED = CaptureSettings(attention_every=0, preview_every=0)

Change: TypeAlias = Callable[[GuidanceSettings], GuidanceSettings]
"""Makes other settings of the model's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A picture to draw: a prompt, a seed, and "none" or "psg"."""

    prompt: ListedPrompt
    seed: int
    method: str

    @property
    def key(self) -> tuple[str, int, str]:
        return self.prompt.id, self.seed, self.method


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """A picture and what the studio says of it; no evaluation where nothing is claimed."""

    wanted: Wanted
    scene: SceneGraph
    image: RgbImage
    seconds: float
    evaluation: Evaluation | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnRequest:
    """A picture as the model drew it, with what it cost.

    Attributes:
        image: (H, W, 3) uint8.
        steps: The denoising steps, also those of a trial.
        processor_s: Seconds of the processor.
    """

    image: RgbImage
    steps: tuple[StepEvent, ...]
    processor_s: float

    @property
    def passes(self) -> int:
        """Denoising steps and guiding passes, each forward and backward, of all particles."""
        return sum(
            (1 + step.guiding_passes) * (step.particles.passes if step.particles else 1)
            for step in self.steps
        )


class Bench:
    """The embedded model and its judges in this process, without engine, queue and stored runs."""

    def __init__(self) -> None:
        self.studio = Studio.open("inline")
        self.card = self.studio.model()
        registry = self.studio.registry
        self._backend = registry.backend(self.card.backend_id)
        self._judges = replace(make_judge_set(registry, STICKER_JUDGES), store=None)

    def scene(self, text: str) -> SceneGraph:
        return self.studio.parse_for_model(text)

    def request(
        self, scene: SceneGraph, seed: int, *, steps: int | None = None, guided: bool = True
    ) -> GenerationRequest:
        """Create a request with the studio's settings that captures nothing."""
        self.studio.use_scene(scene)
        request = self.studio.new_request(seed=seed, steps=steps, guided=guided)
        return with_values(request, capture=NOTHING_CAPTURED)

    def draw(self, request: GenerationRequest, start: RgbImage | None = None) -> DrawnRequest:
        """Draw a picture; ``start`` is the picture that the request repairs."""
        steps: list[StepEvent] = []
        is_repeated = False

        def note(event: object) -> None:
            nonlocal is_repeated
            if isinstance(event, GenerationStarted):
                is_repeated = event.is_repeated
            elif isinstance(event, StepEvent) and not is_repeated:
                steps.append(event)

        started = time.process_time()
        job = GenerateJob(request=request, model=self.card, start=start)
        finished = draw_image(job, self._backend, self._judges, CancelFlag(), note)
        spent = time.process_time() - started
        return DrawnRequest(image=finished.image, steps=tuple(steps), processor_s=spent)

    def judge(self, image: RgbImage, scene: SceneGraph) -> Evaluation:
        """Judge a picture by the studio's own judge set and checker."""
        return evaluate_image(image, scene, self._judges, CancelFlag())


class Listener:
    """Keeps what the studio says of the picture that is drawn now."""

    def __init__(self) -> None:
        self.finished: GenerationFinished | None = None
        self.evaluation: Evaluation | None = None
        self.failure = ""

    def hear(self, event: object) -> None:
        match event:
            case GenerationFinished():
                self.finished = event
            case PictureJudged(evaluation=evaluation):
                self.evaluation = evaluation
            case GenerationFailed(error=error) | JobFailed(error=error):
                self.failure = f"{error.message} {error.hint}"


def draw(
    wanted: Iterable[Wanted],
    runs_folder: Path,
    *,
    change: Change | None = None,
    steps: int | None = None,
) -> Iterator[Drawn]:
    """Draw pictures with the embedded model, by its own choice of what is left out.

    Where guidance is changed, "psg" stands for what comes of it. A failure ends the script.
    """
    studio = Studio.open("inline", runs_folder=runs_folder)
    studio.start()
    try:
        for picture in wanted:
            yield _draw_one(studio, picture, change, steps)
    finally:
        studio.close()


def _draw_one(studio: Studio, wanted: Wanted, change: Change | None, steps: int | None) -> Drawn:
    scene = studio.parse_for_model(wanted.prompt.text)
    studio.use_scene(scene)
    guided = wanted.method == METHODS[1]
    request = studio.new_request(seed=wanted.seed, steps=steps, guided=guided)
    if guided and change is not None:
        request = with_values(request, guidance=change(request.sampling.guidance))
    listener = Listener()
    unsubscribe = studio.bus.subscribe(listener.hear)
    studio.generate(replace(request, capture=NOTHING_CAPTURED))
    unsubscribe()
    if listener.finished is None or (scene.relations and listener.evaluation is None):
        sys.exit(f"{wanted.key}: {listener.failure}")
    return Drawn(
        wanted=wanted,
        scene=scene,
        image=listener.finished.image,
        seconds=listener.finished.seconds,
        evaluation=listener.evaluation,
    )


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
