"""Lists of installed models, compute devices and cross-attention layers."""

from collections.abc import Callable, Mapping

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
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.ports import ModelCard, ModelCatalog
from spatialstudio.domain.run_settings import with_values

NO_MODEL_HINT = "Put a diffusers folder or a safetensors file into the models folder."


class ModelList:
    """Installed generation models, searched on first use and on request.

    Args:
        catalog: Creates or returns the model catalog.
    """

    def __init__(self, catalog: Callable[[], ModelCatalog]) -> None:
        self._catalog = catalog
        self._cards: tuple[ModelCard, ...] | None = None

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
        """Return a model's card; None for the first model.

        Raises:
            ModelNotFound: There is no such model, or its files are damaged.
        """
        for card in self.cards:
            if model_id in (None, card.id):
                return card
        if damage := self.damaged.get(model_id or ""):
            raise damage
        names = ", ".join(card.id for card in self.cards)
        raise ModelNotFound(
            f'There is no model "{model_id}".' if model_id else "No model is available.",
            hint=f"Known are: {names}." if names else NO_MODEL_HINT,
        )

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

    def at_hand(self, request: GenerationRequest) -> GenerationRequest:
        """Return a request without its device if that is known to be absent from this machine."""
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
