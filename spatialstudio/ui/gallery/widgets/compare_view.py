"""The comparison of two pictures, with its mode selector."""

from functools import partial

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from spatialstudio.ui.gallery.widgets.compare_canvas import (
    CompareCanvas,
    ComparedPicture,
    CompareWay,
)
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.flow_layout import FlowLayout
from spatialstudio.ui.widgets.texts import tr


class CompareView(QWidget):
    """Shows a pair in one of four modes. Emits ``closed`` to return to the grid."""

    closed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._way = CompareWay.SLIDER
        self.canvas = CompareCanvas(theme)
        self.canvas.closed.connect(self.close_comparison)
        self.setFocusProxy(self.canvas)
        self._back = QToolButton()
        self._back.setText(tr("All runs"))
        self._back.setToolTip(tr("Back to all runs (Esc)"))
        self._back.setAccessibleName(tr("Back to all runs"))
        self._back.setIconSize(QSize(em(1), em(1)))
        self._back.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._back.clicked.connect(self.close_comparison)
        self._ways = QButtonGroup(self)
        row = FlowLayout(em(0.3))
        row.addWidget(self._back)
        for way in CompareWay:
            row.addWidget(self._button(way))
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.9), em(0.2), em(0.9), em(0.9))
        column.addLayout(row)
        column.addWidget(self.canvas, 1)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def way(self) -> CompareWay:
        """The comparison mode."""
        return self._way

    def show_pair(
        self, first: ComparedPicture, second: ComparedPicture, difference: ComparedPicture | None
    ) -> None:
        """Show two pictures in the last used mode."""
        self.canvas.show_pair(first, second, difference)
        self.show_way(self._way)

    def show_way(self, way: CompareWay) -> None:
        """Switch the comparison mode."""
        self._way = way
        self.canvas.show_way(way)
        self._ways.button(list(CompareWay).index(way)).setChecked(True)

    def close_comparison(self) -> None:
        """Stop the comparison and emit ``closed``."""
        self.canvas.stop()
        self.closed.emit()

    def _button(self, way: CompareWay) -> QToolButton:
        button = QToolButton()
        button.setText(tr(way.value))
        button.setCheckable(True)
        button.setProperty("kind", "segment")
        button.clicked.connect(partial(self.show_way, way))
        self._ways.addButton(button, list(CompareWay).index(way))
        return button

    def _dress(self) -> None:
        self._back.setIcon(self._theme.icon("previous"))
