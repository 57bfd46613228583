"""A dialog of layout templates; one click writes the prompt."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from spatialstudio.application.compose.layouts import LAYOUTS, LayoutTemplate
from spatialstudio.ui.compose.widgets.layout_tile import LayoutTile
from spatialstudio.ui.framework.dialog_size import give_room
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.roving_focus import ROWS_AND_PLACES, RovingFocus
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

COLUMNS = 4
BAR_EM = 0.8
"""Room for a scroll bar next to the tiles."""


class LayoutDialog(QDialog):
    """Lets the user pick a layout; emits ``prompt_picked`` with its prompt and closes.

    All tiles share one tab stop; arrows move between tiles.

    Args:
        theme: Colours and icons.
        things: Objects of the current prompt, to arrange in the layout.
        parent: The window.
    """

    prompt_picked = Signal(str)

    def __init__(self, theme: Theme, things: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Start from a layout template"))
        self._things = things
        sheet = QWidget()
        grid = QGridLayout(sheet)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(em(0.7))
        tiles = [self._tile(theme, layout) for layout in LAYOUTS]
        for place, tile in enumerate(tiles):
            grid.addWidget(tile, place // COLUMNS, place % COLUMNS)
        rows = (tiles[start : start + COLUMNS] for start in range(0, len(tiles), COLUMNS))
        RovingFocus(self, ROWS_AND_PLACES).lead(*rows)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1.2), em(1), em(1.2), em(1.2))
        column.setSpacing(em(0.8))
        words = tr("The prompt is rewritten with its own objects; undo restores it.")
        column.addWidget(TextLabel(words, Tone.MUTED))
        column.addWidget(DockRoom(sheet), 1)
        give_room(self, self.sizeHint() + QSize(em(BAR_EM), 0))

    def _tile(self, theme: Theme, layout: LayoutTemplate) -> LayoutTile:
        blobs = tuple((spot.x, spot.y, spot.size) for spot in layout.spots)
        tile = LayoutTile(theme, tr(layout.name), layout.prompt(self._things), blobs)
        tile.clicked.connect(partial(self._pick, layout))
        return tile

    def _pick(self, layout: LayoutTemplate, _checked: bool = False) -> None:
        self.prompt_picked.emit(layout.prompt(self._things))
        self.accept()
