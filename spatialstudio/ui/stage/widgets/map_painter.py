"""Draws attention maps over a picture as tints and isolines, cached until they change."""

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPen

from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.array_images import tinted_image
from spatialstudio.ui.widgets.picture_layers import IsolineLayer, MapLayer

INNER_WIDTH = 2.4
OUTER_WIDTH = 1.2
HALO_WIDTH = 2.0
"""Width of the halo around a line, both sides together."""
HALO_OPACITY = 0.75
INNER_SHARE = 0.5
"""Isolines around at most this share of the mass are thick, others thin."""


class MapPainter:
    """Renders maps to images once and draws the cached images at each paint.

    Args:
        theme: Hues; a palette change renders the images again.
    """

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._layers: tuple[MapLayer, ...] = ()
        self._images: tuple[QImage, ...] | None = None
        theme.changed.connect(self._forget)

    def show_maps(self, layers: tuple[MapLayer, ...]) -> None:
        """Set the maps to draw, the last one on top."""
        self._layers = layers
        self._images = None

    def draw(self, painter: QPainter, whole: QRectF) -> None:
        """Draw all maps stretched over the whole picture, then their isolines."""
        if self._images is None:
            self._images = tuple(self._tinted(layer) for layer in self._layers)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        for image in self._images:
            painter.drawImage(whole, image)
        for layer in self._layers:
            for line in layer.isolines:
                self._draw_line(painter, whole, line, self._theme.mention(layer.hue))

    def _forget(self) -> None:
        self._images = None

    def _tinted(self, layer: MapLayer) -> QImage:
        colour = self._theme.mention(layer.hue, layer.opacity)
        return tinted_image(layer.weights, colour, layer.top)

    def _draw_line(
        self, painter: QPainter, whole: QRectF, line: IsolineLayer, colour: QColor
    ) -> None:
        corner, size = (whole.left(), whole.top()), (whole.width(), whole.height())
        pieces = [QLineF(*ends) for ends in (line.pieces * size + corner).reshape(-1, 4).tolist()]
        width = INNER_WIDTH if line.share <= INNER_SHARE else OUTER_WIDTH
        rim = self._theme.colour("raised", HALO_OPACITY)
        for ink, breadth in ((rim, width + HALO_WIDTH), (colour, width)):
            painter.setPen(QPen(ink, breadth, c=Qt.PenCapStyle.RoundCap))
            painter.drawLines(pieces)
