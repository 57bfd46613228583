"""Quick pictures of a layout while it is edited; they are shown, not stored."""

from collections.abc import Callable
from dataclasses import replace

from spatialstudio.application.compose.wildcards import has_choices
from spatialstudio.application.jobs.messages import Engine, EngineStopped, GenerateJob
from spatialstudio.application.run.check_request import check_request, check_scene
from spatialstudio.application.run.choose_settings import request_of, with_steps
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    GenerationRequest,
    NoiseSearch,
    RequestId,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.run_settings import RunSettings, SketchedPlaces
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.steering import ONE_PARTICLE

PREVIEW_STEPS = 8


class LivePreview:
    """Draws the newest layout in the engine, one at a time, and never while a run is drawn.

    Lives on the GUI thread. Neither the session nor the library knows these pictures.

    Args:
        engine: Runs the models.
        model: Returns the card of a model; raises ModelNotFound.
        is_busy: Returns whether a run is drawn.
    """

    def __init__(
        self, engine: Engine, model: Callable[[str], ModelCard], is_busy: Callable[[], bool]
    ) -> None:
        self._engine = engine
        self._model = model
        self._is_busy = is_busy
        self._running: RequestId | None = None
        self._ended: RequestId | None = None
        self._waiting: GenerateJob | None = None
        self._newest: tuple[SceneGraph, RunSettings, SketchedPlaces] | None = None

    def owns(self, request_id: RequestId) -> bool:
        """Return True for the picture that is drawn, or that ended last."""
        return request_id in {self._running, self._ended}

    def draw(
        self,
        scene: SceneGraph,
        settings: RunSettings,
        places: SketchedPlaces,
        *,
        is_final: bool = True,
    ) -> None:
        """Draw a layout with few steps instead of the layouts that wait, unless it is the newest.

        Args:
            scene: The scene.
            settings: The settings of the next picture; its seed is drawn.
            places: The sketched places.
            is_final: Whether an unfinished picture of an earlier layout is cancelled; during a
                drag it is finished, so that something is seen.
        """
        if self._newest == (scene, settings, places):
            return
        self._newest = scene, settings, places
        try:
            self._waiting = self._quick_job(scene, settings, places)
        except StudioError:  # Generate says what is wrong
            self._waiting = None
        if self._running is not None and is_final:
            self._engine.cancel(self._running)
        self._go_on()

    def stop(self) -> None:
        """Cancel the picture that is drawn, and forget the one that waits."""
        self._waiting = self._newest = None
        if self._running is not None:
            self._engine.cancel(self._running)

    def apply_event(self, event: object) -> RgbImage | None:
        """Apply an event of the engine; return a picture that it finishes."""
        match event:
            case EngineStopped():
                self._running = self._waiting = self._newest = None
            case GenerationFinished() | GenerationFailed() | GenerationCancelled():
                if event.request_id == self._running:
                    self._running, self._ended = None, self._running
                    self._go_on()
                    return event.image if isinstance(event, GenerationFinished) else None
        return None

    def _go_on(self) -> None:
        if self._running is None and self._waiting is not None and not self._is_busy():
            job, self._waiting = self._waiting, None
            self._running = job.job_id
            self._engine.submit(job)

    def _quick_job(
        self, scene: SceneGraph, settings: RunSettings, places: SketchedPlaces
    ) -> GenerateJob | None:
        """Return the job of a quick picture; None for a prompt whose words the seed chooses.

        Raises:
            StudioError: The picture cannot be drawn.
        """
        if has_choices(scene.prompt.text):
            return None
        model = self._model(settings.model_id)
        few = with_steps(settings, model, min(settings.sampling.steps, PREVIEW_STEPS))
        asked = request_of(scene, model, few, settings.sampling.seed, places)
        request = _alone(asked)
        check_request(request, model)
        check_scene(scene)
        return GenerateJob(request=request, model=model, judge=False)


def _alone(request: GenerationRequest) -> GenerationRequest:
    """Return a request that draws one picture and records nothing."""
    capture = CaptureSettings(attention_every=0, preview_every=0)
    return replace(request, search=NoiseSearch(), steering=ONE_PARTICLE, capture=capture)
