"""A strip of perturbed pictures, each with its verdict."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPen
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.array_images import rgb_image
from spatialstudio.ui.widgets.builders import FlowLayout, clear, column
from spatialstudio.ui.widgets.outcome_mark import draw_outcome
from spatialstudio.ui.widgets.painting import FIXED, PaintedWidget, draw_text
from spatialstudio.ui.widgets.texts import TextLabel, plain_tip, tr

SIDE_EM, MARK_EM = 6.6, 1.4


@frozen(eq=False, kw_only=False)
class Crop:
    """One picture of the strip.

    Attributes:
        name: The perturbation.
        picture: (h, w, 3) uint8.
        outcome: Its outcome; None where an object was not found.
    """

    name: str
    picture: RgbImage
    outcome: Outcome | None


class CropTile(PaintedWidget):
    """Shows one crop with its verdict in the corner and its name under it."""

    def __init__(self, theme: Theme, crop: Crop) -> None:
        said = f"{crop.name}: {crop.outcome.value if crop.outcome else tr('not found')}"
        super().__init__(theme, accessibleName=said, toolTip=plain_tip(said), sizePolicy=FIXED)
        self._crop = crop
        self._image = rgb_image(crop.picture)

    def sizeHint(self) -> QSize:
        return QSize(em(SIDE_EM), em(SIDE_EM + 1))

    def draw(self, painter: QPainter) -> None:
        """Draw the picture, its outcome and its name."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        square = QRectF(0, 0, self.width(), self.width())
        painter.fillRect(square, self._theme.colour("sunken"))
        size = self._image.size().scaled(square.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRectF(0, 0, size.width(), size.height())
        place.moveCenter(square.center())
        painter.drawImage(place, self._image)
        painter.setPen(QPen(self._theme.colour("line"), 1))
        painter.drawRect(square.adjusted(0, 0, -1, -1))
        if self._crop.outcome is not None:
            mark = QRectF(0, 0, em(MARK_EM), em(MARK_EM))
            mark.moveBottomRight(square.bottomRight())
            draw_outcome(painter, self._theme, self._crop.outcome, mark)
        line = QRectF(0, square.bottom(), self.width(), self.height() - square.height())
        draw_text(painter, line, self._crop.name, (font(SMALL), self._theme.colour("muted")))


class CropStrip(QWidget):
    """Shows how stable the verdict is under small perturbations of the picture.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._count = TextLabel()
        tiles = QWidget()
        self._line = FlowLayout(em(0.5))
        tiles.setLayout(self._line)
        column(self._count, tiles, within=self, gap=0.4)

    def show_crops(self, crops: Sequence[Crop], count: str) -> None:
        """Show these crops, and how many of them agree."""
        self._count.setText(count)
        clear(self._line)
        for crop in crops:
            self._line.addWidget(CropTile(self._theme, crop))
