"""The head of a dock: its title, and buttons to float and hide it."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QToolButton, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone


class DockTitle(QWidget):
    """Shows a dock's title; dragging it moves the dock, as Qt does."""

    def __init__(self, theme: Theme, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._theme = theme
        title = TextLabel(dock.windowTitle(), Tone.HEADING)
        title.setWordWrap(False)
        title.setTextInteractionFlags(title.textInteractionFlags().NoTextInteraction)
        self._float = _button(tr("Float or dock {title}").format(title=dock.windowTitle()))
        self._float.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        self._hide = _button(tr("Hide {title}").format(title=dock.windowTitle()))
        self._hide.clicked.connect(dock.close)
        row = QHBoxLayout(self)
        row.setContentsMargins(em(0.9), em(0.5), em(0.5), em(0.2))
        row.setSpacing(0)
        row.addWidget(title, 1)
        row.addWidget(self._float)
        row.addWidget(self._hide)
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        self._float.setIcon(self._theme.icon("float", "faint"))
        self._hide.setIcon(self._theme.icon("close", "faint"))


def _button(name: str) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.setIconSize(QSize(em(0.8), em(0.8)))
    return button
