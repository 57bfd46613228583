"""Where objects ended up, compared with their places: outlines, arrows and distances."""

from collections.abc import Hashable

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPainterPath, QPen, QTransform

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.painting import draw_rounded, draw_text
from spatialstudio.ui.widgets.picture_label import PictureLabels
from spatialstudio.ui.widgets.stage_overlay import PicturePlace, StageOverlay

OUTLINE_ALPHA = 0.9
HEAD_EM = 0.6
"""Length of an arrow head."""
SHORT_EM = 3
"""Length of an arrow below which its head is at the name of the object."""
ABOVE_EM = 1.6
"""Height of a distance above the place."""
HEAD_ANGLE = 25
"""Degrees between an arrow and a side of its head."""


@frozen(kw_only=False, eq=False)
class FoundMark:
    """An object of a finished picture with its place.

    Attributes:
        key: Id of the object.
        phrase: Its name.
        hue: Index of its colour.
        target: The place that the picture should have it at, fractions of the sides.
        found: Where it is; None if it was not detected.
        outline: Border of its mask or box, fractions of the sides.
        distance: Short text of the distance: "12 %".
        sentence: The same for screen readers.
    """

    key: Hashable
    phrase: str
    hue: int
    target: QPointF
    found: QPointF | None
    outline: QPainterPath
    distance: str
    sentence: str


def draw_found(painter: QPainter, theme: Theme, mark: FoundMark, whole: QRectF) -> None:
    """Draw the outline of an object and an arrow to it from its place.

    Args:
        painter: Where to draw.
        theme: Colours.
        mark: The object.
        whole: Rectangle of the whole picture, in the painter's coordinates.
    """
    if mark.found is None:
        return
    unit = QTransform(whole.width(), 0, 0, whole.height(), whole.left(), whole.top())
    colour = theme.mention(mark.hue, OUTLINE_ALPHA)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(colour, 1.5))
    painter.drawPath(unit.map(mark.outline))
    way = QLineF(unit.map(mark.target), unit.map(mark.found))
    painter.setPen(QPen(colour, 2))
    painter.drawEllipse(way.p1(), 3, 3)
    if way.length() > em(HEAD_EM):
        painter.drawLine(way)
        for angle in (HEAD_ANGLE, -HEAD_ANGLE):
            side = QLineF(way.p2(), way.p1())
            side.setLength(em(HEAD_EM))
            side.setAngle(side.angle() + angle)
            painter.drawLine(side)


def draw_distance(painter: QPainter, theme: Theme, mark: FoundMark, whole: QRectF) -> None:
    """Write the distance of an object that was found; arguments as for ``draw_found``."""
    if mark.found is not None:
        box = distance_box(mark, whole)
        draw_rounded(painter, box, theme.colour("raised"), QPen(theme.mention(mark.hue), 1))
        draw_text(painter, box, mark.distance, (font(SMALL), theme.colour("text")))


def distance_box(mark: FoundMark, whole: QRectF) -> QRectF:
    """Return where the distance is written: at the head of the arrow, or above a short one.

    Args:
        mark: The object.
        whole: Rectangle of the whole picture, in the painter's coordinates.

    Returns:
        A rectangle inside the picture; empty for an object that was not found.
    """
    if mark.found is None:
        return QRectF()
    words = QFontMetricsF(font(SMALL))
    box = QRectF(0, 0, words.horizontalAdvance(mark.distance) + em(0.8), words.height() + 2)
    unit = QTransform(whole.width(), 0, 0, whole.height(), whole.left(), whole.top())
    way = QLineF(unit.map(mark.target), unit.map(mark.found))
    if way.length() < em(SHORT_EM):
        box.moveCenter(way.p1() - QPointF(0, em(ABOVE_EM)))
    else:
        step = way.unitVector()
        reach = QPointF(box.width() / 2 + em(0.2), box.height() / 2 + em(0.2))
        box.moveCenter(way.p2() + QPointF(step.dx() * reach.x(), step.dy() * reach.y()))
    box.moveLeft(min(max(box.left(), whole.left()), whole.right() - box.width()))
    box.moveTop(min(max(box.top(), whole.top()), whole.bottom() - box.height()))
    return box


class FoundOverlay(StageOverlay):
    """Shows on the finished picture how far objects are from their places.

    Args:
        theme: Colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._marks: tuple[FoundMark, ...] = ()

    def show_found(self, marks: tuple[FoundMark, ...]) -> None:
        """Show these objects; none for none."""
        if marks or self._marks:
            self._marks = marks
            self.changed.emit()

    def draw(self, painter: QPainter, place: PicturePlace, labels: PictureLabels) -> None:
        """Draw the outlines and arrows, and label them with the distances."""
        for mark in self._marks:
            draw_found(painter, self._theme, mark, place.whole)
            if mark.found is not None:
                colours = self._theme.colour("raised"), self._theme.mention(mark.hue)
                labels.add_note(distance_box(mark, place.whole).center(), mark.distance, colours)

    def words(self) -> str:
        """Return the distances."""
        return " ".join(mark.sentence for mark in self._marks)
