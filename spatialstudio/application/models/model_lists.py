"""The models on this machine that can draw, and what is wrong with the others."""

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
    """Looks for models when it is first asked, and again when it is told to.

    Args:
        catalog: Makes or returns who finds them.
    """

    def __init__(self, catalog: Callable[[], ModelCatalog]) -> None:
        self._catalog = catalog
        self._cards: tuple[ModelCard, ...] | None = None

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """Those that can draw, the embedded first."""
        return self.find() if self._cards is None else self._cards

    @property
    def damaged(self) -> Mapping[str, ModelNotFound]:
        """What is wrong with the folders that cannot be used, by their names; read each time."""
        return self._catalog().damaged()

    def find(self) -> tuple[ModelCard, ...]:
        """Look again: models may have come, or gone."""
        self._cards = self._catalog().cards()
        return self._cards

    def card(self, model_id: str | None = None) -> ModelCard:
        """Return a model's card; the first one for None.

        Raises:
            ModelNotFound: There is no such model, or it is damaged.
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
        """Return the objects that a model draws, by their names; empty for any, and for no model.

        Args:
            model_id: None for the first.
        """
        known = (card.known_objects for card in self.cards if model_id in (None, card.id))
        return next(known, {})


class DeviceList(EngineAnswer[ListDevices, DevicesListed]):
    """Has the engine list the devices of this machine, and keeps the newest answer."""

    answer_type = DevicesListed

    @property
    def known(self) -> tuple[DeviceCard, ...]:
        """The devices, the fastest first; empty while nobody has told."""
        return self._newest.devices if self._newest else ()

    def ask(self) -> None:
        """Have the devices listed, with what is free now; ``DevicesListed`` is published then."""
        self._ask(ListDevices())

    def at_hand(self, request: GenerationRequest) -> GenerationRequest:
        """Return a request that another machine's device does not stop, as far as is known."""
        known, chosen = {card.id for card in self.known}, request.sampling.device
        return with_values(request, device="") if known and chosen not in known else request


class LayerList(EngineAnswer[ListLayers, LayersListed]):
    """Has the engine list a model's layers, and keeps the newest answer."""

    answer_type = LayersListed
    _asked: ListLayers | None = None

    def ask(self, model: ModelCard, height: int, width: int) -> None:
        """Have a model's layers listed, once for each size; ``LayersListed`` is published then.

        Args:
            model: Whose layers.
            height: Of the pictures it shall draw, pixels.
            width: Likewise.
        """
        question = ListLayers(model=model, height=height, width=width)
        if question != self._asked:
            self._asked = question
            self._ask(question)

    def ask_again(self) -> None:
        """Ask once more what was asked while there was no engine."""
        if self._asked is not None:
            self._ask(self._asked)

    def of(self, model_id: str) -> ModelLayers | None:
        """Return a model's layers; None while nobody has told."""
        newest = self._newest
        return newest.layers if newest is not None and newest.model_id == model_id else None
