"""Rows, columns, grids, wrapped lines and buttons, built in one expression; sizes are in ``em``."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QUrl, SignalInstance
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.texts import plain_tip

Edges: TypeAlias = tuple[float, float, float, float]
"""Left, top, right and bottom margin."""
NO_EDGES: Edges = (0, 0, 0, 0)
Box = TypeVar("Box", bound=QBoxLayout)


class Placed(NamedTuple):
    """A part of a row or column with its stretch factor and alignment; without a part, a space."""

    part: QWidget | QLayout | None = None
    stretch: int = 0
    align: Qt.AlignmentFlag = Qt.AlignmentFlag(0)
    space_em: float = 0


Part: TypeAlias = QWidget | QLayout | Placed
SPACE = Placed()
"""A space that takes the free room."""


def grow(part: QWidget | QLayout, stretch: int = 1) -> Placed:
    """Return a part that takes the free room of its row or column."""
    return Placed(part, stretch)


def at_top(part: QWidget) -> Placed:
    """Return a part that stays at the upper edge of its row."""
    return Placed(part, align=Qt.AlignmentFlag.AlignTop)


def at_left(part: QWidget) -> Placed:
    """Return a part that stays at the left edge of its column."""
    return Placed(part, align=Qt.AlignmentFlag.AlignLeft)


def centred(part: QWidget) -> Placed:
    """Return a part in the horizontal middle of its column."""
    return Placed(part, align=Qt.AlignmentFlag.AlignHCenter)


def space(size_em: float) -> Placed:
    """Return a space of a fixed size."""
    return Placed(space_em=size_em)


def row(
    *parts: Part,
    within: QWidget | None = None,
    gap: float | None = None,
    edges: Edges | None = NO_EDGES,
) -> QHBoxLayout:
    """Return parts side by side.

    Args:
        parts: From the left.
        within: The widget that they fill; None for a layout within another.
        gap: Between parts; None for the style's.
        edges: Margins; None for the style's.
    """
    return _filled(QHBoxLayout() if within is None else QHBoxLayout(within), parts, gap, edges)


def column(
    *parts: Part,
    within: QWidget | None = None,
    gap: float | None = None,
    edges: Edges | None = NO_EDGES,
) -> QVBoxLayout:
    """Return parts from top to bottom; arguments as for ``row``."""
    return _filled(QVBoxLayout() if within is None else QVBoxLayout(within), parts, gap, edges)


def grid(
    within: QWidget, gaps: tuple[float, float], edges: Edges = NO_EDGES, *, wide: int = 1
) -> QGridLayout:
    """Return an empty grid.

    Args:
        within: The widget that it fills.
        gaps: Between columns, and between rows.
        edges: Margins.
        wide: The column that takes the free room.
    """
    cells = QGridLayout(within)
    cells.setContentsMargins(*map(em, edges))
    cells.setHorizontalSpacing(em(gaps[0]))
    cells.setVerticalSpacing(em(gaps[1]))
    cells.setColumnStretch(wide, 1)
    return cells


def pages(*widgets: QWidget) -> QStackedWidget:
    """Return a widget that shows one of several at a time, the first one at the beginning."""
    stack = QStackedWidget()
    for widget in widgets:
        stack.addWidget(widget)
    return stack


def discard(layout: QLayout, *widgets: QWidget) -> None:
    """Remove widgets from a layout and delete them."""
    for widget in widgets:
        layout.removeWidget(widget)
        widget.hide()
        widget.deleteLater()


def clear(layout: QLayout) -> None:
    """Delete all widgets of a layout."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def _filled(box: Box, parts: tuple[Part, ...], gap: float | None, edges: Edges | None) -> Box:
    if edges is not None:
        box.setContentsMargins(*map(em, edges))
    if gap is not None:
        box.setSpacing(em(gap))
    for each in parts:
        part, stretch, align, space_em = each if isinstance(each, Placed) else Placed(each)
        if isinstance(part, QWidget):
            box.addWidget(part, stretch, align)
        elif part is not None:
            box.addLayout(part, stretch)
        elif space_em:
            box.addSpacing(em(space_em))
        else:
            box.addStretch(stretch)
    return box


def flow(*widgets: QWidget, gap: float) -> QWidget:
    """Return a widget that arranges others in wrapped lines; ``gap`` is in ``em``."""
    whole = QWidget()
    whole.setLayout(FlowLayout(em(gap), *widgets))
    return whole


