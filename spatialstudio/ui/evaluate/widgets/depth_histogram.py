"""How far away the pixels of each thing are: one histogram a thing on a common axis."""

from collections.abc import Sequence
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from spatialstudio.ui.evaluate.widgets.depth_plot import DepthProfile
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import PlainLabel, plain_tip
from spatialstudio.ui.widgets.texts import tr

if TYPE_CHECKING:
    from spatialstudio.ui.evaluate.widgets.depth_plot import DepthPlot

SIZE_EM = (14, 6.5)


class DepthHistogram(QWidget):
    """Shows histograms over depth; what they share is hatched.

    Args:
        theme: The look.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        self._profiles: tuple[DepthProfile, ...] = ()
        self._names = PlainLabel()
        self._names.setFont(font(SMALL, bold=True))
        self._names.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._column.addWidget(self._names)
        self.setAccessibleName(tr("Depth of the things"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._show_names)

    def sizeHint(self) -> QSize:
        return QSize(*(em(side) for side in SIZE_EM))

    def show_profiles(self, profiles: Sequence[DepthProfile], words: str) -> None:
        """Show these histograms, and in words what they say."""
        self._profiles = tuple(profiles)
        self._plot.show_profiles(profiles)
        self._show_names()
        self.setAccessibleDescription(words)
        self.setToolTip(plain_tip(words))

    def _show_names(self) -> None:
        """Write each thing's name in the hue of its curve."""
        hues = [self._theme.mention(each.hue).name() for each in self._profiles]
        names = (
            f'<span style="color: {hue}">{escape(each.name)}</span>'
            for hue, each in zip(hues, self._profiles, strict=True)
        )
        self._names.setText(" &nbsp; ".join(names))

    @cached_property
    def _plot(self) -> "DepthPlot":
        """The plot; its library is loaded when there is something to show."""
        from spatialstudio.ui.evaluate.widgets.depth_plot import DepthPlot

        plot = DepthPlot(self._theme)
        self._column.addWidget(plot)
        plot.show()
        return plot
