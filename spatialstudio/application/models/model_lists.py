"""Lists of installed models, compute devices and layers, and a model's recommended settings."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.jobs.messages import (
    DevicesListed,
    EngineAnswer,
    LayersListed,
    ListDevices,
    ListLayers,
)
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.devices import DeviceCard
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import (
    LAYOUT,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.hub import download_hint
from spatialstudio.domain.ports import ModelCard, ModelCatalog
from spatialstudio.domain.run_settings import Preset, RunSettings, with_values
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, guidance_preset

FILE_SUFFIXES = frozenset({".safetensors", ".ckpt", ".gguf", ".pt", ".pth"})


def is_model_file(path: Path) -> bool:
    """Return True if a path is an existing file with the suffix of model weights."""
    return path.suffix.lower() in FILE_SUFFIXES and path.is_file()


NO_MODEL_HINT = "Put a diffusers folder or a safetensors file into the models folder."


class ModelList:
    """Installed generation models, searched on first use and on request.

    Args:
        catalog: Creates or returns the model catalog.
        repositories: Returns the repositories of recommended models by their short names.
    """

    def __init__(
        self,
        catalog: Callable[[], ModelCatalog],
        repositories: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._catalog = catalog
        self._repositories = repositories
        self._cards: tuple[ModelCard, ...] | None = None
        self._files: dict[str, ModelCard] = {}

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """Cards of the usable models, embedded models first."""
        return self.find() if self._cards is None else self._cards

    @property
    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Errors of unusable model folders, by folder name; read on each access."""
        return self._catalog().damaged()

    def find(self) -> tuple[ModelCard, ...]:
        """Search again for installed models."""
        self._cards = self._catalog().cards()
        return self._cards

    def card(self, model_id: str | None = None) -> ModelCard:
        """Return a model's card.

        Args:
            model_id: Id of a model, also one that it had among other files; the short name of a
                recommended one, or the path of a single file; None for the first model.

        Raises:
            ModelNotFound: There is no such model, or its files are damaged.
        """
        known = (*self.cards, *self._files.values())
        if card := next((card for card in known if model_id in (None, card.id)), None):
            return card
        if card := next((card for card in known if model_id in card.ids), None):
            return card
        if model_id and is_model_file(Path(model_id)):
            card = self._catalog().read_file(Path(model_id))
            return self._files.setdefault(card.id, card)
        if damage := self.damaged.get(model_id or ""):
            raise damage
        repository = self._repositories().get(model_id or "", model_id or "")
        if repository != model_id and any(card.id == repository for card in self.cards):
            return self.card(repository)
        if hint := download_hint(repository):
            raise ModelNotFound(f'The model "{model_id}" is not installed.', hint=hint)
        names = ", ".join(card.id for card in self.cards)
        raise ModelNotFound(
            f'There is no model "{model_id}".' if model_id else "No model is available.",
            hint=f"Available: {names}." if names else NO_MODEL_HINT,
        )

    def open_file(self, file: Path) -> ModelCard:
        """Add a single file to the list, also for the next start, and return its card.

        Raises:
            ModelNotFound: It is damaged, or no picture can be drawn with it.
            StoreError: The list cannot be written.
        """
        card = self._catalog().open_file(file)
        self.find()
        return card

    def choose_prediction(self, model_id: str, prediction_type: str) -> None:
        """Store what a model predicts, if it offers the choice and it differs from the current one.

        Raises:
            StoreError: The choice cannot be written.
        """
        card = self.card(model_id)
        if card.prediction_type and prediction_type not in ("", card.prediction_type):
            self._catalog().choose_prediction(card.id, prediction_type)
            self.find()

    def known_objects(self, model_id: str | None = None) -> Mapping[str, str]:
        """Return the objects that a model knows, by name; empty if unrestricted or without a model.

        Args:
            model_id: None for the first model.
        """
        known = (card.known_objects for card in self.cards if model_id in (None, card.id))
        return next(known, {})


class DeviceList(EngineAnswer[ListDevices, DevicesListed]):
    """Requests the compute devices from the engine and keeps the newest answer."""

    answer_type = DevicesListed

    @property
    def known(self) -> tuple[DeviceCard, ...]:
        """The devices, fastest first; empty until the engine has answered."""
        return self._newest.devices if self._newest else ()

    def ask(self) -> None:
        """Request the devices with their free memory; the engine answers with ``DevicesListed``."""
        self._ask(ListDevices())

    def without_missing_device(self, request: GenerationRequest) -> GenerationRequest:
        """Return a request without its device if this machine is known to lack it."""
        known, chosen = {card.id for card in self.known}, request.sampling.device
        return with_values(request, device="") if known and chosen not in known else request


class LayerList(EngineAnswer[ListLayers, LayersListed]):
    """Requests a model's cross-attention layers from the engine and keeps the newest answer."""

    answer_type = LayersListed
    _asked: ListLayers | None = None

    def ask(self, model: ModelCard, height: int, width: int) -> None:
        """Request a model's layers, once per size; the engine answers with ``LayersListed``.

        Args:
            model: Card of the model.
            height: Image height, pixels.
            width: Image width, pixels.
        """
        question = ListLayers(model=model, height=height, width=width)
        if question != self._asked:
            self._asked = question
            self._ask(question)

    def ask_again(self) -> None:
        """Repeat the last request, after an engine was started."""
        if self._asked is not None:
            self._ask(self._asked)

    def of(self, model_id: str) -> ModelLayers | None:
        """Return a model's layers; None until the engine has answered."""
        newest = self._newest
        return newest.layers if newest is not None and newest.model_id == model_id else None


def usual_settings(model: ModelCard) -> RunSettings:
    """Return a model's recommended settings."""
    return RunSettings(
        model_id=model.id,
        width=model.native_size,
        height=model.native_size,
        sampling=SamplingSettings(
            steps=model.steps,
            guidance=choose_guidance(LAYOUT, model, model.steps),
            prediction_type=model.prediction_type,
        ),
    )


def with_model(settings: RunSettings, model: ModelCard) -> RunSettings:
    """Switch to another model: take its size, steps and guidance, keep the rest if compatible."""
    usual, sampler = usual_settings(model), settings.sampling.scheduler_id
    return with_values(
        settings,
        model_id=model.id,
        width=usual.width,
        height=usual.height,
        steps=usual.sampling.steps,
        scheduler_id=sampler if sampler in model.samplers else "",
        guidance=usual.sampling.guidance,
        prediction_type=model.prediction_type,
        guidance_scale=None,
        preset=usual.preset,
    )


def choose_guidance(
    method_id: str,
    model: ModelCard,
    steps: int,
    *,
    preset: Preset = Preset.RECOMMENDED,
    strength: float | None = None,
) -> GuidanceSettings:
    """Return the guidance settings of a preset for a model.

    Args:
        method_id: "none", or the id of a registered method.
        model: Card of the model, which may define its own recommended strength for PSG.
        steps: Number of denoising steps.
        preset: Source of the settings.
        strength: Step size; None for the preset's, 0 for no guidance.

    Raises:
        RequestError: The method is unknown, or was not published for models of this kind.
    """
    if method_id == UNGUIDED:
        return GuidanceSettings()
    settings = guidance_preset(method_id, model.pipeline_class, preset, steps)
    if strength == 0:
        return GuidanceSettings()
    is_models = preset is Preset.RECOMMENDED and GUIDANCE_METHODS[method_id].uses_model_strength
    if strength is None and is_models:
        strength = model.strength
    return settings if strength is None else replace(settings, strength=strength)
