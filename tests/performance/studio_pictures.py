"""Has the studio draw and judge pictures, one after the other."""

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from spatialstudio.application.jobs.messages import JobFailed, PictureJudged
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationFailed,
    GenerationFinished,
    GuidanceSettings,
)
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
