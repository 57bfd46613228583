"""Labels on the picture, such as box names and lengths, placed without overlap."""

from collections.abc import Iterator
from itertools import chain
from math import sqrt

from PySide6.QtCore import QLineF, QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.fonts import POINT_SIZE
from spatialstudio.ui.theme.theme import (
    SMALL,
    em,
    font,
)

ROUNDING_EM = 0.2
PADDING = 0.7
"""Horizontal padding of a label, as a fraction of its height, both sides together."""
MOST_COVERED = 0.15
"""Maximum share of a picture covered by labels; smaller letters are used beyond it."""
BORDER = 1.0
"""Width of a box's border in pixels; its label aligns with it."""
SHIFTS = (0, 1, -1, 2, -2)
"""Vertical shifts of a note that would overlap another, in label heights."""


@frozen(kw_only=False)
class PictureLabel:
    """A label on the picture.

    Attributes:
        text: Its text.
        about: The labelled box; empty for a note at a point.
        colours: Background and text colour.
        opacity: [0, 1].
    """

    text: str
    about: QRectF
    colours: tuple[QColor, QColor]
    opacity: float

    @property
    def is_note(self) -> bool:
        """Whether it belongs to a point, not a box."""
        return self.about.isEmpty()

    def says_same(self, other: "PictureLabel") -> bool:
        """Return True if another label has the same text for the same box."""
        apart = self.about.topLeft() - other.about.topLeft()
        return self.text == other.text and apart.manhattanLength() < BORDER


class PictureLabels:
    """Collects labels while a picture is painted, then places and draws them.

    Args:
        frame: Rectangle that contains all labels.
    """

    def __init__(self, frame: QRectF) -> None:
        self._frame = frame
        self._labels: list[PictureLabel] = []

    def add_name(
        self, box: QRectF, text: str, colours: tuple[QColor, QColor], opacity: float = 1.0
    ) -> None:
        """Label a box: above it, inside where there is no room, else as close as possible.

        A box that two layers show is labelled once, by the later one.
        """
        label = PictureLabel(text, box, colours, opacity)
        self._labels = [*(each for each in self._labels if not each.says_same(label)), label]

    def add_note(
        self, middle: QPointF, text: str, colours: tuple[QColor, QColor], opacity: float = 1.0
    ) -> None:
        """Add a note around a point, as close as the frame and other notes allow."""
        self._labels.append(PictureLabel(text, QRectF(middle, middle), colours, opacity))

    def clear(self) -> None:
        """Discard the labels so far, as their content is dimmed."""
        self._labels.clear()

    def lay_out(self) -> list[tuple[PictureLabel, QRectF]]:
        """Return the rectangle of each label; notes first, as box labels are more flexible."""
        in_order = sorted(self._labels, key=lambda label: not label.is_note)
        letters = self._letters()
        taken: list[QRectF] = []
        for label in in_order:
            size = _size(label, letters).boundedTo(self._frame.size())
            taken.append(self._place_of(label, size, taken))
        return list(zip(in_order, taken, strict=True))

    def draw(self, painter: QPainter) -> None:
        """Draw all labels."""
        painter.setFont(self._letters())
        for label, place in self.lay_out():
            painter.setOpacity(label.opacity)
            (_draw_note if label.is_note else _draw_name)(painter, label, place)
        painter.setOpacity(1.0)

    def _letters(self) -> QFont:
        """Return a small font, reduced to the default size on a small picture."""
        letters = font(SMALL, bold=True)
        sizes = [_size(label, letters) for label in self._labels]
        covered = sum(size.width() * size.height() for size in sizes)
        room = self._frame.width() * self._frame.height() * MOST_COVERED
        if covered > room:
            usual = min(letters.pointSizeF(), SMALL * POINT_SIZE)
            letters.setPointSizeF(max(letters.pointSizeF() * sqrt(room / covered), usual))
        return letters

    def _place_of(self, label: PictureLabel, size: QSizeF, taken: list[QRectF]) -> QRectF:
        """Return the best free rectangle; the label's own corner if there is none."""
        places = chain(self._near(label, size), self._elsewhere(label, size))
        free = (place for place in places if not any(map(place.intersects, taken)))
        return next(free, self._held(label.about.topLeft(), size))

    def _near(self, label: PictureLabel, size: QSizeF) -> Iterator[QRectF]:
        """Yield the candidates at a box or point, best first."""
        box, width, height = label.about, size.width(), size.height()
        if label.is_note:
            for shift in SHIFTS:
                corner = QPointF(box.left() - width / 2, box.top() + (shift - 0.5) * height)
                yield self._held(corner, size)
            return
        left, right = box.left() - BORDER, box.right() + BORDER - width
        for top in (box.top() - height, box.top(), box.bottom(), box.bottom() - height):
            if self._frame.top() <= top <= self._frame.bottom() - height:
                yield self._held(QPointF(left, top), size)
                yield self._held(QPointF(right, top), size)

    def _elsewhere(self, label: PictureLabel, size: QSizeF) -> Iterator[QRectF]:
        """Yield candidates all over the frame, nearest to the label's own corner first."""
        corner = label.about.topLeft()
        across = range(int((self._frame.width() - size.width()) / size.height()) + 1)
        down = range(int(self._frame.height() / size.height()))
        spots = [
            self._frame.topLeft() + QPointF(column, row) * size.height()
            for row in down
            for column in across
        ]
        for spot in sorted(spots, key=lambda spot: QLineF(spot, corner).length()):
            yield QRectF(spot, size)

    def _held(self, corner: QPointF, size: QSizeF) -> QRectF:
        """Return the rectangle at a corner, moved into the frame."""
        frame = self._frame
        left = max(min(corner.x(), frame.right() - size.width()), frame.left())
        top = max(min(corner.y(), frame.bottom() - size.height()), frame.top())
        return QRectF(QPointF(left, top), size)


def _size(label: PictureLabel, letters: QFont) -> QSizeF:
    measure = QFontMetricsF(letters)
    padding = PADDING * measure.height()
    return QSizeF(measure.horizontalAdvance(label.text) + padding, measure.height() + 2)


def _draw_name(painter: QPainter, label: PictureLabel, place: QRectF) -> None:
    """Draw a label on its background, with a line to its box if they do not touch."""
    ground, ink = label.colours
    box = label.about
    if not place.intersects(box.adjusted(-BORDER, -BORDER, BORDER, BORDER)):
        painter.setPen(QPen(ground, 1.5))
        painter.drawLine(place.center(), _nearest(box, place.center()))
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRect(place)
    painter.setPen(ink)
    _write(painter, label.text, place)


def _draw_note(painter: QPainter, label: PictureLabel, place: QRectF) -> None:
    ground, ink = label.colours
    painter.setPen(QPen(ink, 1))
    painter.setBrush(ground)
    painter.drawRoundedRect(place, em(ROUNDING_EM), em(ROUNDING_EM))
    _write(painter, label.text, place)


def _write(painter: QPainter, text: str, place: QRectF) -> None:
    shown = painter.fontMetrics().elidedText(
        text, Qt.TextElideMode.ElideRight, round(place.width())
    )
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)


def _nearest(box: QRectF, spot: QPointF) -> QPointF:
    """Return the point of a box nearest to a point outside."""
    return QPointF(
        max(box.left(), min(spot.x(), box.right())), max(box.top(), min(spot.y(), box.bottom()))
    )
