"""View state of the stage: layers, visible region, overlays."""

from PySide6.QtCore import QObject, QRectF, Signal, SignalInstance

from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LAYERS,
    PLAIN_LOOK,
    Layer,
    LayerLook,
)
from spatialstudio.ui.widgets.picture_region import WHOLE
from spatialstudio.ui.widgets.stage_overlay import StageOverlay


class StageView(QObject):
    """View state of the stage; zoom and picture persist when the workspace changes.

    One per window. Emits ``layers_changed``, ``region_changed``, ``words_changed``,
    ``smoothing_changed``, ``overlays_changed``, ``sketching_changed``, ``ending_changed``, and
    ``place_pointed`` with the position under the pointer, as fractions of the picture's sides, None
    for none.

    Attributes:
        layers: Enabled layers.
        looks: Looks of single layers; unlisted layers use the default look.
        solo: The only visible layer; None for all enabled layers.
        region: The visible region, as fractions of the picture's sides.
        shows_words: Whether the prompt's words are shown above the picture.
        is_smooth: Whether pictures are scaled smoothly.
        shows_second: Whether a second run, if any, is shown next to the first.
        overlays: Drawn over the picture; they receive mouse events, the last one first.
        is_sketching: Whether the layout sketch replaces the picture.
        shows_ending: Whether the finished picture is shown, regardless of the picked step.
    """

    layers_changed = Signal()
    region_changed = Signal()
    words_changed = Signal()
    place_pointed = Signal(object)
    smoothing_changed = Signal()
    second_changed = Signal()
    overlays_changed = Signal()
    sketching_changed = Signal()
    ending_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.layers = PLAIN_LAYERS
        self.looks: dict[Layer, LayerLook] = {}
        self.solo: Layer | None = None
        self.region = QRectF(WHOLE)
        self.shows_words = False
        self.is_smooth = True
        self.shows_second = True
        self.overlays: tuple[StageOverlay, ...] = ()
        self.is_sketching = False
        self.shows_ending = False

    @property
    def visible(self) -> frozenset[Layer]:
        """The visible layers."""
        return self.layers if self.solo is None else frozenset({Layer.PICTURE, self.solo})

    def look_of(self, layer: Layer) -> LayerLook:
        """Return the look of a layer."""
        return self.looks.get(layer, PLAIN_LOOK)

    def show_look(self, layer: Layer, look: LayerLook) -> None:
        """Set the look of a layer."""
        if look != self.look_of(layer):
            self.looks = {**self.looks, layer: look}
            self.layers_changed.emit()

    def show_solo(self, layer: Layer | None) -> None:
        """Show only one layer on the picture; None for all enabled layers."""
        self._set("solo", layer, self.layers_changed)

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Enable exactly these layers."""
        self._set("layers", layers, self.layers_changed)

    def toggle(self, layer: Layer) -> None:
        """Toggle one layer."""
        self.show_layers(self.layers ^ {layer})

    def show_region(self, region: QRectF) -> None:
        """Set the visible region, as fractions of the picture's sides."""
        self._set("region", QRectF(region), self.region_changed)

    def show_words(self, shown: bool) -> None:
        """Show or hide the prompt's words above the picture."""
        self._set("shows_words", shown, self.words_changed)

    def fit(self) -> None:
        """Show the whole picture."""
        self.show_region(WHOLE)

    def show_smooth(self, smooth: bool) -> None:
        """Scale pictures smoothly, or show their pixels."""
        self._set("is_smooth", smooth, self.smoothing_changed)

    def show_second(self, wanted: bool) -> None:
        """Show or hide the second run."""
        self._set("shows_second", wanted, self.second_changed)

    def show_sketch(self, sketching: bool) -> None:
        """Switch between the layout sketch and the picture."""
        self._set("is_sketching", sketching, self.sketching_changed)

    def show_ending(self, wanted: bool) -> None:
        """Switch between the finished picture and the picked step."""
        self._set("shows_ending", wanted, self.ending_changed)

    def show_overlays(self, overlays: tuple[StageOverlay, ...]) -> None:
        """Set the overlays of the picture, which also receive mouse events."""
        self._set("overlays", overlays, self.overlays_changed)

    def _set(self, name: str, value: object, changed: SignalInstance) -> None:
        """Set an attribute; emit a signal if its value is new."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            changed.emit()
