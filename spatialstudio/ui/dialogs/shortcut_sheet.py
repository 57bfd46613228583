"""All keys on one sheet."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.actions import Actions
from spatialstudio.ui.commands.command import Menu
from spatialstudio.ui.dialogs.dialog_size import give_room
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.dock_column import DockRoom
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone

COLUMNS = (
    (Menu.FILE, Menu.EDIT, Menu.RUN, Menu.HELP),
    (Menu.COMPOSE, Menu.VIEW),
    (Menu.REPLAY, Menu.GALLERY),
)


class ShortcutSheet(QDialog):
    """Shows every action that has a key, by menu."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Keys and shortcuts"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        sheet = QWidget()
        row = QHBoxLayout(sheet)
        row.setContentsMargins(0, 0, em(0.8), 0)
        row.setSpacing(em(2))
        for menus in COLUMNS:
            column = QVBoxLayout()
            column.setSpacing(em(0.4))
            for menu in menus:
                column.addWidget(TextLabel(tr(menu.value).replace("&", ""), Tone.HEADING))
                column.addLayout(_keys_of(actions, menu))
                column.addSpacing(em(0.8))
            column.addStretch()
            row.addLayout(column)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        note = tr(
            "Replay keys work on the stage and the attention dock; letters rest while you type."
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(em(1.5), em(1.3), em(1.5), em(1))
        room = DockRoom(sheet)
        room.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # where it is larger than the window
        room.setAccessibleName(self.windowTitle())
        column.addWidget(room, 1)
        column.addWidget(TextLabel(note, Tone.MUTED))
        column.addWidget(buttons)
        bar = QSize(em(1), 0)  # for scrolling down, where the window is low
        give_room(self, self.sizeHint() + bar)


def _keys_of(actions: Actions, menu: Menu) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(em(1.2))
    grid.setVerticalSpacing(em(0.15))
    grid.setColumnStretch(0, 1)
    for row, (command, action) in enumerate(actions.of_menu(menu)):
        if keys := actions.keys_in_words(command):
            grid.addWidget(QLabel(action.text()), row, 0)
            label = QLabel(keys)
            label.setProperty("tone", "muted")
            grid.addWidget(label, row, 1, Qt.AlignmentFlag.AlignRight)
    return grid
