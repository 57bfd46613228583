"""The models on this machine that can draw, and what is wrong with the others."""

from collections.abc import Callable, Mapping

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.ports import ModelCard, ModelShelf

NO_MODEL_HINT = "Put a diffusers folder or a safetensors file into the folder for models."


class ModelList:
    """Looks for models when it is first asked, and again when it is told to.

    Args:
        shelf: Makes or returns who finds them.
    """

    def __init__(self, shelf: Callable[[], ModelShelf]) -> None:
        self._shelf = shelf
        self._cards: tuple[ModelCard, ...] | None = None

    @property
    def cards(self) -> tuple[ModelCard, ...]:
        """Those that can draw, the embedded first."""
        return self.find() if self._cards is None else self._cards

    @property
    def damaged(self) -> Mapping[str, ModelNotFound]:
        """What is wrong with the folders that cannot be used, by their names; read each time."""
        return self._shelf().damaged()

    def find(self) -> tuple[ModelCard, ...]:
        """Look again: models may have come, or gone."""
        self._cards = self._shelf().cards()
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
            f'There is no model "{model_id}".' if model_id else "There is no model to draw with.",
            hint=f"Known are: {names}." if names else NO_MODEL_HINT,
        )

    def known_objects(self, model_id: str | None = None) -> Mapping[str, str]:
        """Return the objects that a model draws, by their names; empty for any, and for no model.

        Args:
            model_id: None for the first.
        """
        known = (card.known_objects for card in self.cards if model_id in (None, card.id))
        return next(known, {})
