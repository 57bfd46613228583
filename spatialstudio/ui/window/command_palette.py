"""The command palette: find a command or a dock by typing some of its letters."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, QSortFilterProxyModel, Qt
from PySide6.QtGui import (
    QAction,
    QIcon,
    QKeyEvent,
    QPalette,
    QPixmap,
    QShowEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHeaderView,
    QLayout,
    QLineEdit,
    QTreeView,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.command_button import ICON_EM
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr
from spatialstudio.ui.window.command_table import TABLE

WIDTH_EM = 36
TOP_EM = 3
"""Below the window's upper edge, under the bar with the palette's button."""
AROUND_EM = 5
"""Room of the window for the field, the edges, and the margin below."""
MOST_ROWS = 12
ACTION_ROLE = Qt.ItemDataRole.UserRole
LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@frozen(eq=False)
class DockEntry:
    """A dock in the palette.

    Attributes:
        title: Its title.
        workspace: Title of its workspace.
        show: Shows it.
    """

    title: str
    workspace: str
    show: Callable[[], object]


class LetterFilter(QSortFilterProxyModel):
    """Accepts rows that match the typed letters or words in name or tip, best match first."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = ""
        self.setDynamicSortFilter(True)
        self.sort(0)

    def look_for(self, text: str) -> None:
        """Set the search text."""
        self._wanted = text.casefold().strip()
        self.invalidate()

    def filterAcceptsRow(self, row: int, parent: object) -> bool:  # noqa: ARG002 - Qt's
        return match_rank(self._wanted, *self._texts(row)) is not None

    def lessThan(self, left: object, right: object) -> bool:
        """Sort by match rank; ties keep the order of the menus."""
        rows = [index.row() for index in (left, right)]  # type: ignore[attr-defined]
        ranks = [(match_rank(self._wanted, *self._texts(row)) or 0, row) for row in rows]
        return ranks[0] < ranks[1]

    def _texts(self, row: int) -> tuple[str, str]:
        model = self.sourceModel()
        name = " ".join(str(model.index(row, column).data()) for column in (0, 1))
        tip = str(model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole))
        return name.casefold(), tip.casefold()


def match_rank(wanted: str, text: str, tip: str = "") -> int | None:
    """Return the rank of a match, 0 best; None for no match.

    Args:
        wanted: Search text, in lower case.
        text: The name and its menu, in lower case.
        tip: Description, in lower case; matches only by word prefixes, in any order.
    """
    if text.startswith(wanted):
        return 0
    if any(word.startswith(wanted) for word in text.split()):
        return 1
    if wanted in text:
        return 2
    words = f"{text} {tip}".split()
    if all(any(word.startswith(part) for word in words) for part in wanted.split()):
        return 3
    letters = iter(text)
    return 4 if all(letter in letters for letter in wanted.replace(" ", "")) else None


class CommandPalette(QDialog):
    """Lists all enabled commands and all docks; Return triggers the selected one.

    Args:
        actions: The commands.
        docks: The docks of all workspaces.
        parent: The window.
    """

    def __init__(self, actions: Actions, docks: Sequence[DockEntry], parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Dialog | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle(tr("Find a command"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._window = parent
        self._actions = actions
        self._rows = QStandardItemModel(self)
        self._search = QLineEdit(placeholderText=tr("Search commands"))
        self._search.setAccessibleName(tr("Find a command"))
        self._search.installEventFilter(self)
        self._filter = LetterFilter()
        self._blank = _blank_icon()
        self._fill(docks)
        self._filter.setSourceModel(self._rows)
        self._list = QTreeView(headerHidden=True, rootIsDecorated=False, uniformRowHeights=True)
        self._none = TextLabel(tr("No matching command."), Tone.MUTED)
        self._lay_out()
        self._search.textChanged.connect(self._look_for)
        self._search.returnPressed.connect(self._do_chosen)
        actions.dressed.connect(self._dress)
        self._dress()
        self._look_for("")

    def _lay_out(self) -> None:
        frame = QFrame()
        frame.setProperty("kind", "popup")
        column(self._search, self._none, self._list, within=frame, edges=None)
        around = column(frame, within=self)
        around.setSizeConstraint(QLayout.SizeConstraint.SetFixedSize)
        frame.setFixedWidth(em(WIDTH_EM))
        self._list.setIconSize(QSize(em(ICON_EM), em(ICON_EM)))
        self._list.setAccessibleName(tr("Commands"))
        self._list.setModel(self._filter)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self._list.clicked.connect(self._do_chosen)
        header = self._list.header()
        header.setStretchLastSection(False)
        header.resizeSections(QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)

    def showEvent(self, event: QShowEvent) -> None:
        across = (self._window.width() - self.width()) // 2
        self.move(self._window.mapToGlobal(QPoint(across, em(TOP_EM))))
        super().showEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() is not QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if event.key() not in LIST_KEYS:
            return False
        self._list.keyPressEvent(event)
        return True

    def _fill(self, docks: Sequence[DockEntry]) -> None:
        for command in TABLE:
            if (action := self._actions[command]).isEnabled():
                menu, keys = tr(command.menu.value), self._actions.keys_in_words(command)
                self._rows.appendRow(_row(action, menu, keys))
        for dock in docks:
            action = QAction(tr("{title} dock").format(title=dock.title), self)
            action.setToolTip(plain_tip(tr("Show the dock {title}").format(title=dock.title)))
            action.triggered.connect(dock.show)
            self._rows.appendRow(_row(action, dock.workspace))

    def _dress(self) -> None:
        """Apply the theme's text colour to the icons."""
        quiet = self.palette().brush(QPalette.ColorRole.PlaceholderText)
        for row in range(self._rows.rowCount()):
            name, menu = self._rows.item(row, 0), self._rows.item(row, 1)
            icon = name.data(ACTION_ROLE).icon()
            name.setIcon(self._blank if icon.isNull() else icon)
            menu.setForeground(quiet)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange:
            self._dress()

    def _look_for(self, text: str) -> None:
        self._filter.look_for(text)
        height = self._list.sizeHintForRow(0)
        room = self._window.height() - em(TOP_EM + AROUND_EM)
        rows = min(self._filter.rowCount(), MOST_ROWS, room // max(height, 1))
        self._none.setVisible(rows == 0)
        self._list.setVisible(rows > 0)
        self._list.setFixedHeight(rows * height + 2 * self._list.frameWidth())
        self._list.setCurrentIndex(self._filter.index(0, 0))

    def _do_chosen(self) -> None:
        index = self._list.currentIndex().siblingAtColumn(0)
        action = index.data(ACTION_ROLE)
        if isinstance(action, QAction):
            self.accept()
            action.trigger()


def _row(action: QAction, place: str, keys: str = "") -> list[QStandardItem]:
    """Return the cells of an action: its text, where it is, and its keys."""
    item = QStandardItem(action.text().replace("&", ""))
    item.setToolTip(action.toolTip())
    item.setData(action, ACTION_ROLE)
    shortcut = QStandardItem(keys)
    shortcut.setTextAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return [item, QStandardItem(place.replace("&", "")), shortcut]


def _blank_icon() -> QIcon:
    """Return a transparent icon that aligns names without an icon."""
    pixmap = QPixmap(em(ICON_EM), em(ICON_EM))
    pixmap.fill(Qt.GlobalColor.transparent)
    return QIcon(pixmap)
