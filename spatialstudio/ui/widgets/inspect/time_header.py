"""What stands over the chart: whose curves these are, how the lanes lie, and the second run."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QToolButton, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.inspect.curve_legend import CurveLegend
from spatialstudio.ui.widgets.inspect.pos_curve import TimeContents

ICON_EM = 1.1


class TimeHeader(QWidget):
    """Shows the legend, and a menu of all that can be set beside the run.

    Args:
        theme: Its colours and icons.
        groups: The actions of the menu; a line stands between groups.
    """

    def __init__(self, theme: Theme, groups: tuple[tuple[QAction, ...], ...]) -> None:
        super().__init__()
        self._theme = theme
        self._legend = CurveLegend(theme)
        self._menu = QMenu(self)
        for group in groups:
            self._menu.addActions(group)
            self._menu.addSeparator()
        self._button = QToolButton()
        self._button.setAccessibleName(tr("Second run"))
        self._button.setToolTip(tr("What is set beside this run"))
        self._button.setIconSize(QSize(em(ICON_EM), em(ICON_EM)))
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._button.setMenu(self._menu)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.6))
        row.addWidget(self._legend, 1)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignTop)
        theme.changed.connect(self._dress)
        self._dress()

    def show_contents(self, contents: TimeContents) -> None:
        """Name the curves, and the run that stands beside."""
        self._legend.show_contents(contents)
        second = contents.second
        self._button.setText(tr("Compare") if second is None else second.name)

    def _dress(self) -> None:
        self._button.setIcon(self._theme.icon("compare"))
