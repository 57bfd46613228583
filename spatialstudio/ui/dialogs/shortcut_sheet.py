"""All keys on one sheet."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.actions import ACTIONS, Menu
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

COLUMNS = ((Menu.FILE, Menu.RUN, Menu.HELP), (Menu.REPLAY,), (Menu.VIEW,))


class ShortcutSheet(QDialog):
    """Shows every action that has a key, by menu."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Keys and shortcuts")
        row = QHBoxLayout()
        row.setSpacing(em(2.5))
        for menus in COLUMNS:
            column = QVBoxLayout()
            column.setSpacing(em(0.4))
            for menu in menus:
                column.addWidget(TextLabel(menu.value.replace("&", ""), Tone.HEADING))
                column.addLayout(_keys_of(menu))
                column.addSpacing(em(0.8))
            column.addStretch()
            row.addLayout(column)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        note = "Replay keys work on the stage and the attention dock; letters rest while you type."
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1.5), em(1.3), em(1.5), em(1))
        column.addLayout(row)
        column.addWidget(TextLabel(note, Tone.MUTED))
        column.addWidget(buttons)


def _keys_of(menu: Menu) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(em(1.2))
    grid.setVerticalSpacing(em(0.25))
    grid.setColumnStretch(0, 1)
    shown = [text for text in ACTIONS.values() if text.menu is menu and text.keys]
    for row, text in enumerate(shown):
        grid.addWidget(QLabel(text.text), row, 0)
        keys = QKeySequence(text.keys).toString(QKeySequence.SequenceFormat.NativeText)
        label = QLabel(keys)
        label.setProperty("tone", "muted")
        grid.addWidget(label, row, 1, Qt.AlignmentFlag.AlignRight)
    return grid
