"""How the stage is looked at: its layers, the part in sight, what is drawn over it."""

from PySide6.QtCore import QObject, QRectF, Signal

from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LAYERS,
    PLAIN_LOOK,
    Layer,
    LayerLook,
)
from spatialstudio.ui.widgets.stage_overlay import StageOverlay

WHOLE = QRectF(0, 0, 1, 1)


class StageView(QObject):
    """Belongs to the window, not to a workspace: zoom and picture stay when one is switched.

    Emits ``layers_changed``, ``region_changed``, ``words_changed``, ``smoothing_changed``,
    ``overlays_changed``, ``sketching_changed``, ``ending_changed``, and ``place_pointed`` with the
    place of the picture under the pointer, as shares of its sides, None for none.

    Attributes:
        layers: What is switched on.
        looks: How single layers are drawn; those that are not named are drawn plainly.
        solo: The one layer that is in sight on the picture; None for all that are switched on.
        region: The part in sight, as shares of the picture's sides.
        shows_words: Whether the prompt's words stand over the picture.
        is_smooth: Whether pictures are scaled smoothly.
        has_beside: Whether a second run stands beside the first, when there is one.
        overlays: Drawn over the picture and asked for the mouse, the last one first.
        is_sketching: Whether the layout sketch stands in the place of the picture.
        shows_ending: Whether the finished picture is seen, whichever step is picked.
    """

    layers_changed = Signal()
    region_changed = Signal()
    words_changed = Signal()
    place_pointed = Signal(object)
    smoothing_changed = Signal()
    beside_changed = Signal()
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
        self.has_beside = True
        self.overlays: tuple[StageOverlay, ...] = ()
        self.is_sketching = False
        self.shows_ending = False

    @property
    def visible(self) -> frozenset[Layer]:
        """The layers that are seen now."""
        return self.layers if self.solo is None else frozenset({Layer.PICTURE, self.solo})

    def look_of(self, layer: Layer) -> LayerLook:
        """Return how a layer is drawn."""
        return self.looks.get(layer, PLAIN_LOOK)

    def show_look(self, layer: Layer, look: LayerLook) -> None:
        """Draw a layer so."""
        if look != self.look_of(layer):
            self.looks = {**self.looks, layer: look}
            self.layers_changed.emit()

    def show_solo(self, layer: Layer | None) -> None:
        """Show one layer alone on the picture; None for all that are switched on."""
        if layer is not self.solo:
            self.solo = layer
            self.layers_changed.emit()

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Show only these layers."""
        if layers != self.layers:
            self.layers = layers
            self.layers_changed.emit()

    def toggle(self, layer: Layer) -> None:
        """Switch one layer."""
        self.show_layers(self.layers ^ {layer})

    def show_region(self, region: QRectF) -> None:
        """Show a part of the picture, as shares of its sides."""
        if region != self.region:
            self.region = QRectF(region)
            self.region_changed.emit()

    def show_words(self, shown: bool) -> None:
        """Set the prompt's words over the picture, or take them away."""
        if shown is not self.shows_words:
            self.shows_words = shown
            self.words_changed.emit()

    def fit(self) -> None:
        """Show the whole picture."""
        self.show_region(WHOLE)

    def show_smooth(self, smooth: bool) -> None:
        """Scale pictures smoothly, or show their pixels."""
        if smooth is not self.is_smooth:
            self.is_smooth = smooth
            self.smoothing_changed.emit()

    def show_beside(self, wanted: bool) -> None:
        """Show a second run beside the first, or the first alone."""
        if wanted is not self.has_beside:
            self.has_beside = wanted
            self.beside_changed.emit()

    def show_sketch(self, sketching: bool) -> None:
        """Show the layout sketch in the place of the picture, or the picture again."""
        if sketching is not self.is_sketching:
            self.is_sketching = sketching
            self.sketching_changed.emit()

    def show_ending(self, wanted: bool) -> None:
        """Show the finished picture, whichever step is picked, or the picked step again."""
        if wanted is not self.shows_ending:
            self.shows_ending = wanted
            self.ending_changed.emit()

    def show_overlays(self, overlays: tuple[StageOverlay, ...]) -> None:
        """Draw these over the picture, and let them have the mouse."""
        if overlays != self.overlays:
            self.overlays = overlays
            self.overlays_changed.emit()