class FlowLayout(QLayout):
    """Lines of widgets, wrapped like words; the height follows from the width.

    Args:
        gap: Between widgets and between lines, in pixels.
        widgets: The first widgets.
    """

    def __init__(self, gap: int, *widgets: QWidget) -> None:
        super().__init__()
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        self._gap = gap
        self.setContentsMargins(0, 0, 0, 0)
        for widget in widgets:
            self.addWidget(widget)

    def addItem(self, item: QLayoutItem) -> None:
        """Append an item; called by Qt."""
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item; None beyond the last."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove and return an item; None beyond the last."""
        self.invalidate()
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines; Qt asks at each change of a neighbour."""
        if width not in self._heights:
            self._heights[width] = self._arrange(QRect(0, 0, width, 0), moves=False)
        return self._heights[width]

    def invalidate(self) -> None:
        """Discard the known heights; called by Qt when a widget changes."""
        super().invalidate()
        self._heights.clear()

    def setGeometry(self, room: QRect) -> None:
        super().setGeometry(room)
        self._arrange(room, moves=True)

    def sizeHint(self) -> QSize:
        sizes = [item.sizeHint() for item in self._shown()]
        gaps = self._gap * max(len(sizes) - 1, 0)
        width = sum(size.width() for size in sizes) + gaps
        return QSize(width, max((size.height() for size in sizes), default=0))

    def minimumSize(self) -> QSize:
        """Return the size of the largest widget."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _arrange(self, room: QRect, *, moves: bool) -> int:
        """Return the height of all lines; widgets in a line are centred vertically."""
        line: list[tuple[QLayoutItem, QSize, int]] = []
        x, y, height = room.left(), room.top(), 0
        for item in self._shown():
            size = item.sizeHint().boundedTo(QSize(room.width(), item.sizeHint().height()))
            size = size.expandedTo(item.minimumSize())
            if line and x + size.width() > room.right() + 1:
                self._place(line, y, height, moves=moves)
                line, x, y, height = [], room.left(), y + height + self._gap, 0
            line.append((item, size, x))
            x += size.width() + self._gap
            height = max(height, size.height())
        self._place(line, y, height, moves=moves)
        return y + height - room.top()

    def _place(
        self, line: list[tuple[QLayoutItem, QSize, int]], y: int, height: int, *, moves: bool
    ) -> None:
        for item, size, x in line if moves else ():
            top = y + (height - size.height()) // 2
            item.setGeometry(QRect(QPoint(x, top), size))


Slot = Callable[..., object] | SignalInstance


def push_button(
    text: str, do: Slot | None = None, *, kind: str = "", name: str = "", tip: str = ""
) -> QPushButton:
    """Return a button with a text.

    Args:
        text: Its label.
        do: Called when it is clicked.
        kind: Its style in the style sheet.
        name: Accessible name, where the text is not enough.
        tip: Tooltip.
    """
    button = QPushButton(text)
    _set_up(button, do, kind, name, tip)
    return button


def tool_button(
    text: str = "",
    do: Slot | None = None,
    *,
    kind: str = "",
    name: str = "",
    tip: str = "",
    icon_em: float | None = None,
) -> QToolButton:
    """Return a flat button; its text, if any, is next to its icon.

    Args:
        text: Its label.
        do: Called when it is clicked.
        kind: Its style in the style sheet.
        name: Accessible name, where the text is not enough.
        tip: Tooltip.
        icon_em: Side of its icon; None for the style's.
    """
    button = QToolButton()
    button.setText(text)
    if text and icon_em is not None:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    if icon_em is not None:
        button.setIconSize(QSize(em(icon_em), em(icon_em)))
    _set_up(button, do, kind, name, tip)
    return button


def action_button(action: QAction, text: str = "", kind: str = "") -> QPushButton:
    """Return a button for an action, enabled as it is; ``text`` may be shorter than its name."""
    name = action.text().rstrip("…")
    button = push_button(
        text or action.text(), action.trigger, kind=kind, name=name, tip=action.toolTip()
    )
    button.setEnabled(action.isEnabled())
    action.enabledChanged.connect(button.setEnabled)
    return button


def _set_up(button: QAbstractButton, do: Slot | None, kind: str, name: str, tip: str) -> None:
    if do is not None:
        button.clicked.connect(do)
    if kind:
        button.setProperty("kind", kind)
    button.setAccessibleName(name)
    button.setToolTip(plain_tip(tip))


class ThemedIcon(QObject):
    """Keeps the icon of a button in a colour of the theme; deleted along with the button.

    Args:
        button: Gets the icon.
        theme: Colours and icons.
        name: File name of the icon, without its suffix.
        role: The colour.
    """

    def __init__(
        self, button: QAbstractButton, theme: Theme, name: str, role: str = "text"
    ) -> None:
        super().__init__(button)
        self._button = button
        self._theme = theme
        self._icon = (name, role)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._button.setIcon(self._theme.icon(*self._icon))


class LinkButton(QPushButton):
    """Opens a web page with the desktop; only https addresses can be opened."""

    def __init__(self) -> None:
        super().__init__()
        self._address = ""
        self.setProperty("kind", "link")
        self.setAutoDefault(False)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.clicked.connect(self._open)

    def show_link(self, text: str, address: str) -> None:
        """Show a text; it can be clicked if the address is one of https. Hidden while empty."""
        self._address = address
        self.setText(text.replace("&", "&&"))
        self.setAccessibleName(text)
        self.setAccessibleDescription(address)
        self.setToolTip(plain_tip(address))
        self.setEnabled(is_page(address))
        self.setVisible(bool(text))

    def _open(self) -> None:
        QDesktopServices.openUrl(QUrl(self._address))


def is_page(address: str) -> bool:
    """Return True for a valid https address that names a host."""
    url = QUrl(address, QUrl.ParsingMode.StrictMode)
    return url.isValid() and url.scheme() == "https" and bool(url.host())
