"""The shortcut settings and the sheet of all shortcuts."""

from collections.abc import Callable
from itertools import pairwise, product

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import (
    QHeaderView,
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.command import Command, Menu
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room, room_for
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import (
    SPACE,
    FlowLayout,
    column,
    grid,
    grow,
    push_button,
    row,
)
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    tr,
)
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.settings_dialog import SettingsPage

MOST_KEYS = 2
COMMAND_ROLE = Qt.ItemDataRole.UserRole
KEYS_EM = 10


class ShortcutsPage(SettingsPage):
    """Lets the user change shortcuts; conflicts are shown before they are reassigned."""

    title = "Shortcuts"

    def __init__(self, actions: Actions) -> None:
        super().__init__()
        self._actions = actions
        words = tr("Find a command or shortcut")
        self._find = QLineEdit(placeholderText=words, clearButtonEnabled=True)
        self._find.setAccessibleName(words)
        self._find.textChanged.connect(self._filter)
        self._tree = QTreeWidget(columnCount=2)
        self._tree.setAccessibleName(tr("Commands and shortcuts"))
        self._tree.setHeaderHidden(True)
        self._tree.setRootIsDecorated(False)
        self._tree.setUniformRowHeights(True)
        head = self._tree.header()
        head.setStretchLastSection(False)
        head.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        head.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)  # never elided
        self._tree.ensurePolished()  # otherwise row heights are computed before styling
        self._tree.currentItemChanged.connect(self._show_command)
        self._keys = QKeySequenceEdit(maximumSequenceLength=MOST_KEYS)
        self._keys.setAccessibleName(tr("Shortcut"))
        self._keys.setMinimumWidth(em(KEYS_EM))
        self._keys.keySequenceChanged.connect(self._look_for_clash)
        self._use = _button(tr("Assign shortcut"), self._take)
        self._none = _button(tr("Remove shortcut"), self._take_none)
        self._usual = _button(tr("Restore default"), self._take_usual)
        reset = _button(tr("Restore all defaults"), actions.use_usual_keys, "quiet")
        self._clash = TextLabel(tone=Tone.MUTED)
        foot = FlowLayout(em(0.4), self._keys, self._use, self._none, self._usual, reset)
        column(self._find, grow(self._tree), foot, self._clash, within=self, gap=0.5)
        self._fill()
        actions.keys_changed.connect(self._show_keys)

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
        said = "" if owner is None else tr("This shortcut is already assigned to “{name}”.")
        self._clash.setText(said.format(name=tr(owner.text).rstrip("…")) if owner else "")
        self._clash.setVisible(owner is not None)
        self._use.setText(tr("Reassign") if owner else tr("Assign shortcut"))
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


def _button(text: str, do: Callable[[], object], kind: str = "") -> QPushButton:
    button = push_button(text, do, kind=kind)
    button.setAutoDefault(False)
    return button


MOST_COLUMNS = 3
GAP_EM, EDGE_EM, BAR_EM = 2, 1.5, 0.8
"""Between columns, around them, and next to them for a scroll bar."""
BELOW_EM, FOOT_EM = 0.4, 4.8
"""Below each menu, and below all of them: the sheet's footer and margin."""


class ShortcutSheet(TitledDialog):
    """Shows every action with a shortcut, by menu."""

    def __init__(self, actions: Actions, parent: QWidget | None = None) -> None:
        super().__init__(tr("Keyboard shortcuts"), parent)
        note = tr(
            "Replay shortcuts work on the stage and in the docks of maps, PoS and numbers; "
            "single-letter shortcuts are inactive while you type."
        )
        room = DockRoom(self._sheet_of(actions))
        room.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # to scroll if larger than the window
        room.setAccessibleName(self.windowTitle())
        foot = row(grow(TextLabel(note, Tone.MUTED)), self.buttons())
        column(grow(room), foot, within=self, edges=(EDGE_EM, 0.8, EDGE_EM, 0.6))
        bar = QSize(em(1), 0)  # room for a vertical scroll bar
        give_room(self, self.sizeHint() + bar)

    def _sheet_of(self, actions: Actions) -> QWidget:
        """Return all shortcuts by menu, in as many columns as fit."""
        parts = [_keys_of(actions, menu) for menu in Menu]
        room = room_for(self) - QSize(em(2 * EDGE_EM + BAR_EM), em(FOOT_EM))
        counts = range(MOST_COLUMNS, 0, -1)
        fitting = (columns for count in counts if (columns := _broken(parts, count, room)))
        sheet = QWidget()
        stacks = (column(*menus, SPACE, gap=BELOW_EM) for menus in next(fitting, [parts]))
        row(*stacks, within=sheet, gap=GAP_EM, edges=(0, 0, BAR_EM, 0))
        return sheet


def _broken(parts: list[QWidget], count: int, room: QSize) -> list[list[QWidget]]:
    """Return parts in ``count`` columns in order, with balanced heights where possible.

    Empty if no arrangement is narrow enough.
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
    """Return the total width and maximum height of columns; called thousands of times."""
    widths, heights = [0] * count, [0] * count
    for (width, height), place in zip(sizes, places, strict=True):
        widths[place] = max(widths[place], width)
        heights[place] += height
    return sum(widths), max(heights)


def _keys_of(actions: Actions, menu: Menu) -> QWidget:
    """Return the shortcuts of one menu under its title."""
    part = QWidget()
    cells = grid(part, (1.2, 0), wide=0)
    cells.addWidget(TextLabel(tr(menu.value).replace("&", ""), Tone.HEADING), 0, 0, 1, 2)
    for place, (command, action) in enumerate(actions.of_menu(menu), start=1):
        if keys := actions.keys_in_words(command):
            cells.addWidget(PlainLabel(action.text()), place, 0)
            label = PlainLabel(keys)
            label.setProperty("tone", "muted")
            cells.addWidget(label, place, 1, Qt.AlignmentFlag.AlignRight)
    return part
