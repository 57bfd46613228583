"""Containers for docks: stacked parts, scrolled only where there is too little room."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import (
    TextLabel,
    Tone,
    plain_tip,
)
from spatialstudio.ui.widgets.texts import tr

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
        self._column = QVBoxLayout(content)
        self._column.setContentsMargins(em(0.9), em(0.3), em(0.9), em(0.5))
        self._column.setSpacing(em(1))
        self._column.addStretch()
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
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    edge = QFrame()
    edge.setProperty("kind", "edge")
    column.addWidget(content, 1)
    column.addWidget(edge)
    column.addWidget(foot)
    return both


def section(title: str, content: QWidget) -> QWidget:
    """Return content below a title."""
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(em(0.5))
    column.addWidget(TextLabel(title, Tone.HEADING))
    column.addWidget(content)
    return both


NARROWEST_TITLE_EM = 3


class DockTitle(QWidget):
    """Shows a dock's title; dragging it moves the dock, as Qt does."""

    def __init__(self, theme: Theme, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._theme = theme
        self._words = dock.windowTitle()
        self._title = title = TextLabel(self._words, Tone.HEADING)
        title.setWordWrap(False)
        title.setMinimumWidth(em(NARROWEST_TITLE_EM))
        title.setTextInteractionFlags(title.textInteractionFlags().NoTextInteraction)
        self._float = _button(tr("Float or dock {title}").format(title=dock.windowTitle()))
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._hide = _button(tr("Hide {title}").format(title=dock.windowTitle()))
        self._hide.clicked.connect(dock.close)
        self._row = row = QHBoxLayout(self)
        row.setContentsMargins(em(0.9), em(0.5), em(0.5), em(0.2))
        row.setSpacing(0)
        row.addWidget(title, 1)
        row.addWidget(self._float)
        row.addWidget(self._hide)
        theme.changed.connect(self._dress)
        self._dress()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Elide the title where there is too little room; the tooltip has the full text."""
        super().resizeEvent(event)
        self._row.activate()
        measure, room = self._title.fontMetrics(), self._title.width()
        shown = measure.elidedText(self._words, Qt.TextElideMode.ElideRight, room)
        self._title.setText(shown)
        self._title.setToolTip(plain_tip("" if shown == self._words else self._words))

    def _dress(self) -> None:
        self._float.setIcon(self._theme.icon("float", "faint"))
        self._hide.setIcon(self._theme.icon("close", "faint"))


def _button(name: str) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(plain_tip(name))
    button.setIconSize(QSize(em(0.8), em(0.8)))
    return button
