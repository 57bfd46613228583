"""The active theme: colours by name, tinted icons, and sizes in font units.

The layout scales with the text, as every size is a multiple of the line height.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QByteArray, QObject, QRectF, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QIcon,
    QPainter,
    QPixmap,
    QPixmapCache,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.palette import HEAT_STOPS, Palette

SMALL = 0.88
LARGE = 1.25
LOW_WINDOW_EM = 42
"""Window height below which the layout is compact."""
HEAT_LEVELS = 256
ICON_SIDE = 64


def em(count: float = 1.0) -> int:
    """Return ``count`` line heights of the application's font, in whole pixels."""
    return round(count * QFontMetricsF(QGuiApplication.font()).height())


def font(scale: float = 1.0, *, bold: bool = False) -> QFont:
    """Return the application's font, scaled, with tabular figures."""
    chosen = QFont(QGuiApplication.font())
    chosen.setPointSizeF(chosen.pointSizeF() * scale)
    chosen.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return chosen


def plot_font(scale: float = 1.0, *, bold: bool = False) -> QFont:
    """Return the font of plots: without tabular figures, which PDF readers take for no digits."""
    chosen = font(scale, bold=bold)
    chosen.clearFeatures()
    return chosen


class Theme(QObject):
    """Colours and icons of the active palette.

    Emits ``changed`` when the palette changes; painted widgets redraw then.

    Args:
        palette: The initial palette.
        icon_folder: Folder with one SVG per icon, drawn in ``currentColor``.

    Attributes:
        palette: The active palette; ``use`` sets it.
    """

    changed = Signal()

    def __init__(self, palette: Palette, icon_folder: Path) -> None:
        super().__init__()
        self.palette = palette
        self._tables: dict[tuple[str, ...], npt.NDArray[np.uint8]] = {}
        self._icons: dict[tuple[str, str], QIcon] = {}
        self.icon_folder = icon_folder

    def use(self, palette: Palette) -> None:
        """Set the palette and emit ``changed``."""
        self.palette = palette
        self._tables = {}
        self._icons = {}
        self.changed.emit()

    def colour(self, role: str, alpha: float = 1.0) -> QColor:
        """Return a colour by its role; ``alpha`` in [0, 1], 1 is solid."""
        colour = QColor(self.palette.colours[role])
        colour.setAlphaF(alpha)
        return colour

    def mention(self, hue: int, alpha: float = 1.0) -> QColor:
        """Return the hue of the object word at index ``hue``, the same in all views."""
        colour = QColor(self.palette.mention(hue))
        colour.setAlphaF(alpha)
        return colour

    def on_mention(self, hue: int) -> QColor:
        """Return the text colour on the hue of an object word."""
        return self.colour(self.palette.ink_on(self.palette.mention(hue)))

    def heat_table(self) -> npt.NDArray[np.uint8]:
        """Return (256, 3) sRGB, low to high: the colour-blind-safe attention colour map."""
        return self._table(*(f"heat_{number}" for number in range(1, HEAT_STOPS + 1)))

    def difference_table(self) -> npt.NDArray[np.uint8]:
        """Return (256, 3) sRGB, less to more, with the field background as the middle."""
        return self._table("bad", "raised", "good")

    def icon(self, name: str, role: str = "text") -> QIcon:
        """Return an icon in the colour of ``role``, with a faint disabled variant."""
        if (name, role) not in self._icons:
            icon = self._icons[name, role] = QIcon()
            icon.addPixmap(self._tinted(name, role), QIcon.Mode.Normal)
            icon.addPixmap(self._tinted(name, "faint"), QIcon.Mode.Disabled)
        return self._icons[name, role]

    def _table(self, *roles: str) -> npt.NDArray[np.uint8]:
        """Return a colour table interpolated evenly between roles."""
        if roles not in self._tables:
            stops = [self.colour(role) for role in roles]
            channels = np.array([[stop.red(), stop.green(), stop.blue()] for stop in stops])
            places = np.linspace(0, len(stops) - 1, HEAT_LEVELS)
            table = [np.interp(places, range(len(stops)), channel) for channel in channels.T]
            self._tables[roles] = np.stack(table, -1).round().astype(np.uint8)
        return self._tables[roles]

    def _tinted(self, name: str, role: str) -> QPixmap:
        """Return an icon's shape filled with the colour of a role."""
        pixmap = self._shape_of(name)
        painter = QPainter(pixmap)
        painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceIn)
        painter.fillRect(pixmap.rect(), QColor(self.palette.colours[role]))
        painter.end()
        return pixmap

    def _shape_of(self, name: str) -> QPixmap:
        file = self.icon_folder / f"{name}.svg"
        pixmap = QPixmap()
        if not QPixmapCache.find(str(file), pixmap):
            drawing = file.read_bytes()
            pixmap = QPixmap(ICON_SIDE, ICON_SIDE)
            pixmap.fill(QColor(0, 0, 0, 0))
            painter = QPainter(pixmap)
            QSvgRenderer(QByteArray(drawing)).render(painter, QRectF(pixmap.rect()))
            painter.end()
            QPixmapCache.insert(str(file), pixmap)
        return pixmap


def restyle(widget: QWidget, name: str, value: str) -> None:
    """Set a property that the style sheet selects by, and apply the style."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
