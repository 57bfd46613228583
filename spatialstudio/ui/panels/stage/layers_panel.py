"""What is shown on the stage."""

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.stage.layer_list import LayerList
from spatialstudio.ui.widgets.stage.picture_layers import Layer
from spatialstudio.ui.window_settings import Density


class LayersPanel(Panel):
    """Lets the user switch layers, choose their looks, and have pictures scaled smoothly."""

    title = "Layers"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._stage = context.stage
        self._list = LayerList(context.theme)
        self._list.layers_picked.connect(self._stage.show_layers)
        self._list.look_picked.connect(self._stage.show_look)
        self._list.solo_picked.connect(self._stage.show_solo)
        self._list.smoothing_picked.connect(self._stage.show_smooth)
        self._stage.layers_changed.connect(self._show)
        self._stage.smoothing_changed.connect(self._show)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.2))
        column.addWidget(self._list)
        self._show()

    def use_density(self, density: Density) -> None:
        """Leave the eyes alone in the simple window."""
        self._list.show_all(density is Density.FULL)

    def _show(self) -> None:
        self._list.show_layers(self._stage.layers)
        self._list.show_solo(self._stage.solo)
        self._list.show_smooth(self._stage.is_smooth)
        for layer in Layer:
            self._list.row(layer).show_look(self._stage.look_of(layer))
