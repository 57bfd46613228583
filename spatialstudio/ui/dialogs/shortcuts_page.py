"""The user's own keys: every command with its keys, and a field to give it others."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
)

from spatialstudio.ui.actions import Actions
from spatialstudio.ui.commands.command import Command
from spatialstudio.ui.commands.table import TABLE
from spatialstudio.ui.dialogs.settings_dialog import SettingsPage
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.flow_layout import FlowLayout
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone

MOST_KEYS = 2
COMMAND_ROLE = Qt.ItemDataRole.UserRole
KEYS_EM = 10


class ShortcutsPage(SettingsPage):
    """Lets the user choose keys. Keys that belong to another command are told before they move."""

    title = "Shortcuts"

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        self._find = QLineEdit()
        self._find.setPlaceholderText(tr("Find a command or its keys"))
        self._find.setAccessibleName(tr("Find a command or its keys"))
        self._find.setClearButtonEnabled(True)
        self._find.textChanged.connect(self._filter)
        self._tree = QTreeWidget()
        self._tree.setAccessibleName(tr("Commands and their keys"))
        self._tree.setHeaderHidden(True)
        self._tree.setColumnCount(2)
        self._tree.setRootIsDecorated(False)
        self._tree.setUniformRowHeights(True)
        head = self._tree.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)  # keys are never cut
        self._tree.ensurePolished()  # else the rows get their heights before their style
        self._tree.currentItemChanged.connect(self._show_command)
        self._keys = QKeySequenceEdit()
        self._keys.setAccessibleName(tr("Keys"))
        self._keys.setMaximumSequenceLength(MOST_KEYS)
        self._keys.keySequenceChanged.connect(self._look_for_clash)
        self._use = _button(tr("Use these keys"), self._take)
        self._none = _button(tr("No keys"), self._take_none)
        self._usual = _button(tr("Usual keys"), self._take_usual)
        self._all = _button(tr("Usual keys for all"), actions.use_usual_keys)
        self._clash = TextLabel(tone=Tone.MUTED)
        self._lay_out()
        self._fill()
        actions.keys_changed.connect(self._show_keys)

    def _lay_out(self) -> None:
        self._keys.setMinimumWidth(em(KEYS_EM))
        self._all.setProperty("kind", "quiet")
        foot = FlowLayout(em(0.4))
        for part in (self._keys, self._use, self._none, self._usual, self._all):
            foot.addWidget(part)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.5))
        column.addWidget(self._find)
        column.addWidget(self._tree, 1)
        column.addLayout(foot)
        column.addWidget(self._clash)

    def _fill(self) -> None:
        for command in TABLE:
            item = QTreeWidgetItem([tr(command.text).rstrip("…")])
            item.setData(0, COMMAND_ROLE, command)
            menu = tr(command.menu.value).replace("&", "")
            item.setToolTip(0, f"{menu}: {tr(command.tip or command.text)}")
            self._tree.addTopLevelItem(item)
        self._show_keys()
        self._tree.setCurrentItem(self._items()[0][0])

    def _items(self) -> list[tuple[QTreeWidgetItem, Command]]:
        rows = (self._tree.topLevelItem(row) for row in range(self._tree.topLevelItemCount()))
        return [(item, item.data(0, COMMAND_ROLE)) for item in rows if item is not None]

    def _show_keys(self) -> None:
        for item, command in self._items():
            item.setText(1, self._actions.keys_in_words(command))
        self._show_command()

    def _filter(self, text: str) -> None:
        wanted = text.casefold()
        for item, _ in self._items():
            words = f"{item.text(0)} {item.text(1)}".casefold()
            item.setHidden(wanted not in words)

    @property
    def _command(self) -> Command | None:
        item = self._tree.currentItem()
        command = None if item is None else item.data(0, COMMAND_ROLE)
        return command if isinstance(command, Command) else None

    def _show_command(self) -> None:
        if (command := self._command) is not None:
            self._keys.setKeySequence(self._actions[command].shortcut())
            self._look_for_clash()

    def _look_for_clash(self) -> None:
        command, keys = self._command, self._keys.keySequence()
        if command is None:
            return
        owner = self._actions.clash(command, keys)
        said = "" if owner is None else tr("These keys belong to “{name}”.")
        self._clash.setText(said.format(name=tr(owner.text).rstrip("…")) if owner else "")
        self._clash.setVisible(owner is not None)
        self._use.setText(tr("Take them from there") if owner else tr("Use these keys"))
        self._use.setEnabled(keys != self._actions[command].shortcut())

    def _take(self) -> None:
        command, keys = self._command, self._keys.keySequence()
        if command is None:
            return
        while (owner := self._actions.clash(command, keys)) is not None:
            self._actions.use_keys(owner, QKeySequence())
        self._actions.use_keys(command, keys)

    def _take_none(self) -> None:
        self._keys.clear()
        self._take()

    def _take_usual(self) -> None:
        if (command := self._command) is not None:
            self._keys.setKeySequence(QKeySequence(command.keys))
            self._look_for_clash()
            if self._use.isEnabled() and not self._clash.text():
                self._take()


def _button(text: str, do: object) -> QPushButton:
    button = QPushButton(text)
    button.setAutoDefault(False)
    button.clicked.connect(do)
    return button
