"""A small choice of layouts for the simple density; one click arranges the prompt's objects."""

from functools import partial

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from spatialstudio.application.compose.layouts import (
    LAYOUTS,
    LayoutTemplate,
    things_of,
)
from spatialstudio.application.session import SceneChanged
from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.compose.widgets.layout_tile import LayoutTile
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.flow_layout import FlowLayout
from spatialstudio.ui.widgets.roving_focus import ALONG_THE_LINE, RovingFocus
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

FEW = LAYOUTS[:8:2]
"""One layout per kind of arrangement; its reverse is the next entry."""
TILE_EM = (3.6, 2.7)


class LayoutsPanel(Panel):
    """Lets the user start from a layout or a sketch; all tiles share one tab stop."""

    title = "Layouts"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._prompt_offered = context.window_signals.prompt_offered
        self._tiles = {layout: self._tile(context, layout) for layout in FEW}
        RovingFocus(self, ALONG_THE_LINE).lead(tuple(self._tiles.values()))
        tiles = QWidget()
        row = FlowLayout(em(0.6))
        tiles.setLayout(row)
        for tile in self._tiles.values():
            row.addWidget(tile)
        head = QHBoxLayout()
        head.addWidget(TextLabel(tr(self.title), Tone.HEADING), 1)
        head.addWidget(_button(tr("Sketch"), context.actions[compose_commands.SKETCH]))
        head.addWidget(_button(tr("All…"), context.actions[compose_commands.LAYOUTS]))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.3))
        column.addLayout(head)
        column.addWidget(tiles)

    def handle(self, event: object) -> None:
        """Update the prompt that each layout would write with the current objects."""
        match event:
            case SceneChanged():
                things = things_of(self._session.scene)
                for layout, tile in self._tiles.items():
                    tile.show_prompt(layout.prompt(things))

    def use_density(self, density: Density) -> None:
        """Hide the layouts at the full density, to make room for the settings."""
        self.setVisible(density is Density.SIMPLE)

    def _tile(self, context: WindowContext, layout: LayoutTemplate) -> LayoutTile:
        blobs = tuple((spot.x, spot.y, spot.size) for spot in layout.spots)
        tile = LayoutTile(context.theme, tr(layout.name), layout.prompt(), blobs, TILE_EM)
        tile.clicked.connect(partial(self._pick, layout))
        return tile

    def _pick(self, layout: LayoutTemplate, _checked: bool = False) -> None:
        self._prompt_offered.emit(layout.prompt(things_of(self._session.scene)))


def _button(text: str, action: QAction) -> QPushButton:
    button = QPushButton(text)
    button.setProperty("kind", "quiet")
    button.setAccessibleName(action.text().rstrip("…"))
    button.setToolTip(action.toolTip())
    button.clicked.connect(action.trigger)
    return button
