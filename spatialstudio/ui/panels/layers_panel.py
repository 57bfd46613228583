"""What is shown on the stage."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.ui.panel_api import Panel
from spatialstudio.ui.widgets.layer_list import LayerList
from spatialstudio.ui.widgets.picture_layers import Layer


class LayersPanel(Panel):
    """Lets the user switch layers; emits ``layers_picked`` and ``smoothing_picked``."""

    title = "Layers"
    layers_picked = Signal(object)
    smoothing_picked = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._list = LayerList()
        self._list.layers_picked.connect(self.layers_picked)
        self._list.smoothing_picked.connect(self.smoothing_picked)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._list)

    def toggle(self, layer: Layer) -> None:
        """Switch a layer, as by hand."""
        self._list.toggle(layer)
