"""What is shown on the stage."""

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.layer_list import LayerList


class LayersPanel(Panel):
    """Lets the user switch layers and smooth scaling."""

    title = "Layers"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._stage = context.stage
        self._list = LayerList()
        self._list.layers_picked.connect(self._stage.show_layers)
        self._list.smoothing_picked.connect(self._stage.show_smooth)
        self._stage.layers_changed.connect(self._show)
        self._stage.smoothing_changed.connect(self._show)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._list)
        self._show()

    def _show(self) -> None:
        self._list.show_layers(self._stage.layers)
        self._list.show_smooth(self._stage.is_smooth)
