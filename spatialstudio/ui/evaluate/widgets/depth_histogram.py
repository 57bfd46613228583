"""Depth histograms of the objects' pixels on a common axis."""

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from spatialstudio.ui.evaluate.widgets.depth_plot import DepthPlot, DepthProfile
from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import PlainLabel

SIZE_EM = (14, 6.5)


class DepthHistogram(QWidget):
    """Shows histograms over depth; their common overlap is hatched.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.plot = DepthPlot(theme)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self._profiles: tuple[DepthProfile, ...] = ()
        self._names = PlainLabel()
        self._names.setTextFormat(Qt.TextFormat.RichText)  # every name is escaped
        self._names.setFont(font(SMALL, bold=True))
        self._names.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(self._names)
        column.addWidget(self.plot, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._show_names)

    def sizeHint(self) -> QSize:
        return QSize(*(em(side) for side in SIZE_EM))

    def show_profiles(self, profiles: Sequence[DepthProfile], words: str) -> None:
        """Show these histograms and their description."""
        self._profiles = tuple(profiles)
        self.plot.show_profiles(profiles)
        self.plot.describe(words)
        self._show_names()

    def _show_names(self) -> None:
        """Label each object in the hue of its curve."""
        hues = [self._theme.mention(each.hue).name() for each in self._profiles]
        names = (
            f'<span style="color: {hue}">{escape(each.name)}</span>'
            for hue, each in zip(hues, self._profiles, strict=True)
        )
        self._names.setText(" &nbsp; ".join(names))
