"""Where models attend to the text: asked of the engine, which can read their configuration."""

from collections.abc import Callable

from spatialstudio.application.engine.messages import LayersListed, ListLayers
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.ports import ModelCard


class LayerList:
    """Has a model's layers listed before it draws, and keeps the newest answer.

    Args:
        ask: Takes a question for the engine; returns at once.
        subscribe: Lets it hear the answers.
    """

    def __init__(
        self,
        ask: Callable[[ListLayers], None],
        subscribe: Callable[[Callable[[object], None]], object],
    ) -> None:
        self._ask = ask
        self._asked: ListLayers | None = None
        self._newest: LayersListed | None = None
        subscribe(self._follow)

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

    def _follow(self, event: object) -> None:
        if isinstance(event, LayersListed):
            self._newest = event
