"""What is shown on the picture: one row a layer."""

from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.roving import DOWN_THE_ROWS, Roving
from spatialstudio.ui.widgets.stage.layer_row import LayerRow
from spatialstudio.ui.widgets.stage.picture_layers import Layer


class LayerList(QWidget):
    """Lets the user switch layers, choose how each is drawn, and have pictures scaled smoothly.

    All rows are one stop of Tab; up and down lead from row to row.

    Emits ``layers_picked`` with the frozen set of layers that are switched on, ``look_picked`` with
    a layer and its ``LayerLook``, ``solo_picked`` with the layer to show alone, None for all, and
    ``smoothing_picked``, by the user's hand only.
    """

    layers_picked = Signal(object)
    look_picked = Signal(object, object)
    solo_picked = Signal(object)
    smoothing_picked = Signal(bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._rows: dict[Layer, LayerRow] = {}
        self._shows_all = True
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.1))
        for place, layer in enumerate(Layer, 1):
            row = LayerRow(theme, layer, str(place))
            row.shown_picked.connect(self._tell)
            row.look_picked.connect(partial(self.look_picked.emit, layer))
            row.solo_picked.connect(partial(self._pick_solo, layer))
            column.addWidget(row)
            self._rows[layer] = row
        Roving(self, DOWN_THE_ROWS).lead(*([row.eye] for row in self._rows.values()))
        self._smooth = QCheckBox(tr("Smooth scaling"))
        self._smooth.setChecked(True)
        self._smooth.toggled.connect(self.smoothing_picked)
        column.addSpacing(em(0.3))
        column.addWidget(self._smooth)

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers that are switched on."""
        return frozenset(layer for layer, row in self._rows.items() if row.is_shown)

    def row(self, layer: Layer) -> LayerRow:
        """Return the row of a layer."""
        return self._rows[layer]

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Show which layers are switched on."""
        for layer, row in self._rows.items():
            row.show_shown(layer in layers)

    def show_all(self, shown: bool) -> None:
        """Show all that can be chosen of a layer where there is room for it, or its eye alone."""
        self._shows_all = shown
        self._smooth.setVisible(shown)
        self._give_room()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show in all rows what there is room for."""
        super().resizeEvent(event)
        self._give_room()

    def show_solo(self, alone: Layer | None) -> None:
        """Show which layer is alone on the picture; None for none."""
        for layer, row in self._rows.items():
            row.show_solo(layer is alone)

    def show_smooth(self, smooth: bool) -> None:
        """Show whether pictures are scaled smoothly."""
        with QSignalBlocker(self._smooth):
            self._smooth.setChecked(smooth)

    def _give_room(self) -> None:
        fits = self.width() >= max(row.breadth for row in self._rows.values())
        for row in self._rows.values():
            row.show_all(self._shows_all and fits)

    def _tell(self) -> None:
        self.layers_picked.emit(self.layers)

    def _pick_solo(self, layer: Layer, solo: bool) -> None:
        self.show_solo(layer if solo else None)
        self.solo_picked.emit(layer if solo else None)
