"""What the engine does its work with: the adapters, made on first use where the models run."""

from collections.abc import Iterator
from pathlib import Path

from spatialstudio.application.flow.evaluate_image import Judges, evaluate_image
from spatialstudio.application.flow.generate_image import generate_image
from spatialstudio.application.registry import Registry, built_in_registry
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import GenerationEvent, GenerationRequest
from spatialstudio.domain.ports import CancelToken, ModelCard, Surroundings
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings, Evaluation

DETECTOR_ID = "sticker-segmenter"
DEPTH_ID = "sticker-depth"
PERTURBER_ID = "pillow"


class ModelWorkshop:
    """Draws and judges with the registered adapters; keeps loaded models for the next job."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    def warm_up(self) -> None:
        """Import what the first job is sure to need."""
        for backend_id in self._registry.ids("backend"):
            self._registry.backend(backend_id)

    def generate(
        self, request: GenerationRequest, model: ModelCard, token: CancelToken
    ) -> Iterator[GenerationEvent]:
        """Draw a request; see ``generate_image``."""
        backend = self._registry.backend(request.backend_id)
        yield from generate_image(request, model, backend, token)

    def evaluate(
        self,
        image: RgbImage,
        scene: SceneGraph,
        token: CancelToken,
        settings: CheckerSettings = REPRODUCE,
    ) -> Evaluation:
        """Judge a picture, (H, W, 3) uint8; see ``evaluate_image``."""
        judges = Judges(
            detector=self._registry.detector(DETECTOR_ID),
            depth=self._registry.depth(DEPTH_ID),
            perturber=self._registry.perturber(PERTURBER_ID),
        )
        return evaluate_image(image, scene, judges, token, settings)


def build_workshop(resources: Path, model_folders: tuple[Path, ...]) -> ModelWorkshop:
    """Make a workshop anew; called where the models run, so its arguments are plain."""
    surroundings = Surroundings(resources=resources, model_folders=model_folders)
    return ModelWorkshop(built_in_registry(surroundings))
