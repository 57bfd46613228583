"""View state of the attention maps: words, scale, overlay or grid."""

from dataclasses import replace
from enum import Enum

from PySide6.QtCore import QObject, Signal

from spatialstudio.application.inspect.layer_maps import LayersAveraged
from spatialstudio.domain.attention import (
    LayerChoice,
    MapScale,
    Moment,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.scene import MentionId

MOST_AVERAGES = 3
"""Number of older runs whose averages are kept."""


class MapSource(Enum):
    """Which run a map grid shows; the value is the label."""

    FIRST = "This run"
    SECOND = "Second run"
    DIFFERENCE = "Difference"


@frozen
class MapLook:
    """How maps are drawn.

    Attributes:
        scale: Which value maps to full colour.
        has_isolines: Whether isolines around shares of the mass are drawn.
        is_grid: Whether a grid of words and steps replaces the picture.
        source: Which run the grid shows.
        moment: Which reading of a guided step is shown.
    """

    scale: MapScale = MapScale.PER_MAP
    has_isolines: bool = False
    is_grid: bool = False
    source: MapSource = MapSource.FIRST
    moment: Moment = Moment.AFTER


class MapView(QObject):
    """Selected words and drawing options of attention maps.

    One per window, like the stage's layers; persists across workspaces. Emits ``changed`` when the
    words, layers, look or maps change.

    Attributes:
        pins: Pinned words, in the order in which they were pinned.
        hovered: The word under the pointer or focus; None for none.
        look: How maps are drawn.
        is_peeking: Whether the picture is temporarily shown without overlays.
        choice: The model's layers to average, and the head.
        averages: The latest averages, by run.
    """

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.pins: tuple[MentionId, ...] = ()
        self.hovered: MentionId | None = None
        self.look = MapLook()
        self.is_peeking = False
        self.choice = LayerChoice()
        self.averages = dict[RequestId, LayersAveraged]()

    @property
    def words(self) -> tuple[MentionId, ...]:
        """The shown words: the hovered word, or the pinned ones."""
        return self.pins if self.hovered is None else (self.hovered,)

    def pin(self, *words: MentionId) -> None:
        """Pin exactly these words."""
        self._set("pins", tuple(dict.fromkeys(words)))

    def toggle(self, word: MentionId) -> None:
        """Pin or unpin a word."""
        is_pinned = word in self.pins
        others = tuple(pin for pin in self.pins if pin != word)
        self.pin(*others, *(() if is_pinned else (word,)))

    def compare(self, word: MentionId) -> None:
        """Pin a word next to the last pinned one and unpin all others."""
        others = [pin for pin in self.pins if pin != word]
        self.pin(*others[-1:], word)

    def hover(self, word: MentionId | None) -> None:
        """Set the hovered word; None returns to the pinned ones."""
        self._set("hovered", word)

    def show_look(self, **changes: object) -> None:
        """Change attributes of ``MapLook``."""
        self._set("look", replace(self.look, **changes))  # type: ignore[arg-type]

    def show_next_scale(self) -> None:
        """Switch to the next scale, cyclically."""
        scales = list(MapScale)
        following = scales[(scales.index(self.look.scale) + 1) % len(scales)]
        self.show_look(scale=following)

    def peek(self, peeking: bool) -> None:
        """Hide or show the overlays of the picture."""
        self._set("is_peeking", peeking)

    def average(self, layers: frozenset[str]) -> None:
        """Average these layers of the model; an empty set selects the guiding layers."""
        self._set("choice", replace(self.choice, layers=layers))

    def show_head(self, head: int | None) -> None:
        """Show one attention head, counted from 0; None for the mean of all heads."""
        self._set("choice", replace(self.choice, head=head))

    def take(self, averaged: LayersAveraged) -> None:
        """Set the averaged maps of a run."""
        others = list(self.averages.items())[-MOST_AVERAGES:]
        self._set("averages", {**dict(others), averaged.request_id: averaged})

    def _set(self, name: str, value: object) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.changed.emit()
