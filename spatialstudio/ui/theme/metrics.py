"""Sizes in font units, so that the layout scales with the text."""

from PySide6.QtGui import QFont, QFontMetricsF, QGuiApplication

SMALL = 0.88
LARGE = 1.25
LOW_WINDOW_EM = 42
"""Window height below which the layout is compact."""


def em(count: float = 1.0) -> int:
    """Return ``count`` line heights of the application's font, in whole pixels."""
    return round(count * QFontMetricsF(QGuiApplication.font()).height())


def font(scale: float = 1.0, *, bold: bool = False) -> QFont:
    """Return the application's font, scaled, with tabular figures."""
    chosen = QFont(QGuiApplication.font())
    chosen.setPointSizeF(chosen.pointSizeF() * scale)
    chosen.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return chosen
