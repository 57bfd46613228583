"""The head of a dock: its title, and buttons to float and hide it."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QToolButton, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone, plain_tip

NARROWEST_EM = 3


class DockTitle(QWidget):
    """Shows a dock's title; dragging it moves the dock, as Qt does."""

    def __init__(self, theme: Theme, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._theme = theme
        self._words = dock.windowTitle()
        self._title = title = TextLabel(self._words, Tone.HEADING)
        title.setWordWrap(False)
        title.setMinimumWidth(em(NARROWEST_EM))
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
        """Shorten the title where there is too little room; the tip has all of it."""
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
