"""How attention maps are looked at: which words, on which scale, on the picture or as a grid."""

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
from spatialstudio.domain.prompt import MentionId

MOST_AVERAGES = 3
"""Runs of which averages are held beside the newest."""


class MapSource(Enum):
    """Of which run something is shown; the value says it to people."""

    FIRST = "This run"
    SECOND = "Second run"
    DIFFERENCE = "Difference"


@frozen
class MapLook:
    """How maps are drawn.

    Attributes:
        scale: Which value is drawn in full colour.
        has_isolines: Whether lines around shares of the mass are drawn.
        is_grid: Whether all words and some steps are shown as a grid instead of the picture.
        source: Of which run the grid is.
        moment: Which reading of a guided step is shown.
    """

    scale: MapScale = MapScale.PER_MAP
    has_isolines: bool = False
    is_grid: bool = False
    source: MapSource = MapSource.FIRST
    moment: Moment = Moment.AFTER


class MapView(QObject):
    """Belongs to the window, as the stage's layers do; kept while workspaces are switched.

    Emits ``changed`` when other words, layers or another look are wanted, or other maps are there.

    Attributes:
        pins: The words looked at, in the order in which they were pinned.
        hovered: The word looked at in passing; None for none.
        look: How maps are drawn.
        is_peeking: Whether the picture is shown bare for a moment.
        choice: The model's layers that are averaged, and the head.
        averages: What was averaged last, by run.
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
        """The words looked at now: the one in passing, or those that are pinned."""
        return self.pins if self.hovered is None else (self.hovered,)

    def pin(self, *words: MentionId) -> None:
        """Look at these words and no others."""
        self._set("pins", tuple(dict.fromkeys(words)))

    def toggle(self, word: MentionId) -> None:
        """Pin a word beside the others, or let it go."""
        is_pinned = word in self.pins
        others = tuple(pin for pin in self.pins if pin != word)
        self.pin(*others, *(() if is_pinned else (word,)))

    def compare(self, word: MentionId) -> None:
        """Set a word beside the one that was pinned last, and let all others go."""
        others = [pin for pin in self.pins if pin != word]
        self.pin(*others[-1:], word)

    def hover(self, word: MentionId | None) -> None:
        """Look at a word in passing; None to look at what is pinned again."""
        self._set("hovered", word)

    def show_look(self, **changes: object) -> None:
        """Draw maps otherwise: any attributes of ``MapLook``."""
        self._set("look", replace(self.look, **changes))  # type: ignore[arg-type]

    def show_next_scale(self) -> None:
        """Draw on the next of the scales, from the last on the first."""
        scales = list(MapScale)
        following = scales[(scales.index(self.look.scale) + 1) % len(scales)]
        self.show_look(scale=following)

    def peek(self, peeking: bool) -> None:
        """Show the picture bare, or with all that lies on it again."""
        self._set("is_peeking", peeking)

    def average(self, layers: frozenset[str]) -> None:
        """Average these layers of the model; none for those that guide."""
        self._set("choice", replace(self.choice, layers=layers))

    def show_head(self, head: int | None) -> None:
        """Look at one head of each layer, from 0; None for the mean of all."""
        self._set("choice", replace(self.choice, head=head))

    def take(self, averaged: LayersAveraged) -> None:
        """Show what was averaged of a run from now on."""
        others = list(self.averages.items())[-MOST_AVERAGES:]
        self._set("averages", {**dict(others), averaged.request_id: averaged})

    def _set(self, name: str, value: object) -> None:
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.changed.emit()
