"""All keys on one sheet."""

from itertools import pairwise, product

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.actions import Actions
from spatialstudio.ui.commands.command import Menu
from spatialstudio.ui.dialogs.dialog_size import give_room, room_for
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.dock_column import DockRoom
from spatialstudio.ui.widgets.basic.text_label import PlainLabel, TextLabel, Tone

MOST_COLUMNS = 3
GAP_EM, EDGE_EM, BAR_EM = 2, 1.5, 0.8
"""Between columns, around them, and beside them for a scroll bar."""
BELOW_EM, FOOT_EM = 1, 5.5
"""Below a menu's keys, and below them all: the foot of the sheet and its edges."""


class ShortcutSheet(QDialog):
    """Shows every action that has a key, by menu."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys and shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        sheet = self._sheet_of(actions)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        note = tr(
            "Replay keys work on the stage and the attention dock; letters rest while you type."
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(em(EDGE_EM), em(1.1), em(EDGE_EM), em(1))
        room = DockRoom(sheet)
        room.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where it is larger than the window
        room.setAccessibleName(self.windowTitle())
        column.addWidget(room, 1)
        foot = QHBoxLayout()
        foot.addWidget(TextLabel(note, Tone.MUTED), 1)
        foot.addWidget(buttons)
        column.addLayout(foot)
        bar = QSize(em(1), 0)  # for scrolling down, where the window is low
        give_room(self, self.sizeHint() + bar)

    def _sheet_of(self, actions: Actions) -> QWidget:
        """Return all keys by menu, in as many columns as there is room for."""
        parts = [_keys_of(actions, menu) for menu in Menu]
        room = room_for(self) - QSize(em(2 * EDGE_EM + BAR_EM), em(FOOT_EM))
        counts = range(MOST_COLUMNS, 0, -1)
        fitting = (columns for count in counts if (columns := _broken(parts, count, room)))
        sheet = QWidget()
        row = QHBoxLayout(sheet)
        row.setContentsMargins(0, 0, em(BAR_EM), 0)
        row.setSpacing(em(GAP_EM))
        for column in next(fitting, [parts]):
            down = QVBoxLayout()
            down.setSpacing(em(BELOW_EM))
            for part in column:
                down.addWidget(part)
            down.addStretch()
            row.addLayout(down)
        return sheet


def _broken(parts: list[QWidget], count: int, room: QSize) -> list[list[QWidget]]:
    """Return parts in that many columns, not too high and in order, as far as that can be.

    Empty where no way to break them is narrow enough.
    """
    below, breadth = em(BELOW_EM), room.width() - em(GAP_EM) * (count - 1)
    hints = (part.sizeHint() for part in parts)
    sizes = [(size.width(), size.height() + below) for size in hints]
    best: tuple[int, int, tuple[int, ...]] | None = None
    for places in product(range(count), repeat=len(parts)):
        width, height = _extent(sizes, places, count)
        if width <= breadth:
            leaps = sum(after < before for before, after in pairwise(places))
            found = max(height, room.height()), leaps, places
            best = found if best is None else min(best, found)
    if best is None:
        return []
    placed = list(zip(parts, best[2], strict=True))
    return [[part for part, place in placed if place == number] for number in range(count)]


def _extent(sizes: list[tuple[int, int]], places: tuple[int, ...], count: int) -> tuple[int, int]:
    """Return how wide columns are together, and how high the highest is; thousands are tried."""
    widths, heights = [0] * count, [0] * count
    for (width, height), place in zip(sizes, places, strict=True):
        widths[place] = max(widths[place], width)
        heights[place] += height
    return sum(widths), max(heights)


def _keys_of(actions: Actions, menu: Menu) -> QWidget:
    """Return the keys of one menu under its title."""
    part = QWidget()
    grid = QGridLayout(part)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(em(1.2))
    grid.setVerticalSpacing(em(0.08))
    grid.setColumnStretch(0, 1)
    grid.addWidget(TextLabel(tr(menu.value).replace("&", ""), Tone.HEADING), 0, 0, 1, 2)
    for row, (command, action) in enumerate(actions.of_menu(menu), start=1):
        if keys := actions.keys_in_words(command):
            grid.addWidget(PlainLabel(action.text()), row, 0)
            label = PlainLabel(keys)
            label.setProperty("tone", "muted")
            grid.addWidget(label, row, 1, Qt.AlignmentFlag.AlignRight)
    return part
