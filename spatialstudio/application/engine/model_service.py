"""Model service of the engine, with adapters created on first use."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from spatialstudio.application.evaluate.evaluate_image import (
    PerturbationProgress,
    evaluate_image,
    ignore_progress,
)
from spatialstudio.application.evaluate.judge_choice import make_judge_set, used_judge_set
from spatialstudio.application.evaluate.metrics import DaModels, score_assertions
from spatialstudio.application.plugins import installed_plugins, open_registry
from spatialstudio.application.registry import Registry
from spatialstudio.application.run.generate_image import search_image
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    ReportEvent,
    with_savings,
)
from spatialstudio.domain.judge_choice import STICKER_JUDGES, JudgeSetChoice
from spatialstudio.domain.ports import (
    CancelToken,
    ModelCard,
    Surroundings,
)
from spatialstudio.domain.prompt_syntax import drawn_prompt
from spatialstudio.domain.scene import SceneGraph, TokenReading
from spatialstudio.domain.verdict import Evaluation


class RegistryModelService:
    """Generates and evaluates with the registered adapters; keeps loaded models between jobs.

    Args:
        registry: The adapters.
        missing: Sentences on the plugins that are in use in the studio, but not in this process;
            added to the hints of errors.
    """

    def __init__(self, registry: Registry, missing: str = "") -> None:
        self._registry = registry
        self._missing = missing

    def warm_up(self) -> None:
        """Import the modules that every first job needs."""
        for backend_id in self._registry.ids("backend"):
            self._registry.backend(backend_id)

    def read_tokens(self, prompt: str, model: ModelCard) -> tuple[TokenReading, ...]:
        """Tokenize a prompt as a model does."""
        plain = drawn_prompt(prompt)
        readings = self._registry.backend(model.backend_id).read_tokens(plain.text, model)
        return tuple(replace(each, tokens=plain.typed_spans(each.tokens)) for each in readings)

    def devices(self) -> tuple[DeviceCard, ...]:
        """Return the compute devices of all backends, fastest first."""
        backends = [self._registry.backend(each) for each in self._registry.ids("backend")]
        return tuple(dict.fromkeys(card for backend in backends for card in backend.devices()))

    def layers(self, model: ModelCard, height: int, width: int) -> ModelLayers:
        """Return the cross-attention layers of a model for an image size, pixels."""
        return self._registry.backend(model.backend_id).layers(model, height, width)

    def estimate(self, request: GenerationRequest, model: ModelCard) -> MemoryEstimate | None:
        """Estimate the memory of a request; None if that requires loading its model."""
        return self._registry.backend(request.backend_id).estimate(with_savings(request), model)

    def generate(
        self,
        request: GenerationRequest,
        model: ModelCard,
        token: CancelToken,
        report: ReportEvent,
        *,
        choice: JudgeSetChoice = STICKER_JUDGES,
    ) -> GenerationFinished:
        """Draw a request that was checked; see ``search_image``."""
        request = with_savings(request)
        with self._missing_plugins_named():
            backend = self._registry.backend(request.backend_id)
            if request.search.candidates > 1:
                judges = make_judge_set(self._registry, choice)
                return search_image(request, model, backend, judges, token, report)
            return backend.generate(request, model, token, report)

    def evaluate(
        self,
        image: RgbImage,
        scene: SceneGraph,
        token: CancelToken,
        *,
        choice: JudgeSetChoice = STICKER_JUDGES,
        looked: PerturbationProgress = ignore_progress,
    ) -> Evaluation:
        """Evaluate an image, (H, W, 3) uint8; see ``evaluate_image``."""
        with self._missing_plugins_named():
            judges = make_judge_set(self._registry, choice)
            evaluation = evaluate_image(image, scene, judges, token, looked=looked)
            if choice.answerer_id is not None:
                models = DaModels(answerer=self._registry.answerer(choice.answerer_id))
                evaluation = score_assertions(image, scene, evaluation, models, token)
            return replace(evaluation, judge_set=used_judge_set(self._registry, choice))

    @contextmanager
    def _missing_plugins_named(self) -> Iterator[None]:
        try:
            yield
        except StudioError as error:
            error.hint = " ".join(filter(None, (error.hint, self._missing)))
            raise


def build_model_service(
    surroundings: Surroundings, plugins: Sequence[str] = ()
) -> RegistryModelService:
    """Create the model service; called in the process that runs the models.

    Args:
        surroundings: Paths and settings for its adapters.
        plugins: Names of the plugins that are in use in the studio.
    """
    return RegistryModelService(open_registry(surroundings), missing_plugins(plugins))


def missing_plugins(wanted: Sequence[str]) -> str:
    """Return sentences on the plugins that cannot be used in this process; empty without any."""
    here = installed_plugins()
    loaded = {each.name for each in here.loaded}
    missing = [name for name in wanted if name not in loaded]
    if not missing:
        return ""
    names = ", ".join(f'"{name}"' for name in missing)
    # NOTE: a plugin that cannot be imported is listed by its entry point, not by its name
    reasons = [f"{each.name}: {each.reason}" for each in here.disabled]
    return " ".join([f"In the engine process, these plugins are disabled: {names}.", *reasons])
