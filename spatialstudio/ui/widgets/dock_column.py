"""Containers for docks: stacked parts, scrolled only where there is too little room."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import SPACE, ThemedIcon, column, grow, row, tool_button
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

NARROWEST_EM = 7
LOWEST_EM = 2.5


class DockRoom(QScrollArea):
    """Shows content at its preferred size, scrolled where a dock has too little room.

    Args:
        content: The widget; it fills the available room.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        self._asked = (QSize(), QSize())
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        content.installEventFilter(self)

    def replace(self, content: QWidget) -> None:
        """Show other content; the previous widget stays as a hidden, disabled child."""
        self._content.removeEventFilter(self)
        if previous := self.takeWidget():
            previous.setParent(self)
            previous.setEnabled(False)
            previous.hide()
        self._content = content
        content.installEventFilter(self)
        self.setWidget(content)

    def sizeHint(self) -> QSize:
        hint = self._content.sizeHint()
        if self._content.hasHeightForWidth():
            hint.setHeight(self._content.heightForWidth(self.viewport().width()))
        return hint

    def minimumSizeHint(self) -> QSize:
        """Return a height of a few lines, so that large text does not outgrow the screen."""
        least = QSize(em(NARROWEST_EM), em(LOWEST_EM))
        return least.boundedTo(self._content.minimumSizeHint())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Update the size hint when the content's changes, at the cost of a window layout."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize):
            asked = (self.sizeHint(), self.minimumSizeHint())
            if asked != self._asked:
                self._asked = asked
                self.updateGeometry()
        return super().eventFilter(watched, event)


class DockColumn(DockRoom):
    """Shows widgets in a column at their preferred height.

    Args:
        parts: The widgets, from the top; ``add`` appends more.
    """

    def __init__(self, *parts: QWidget) -> None:
        content = QWidget()
        super().__init__(content)
        self._column = column(SPACE, within=content, gap=1, edges=(0.9, 0.3, 0.9, 0.5))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self.add(*parts)

    def add(self, *parts: QWidget) -> None:
        """Append widgets to the column.

        Add large widgets once the column has its final parent: Qt restyles all that is reparented.
        """
        for part in parts:
            self._column.insertWidget(self._column.count() - 1, part)


def over(content: QWidget, foot: QWidget) -> QWidget:
    """Return content above a footer that stays at the lower edge."""
    both, edge = QWidget(), QFrame()
    edge.setProperty("kind", "edge")
    column(grow(content), edge, foot, within=both, gap=0)
    return both


def section(title: str, content: QWidget) -> QWidget:
    """Return content below a title."""
    both = QWidget()
    column(TextLabel(title, Tone.HEADING), content, within=both, gap=0.5)
    return both


NARROWEST_TITLE_EM = 3
FLOAT_EM = 2
"""How far a dock moves when it starts to float, so that one sees that it floats."""


class FramedDock(QDockWidget):
    """A dock with a frame while it floats: its own title leaves it without the system's.

    Args:
        theme: Its colours.
        title: Its title.
        parent: Parent widget.
    """

    def __init__(self, theme: Theme, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self._theme = theme

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.isFloating():
            painter = QPainter(self)
            painter.setPen(self._theme.colour("faint"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
            painter.end()


def _float_or_dock(dock: QDockWidget) -> None:
    """Let a dock float beside its place, or return it to the front of its place."""
    if dock.isFloating():
        dock.setFloating(False)
        QTimer.singleShot(0, dock, dock.raise_)  # once Qt has put it among the tabs
    else:
        dock.setFloating(True)
        room, moved = dock.screen().availableGeometry(), dock.frameGeometry()
        moved.translate(em(FLOAT_EM), -em(FLOAT_EM))
        moved.moveRight(min(moved.right(), room.right()))
        moved.moveTop(max(moved.top(), room.top()))
        dock.move(moved.topLeft())


class DockTitle(QWidget):
    """Shows a dock's title; dragging it moves the dock, as Qt does."""

    def __init__(self, theme: Theme, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._words = dock.windowTitle()
        self._title = title = TextLabel(self._words, Tone.HEADING, wraps=False)
        title.setMinimumWidth(em(NARROWEST_TITLE_EM))
        title.setTextInteractionFlags(title.textInteractionFlags().NoTextInteraction)
        buttons = []
        for name, icon, do in (
            (tr("Float or dock {title}"), "float", lambda: _float_or_dock(dock)),
            (tr("Hide {title}"), "close", lambda: dock.close()),
        ):
            words = name.format(title=self._words)
            button = tool_button(do=do, name=words, tip=words, icon_em=0.8)
            ThemedIcon(button, theme, icon, "faint")
            buttons.append(button)
        self._row = row(grow(title), *buttons, within=self, gap=0, edges=(0.9, 0.5, 0.5, 0.2))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the title where there is too little room; the tooltip has the full text."""
        super().resizeEvent(event)
        self._row.activate()
        measure, room = self._title.fontMetrics(), self._title.width()
        shown = measure.elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        self._title.setText(shown)
        self._title.setToolTip(plain_tip("" if shown == self._words else self._words))
