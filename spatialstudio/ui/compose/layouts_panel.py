"""Layout templates: a few in the simple density, all in a dialog; one click writes the prompt."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QWidget

from spatialstudio.application.compose.layouts import (
    LAYOUTS,
    LayoutTemplate,
    things_of,
)
from spatialstudio.application.session import SceneChanged
from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.compose.widgets.layout_tile import PICTURE_EM, LayoutTile
from spatialstudio.ui.framework.dialog_size import give_room
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import action_button, column, flow, grow, row
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.roving_focus import ALONG_THE_LINE, ROWS_AND_PLACES, RovingFocus
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

FEW = LAYOUTS[:8:2]
"""One layout per kind of arrangement; its reverse is the next entry."""
TILE_EM = (3.6, 2.7)
COLUMNS = 4
BAR_EM = 0.8
"""Room for a scroll bar next to the tiles."""


class LayoutsPanel(Panel):
    """Lets the user start from a layout or a sketch; all tiles share one tab stop."""

    title = "Layouts"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._signals = context.window_signals
        self._tiles = {
            layout: _tile(context.theme, layout, self._pick, size_em=TILE_EM) for layout in FEW
        }
        tiles = tuple(self._tiles.values())
        RovingFocus(self, ALONG_THE_LINE).lead(tiles)
        heading = TextLabel(tr(self.title), Tone.HEADING)
        sketch = action_button(context.actions[compose_commands.SKETCH], tr("Sketch"), "quiet")
        every = action_button(context.actions[compose_commands.LAYOUTS], tr("All…"), "quiet")
        column(row(grow(heading), sketch, every), flow(*tiles, gap=0.6), within=self, gap=0.3)

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

    def _pick(self, layout: LayoutTemplate, _checked: bool = False) -> None:
        self._signals.prompt_offered.emit(layout.prompt(things_of(self._session.scene)))
        self._signals.spots_offered.emit(layout.spots, False)


class LayoutDialog(QDialog):
    """Lets the user pick a layout; emits ``prompt_picked`` with its prompt and closes.

    Then it emits ``spots_picked`` with its ``Spot`` per object and whether the picture should have
    the objects there.

    All tiles share one tab stop; arrows move between tiles.

    Args:
        theme: Colours and icons.
        things: Objects of the current prompt, to arrange in the layout.
        parent: The window.
    """

    prompt_picked = Signal(str)
    spots_picked = Signal(object, bool)

    def __init__(self, theme: Theme, things: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Start from a layout template"))
        self._things = things
        sheet = QWidget()
        cells = QGridLayout(sheet)
        cells.setContentsMargins(0, 0, 0, 0)
        cells.setSpacing(em(0.7))
        tiles = [_tile(theme, layout, self._pick, things) for layout in LAYOUTS]
        for place, tile in enumerate(tiles):
            cells.addWidget(tile, place // COLUMNS, place % COLUMNS)
        rows = (tiles[start : start + COLUMNS] for start in range(0, len(tiles), COLUMNS))
        RovingFocus(self, ROWS_AND_PLACES).lead(*rows)
        words = tr(
            "The prompt is rewritten for this layout with its current objects; Undo restores it."
        )
        self._holds = QCheckBox(tr("Hold the places of the layout, not only its relations"))
        column(
            *(TextLabel(words, Tone.MUTED), self._holds, grow(DockRoom(sheet))),
            within=self,
            gap=0.8,
            edges=(1.2, 1, 1.2, 1.2),
        )
        give_room(self, self.sizeHint() + QSize(em(BAR_EM), 0))

    def _pick(self, layout: LayoutTemplate, _checked: bool = False) -> None:
        self.prompt_picked.emit(layout.prompt(self._things))
        self.spots_picked.emit(layout.spots, self._holds.isChecked())
        self.accept()


def _tile(
    theme: Theme,
    layout: LayoutTemplate,
    pick: Callable[[LayoutTemplate], object],
    things: Sequence[str] = (),
    size_em: tuple[float, float] = PICTURE_EM,
) -> LayoutTile:
    blobs = tuple((spot.x, spot.y, spot.size) for spot in layout.spots)
    tile = LayoutTile(theme, tr(layout.name), layout.prompt(things), blobs, size_em)
    tile.clicked.connect(partial(pick, layout))
    return tile
