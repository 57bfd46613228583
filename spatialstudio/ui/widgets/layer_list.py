"""What is shown on the picture: one switch a layer."""

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.picture_layers import Layer


class LayerList(QWidget):
    """Lets the user switch layers and smooth scaling.

    Emits ``layers_picked`` with the frozen set of layers in sight, ``smoothing_picked`` with the
    wish for smooth scaling, by the user's hand only.
    """

    layers_picked = Signal(object)
    smoothing_picked = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._switches: dict[Layer, QCheckBox] = {}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setVerticalSpacing(em(0.35))
        grid.setColumnStretch(0, 1)
        for row, layer in enumerate(Layer):
            switch = QCheckBox(layer.value)
            switch.setChecked(True)
            switch.toggled.connect(self._tell)
            key = QLabel(str(row + 1))
            key.setProperty("tone", "muted")
            grid.addWidget(switch, row, 0)
            grid.addWidget(key, row, 1)
            self._switches[layer] = switch
        self._smooth = QCheckBox("Smooth scaling")
        self._smooth.setChecked(True)
        self._smooth.toggled.connect(self.smoothing_picked)
        grid.addWidget(self._smooth, len(Layer), 0)

    @property
    def layers(self) -> frozenset[Layer]:
        """The layers in sight."""
        return frozenset(layer for layer, switch in self._switches.items() if switch.isChecked())

    def show_layers(self, layers: frozenset[Layer]) -> None:
        """Show which layers are switched on."""
        for layer, switch in self._switches.items():
            with QSignalBlocker(switch):
                switch.setChecked(layer in layers)

    def show_smooth(self, smooth: bool) -> None:
        """Show whether pictures are scaled smoothly."""
        with QSignalBlocker(self._smooth):
            self._smooth.setChecked(smooth)

    def _tell(self) -> None:
        self.layers_picked.emit(self.layers)
