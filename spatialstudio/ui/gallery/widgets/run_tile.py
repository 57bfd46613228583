"""A tile of the gallery: thumbnail, verdict, seed and marks."""

from itertools import cycle
from math import cos, pi, sin

from PySide6.QtCore import QObject, QPointF, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QImage,
    QPainter,
    QPainterPath,
    QPainterStateGuard,
    QPen,
    QPixmap,
    QPolygonF,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.outcome_mark import draw_outcome
from spatialstudio.ui.widgets.painting import draw_rounded, draw_text, elided, painting
from spatialstudio.ui.widgets.texts import tr

CAPTION_EM = 1.5
ROUNDING_EM = 0.3
MARGIN_EM = 0.28
"""Padding of a selected tile's background."""
STAR_EM = 0.68
REJECTED_OPACITY = 0.3
POINTS = 5
INNER = 0.45


@frozen(eq=False)
class TileFace:
    """Contents of a tile.

    Attributes:
        picture: None while it is loading, or when the file is missing.
        outcome: Of all relations together; None if not evaluated.
        caption: Next to the outcome mark: "seed 7".
        brief: A shorter caption for narrow tiles: "7", "baseline".
        stars: Number of stars.
        is_rejected: Whether the run is rejected.
        tags: In one line; empty for none.
        is_missing: Whether the picture's file is missing.
        place: Current or last known path of the picture.
        words: Full description for screen readers.
        has_warning: Whether the verdict carries a warning.
    """

    picture: QImage | None
    outcome: Outcome | None
    caption: str
    brief: str
    stars: int
    is_rejected: bool
    tags: str
    is_missing: bool
    place: str
    words: str
    has_warning: bool = False


@frozen(kw_only=False)
class TileState:
    """State of a tile in the grid.

    Attributes:
        stack: Number of runs stacked under it; 0 for a single run.
        is_open: Whether it belongs to an open stack.
        is_chosen: Whether it is selected.
        is_current: Whether it has the keyboard focus.
    """

    stack: int
    is_open: bool
    is_chosen: bool
    is_current: bool


class TilePainter(QObject):
    """Draws tiles and caches the drawings.

    Args:
        theme: Colours and icons.
        parent: The grid.
    """

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kept: dict[int, tuple[TileFace, QPixmap]] = {}
        self._dress()
        theme.changed.connect(self._dress)

    def forget(self, key: int) -> None:
        """Remove a tile from the cache."""
        self._kept.pop(key, None)

    def draw(
        self, painter: QPainter, key: int, face: TileFace | None, place: QRectF, state: TileState
    ) -> None:
        """Draw a tile; a placeholder if it has no contents."""
        self._draw_ground(painter, place, state)
        if state.stack:
            self._draw_sheets(painter, place)
        if face is None:
            self._draw_empty(painter, place)
        else:
            scale = painter.device().devicePixelRatioF()
            painter.drawPixmap(place.topLeft(), self._drawn(key, face, place.size(), scale))
        if state.stack:
            self._draw_badge(painter, place, str(state.stack))

    def badge(self, place: QRectF, count: int) -> QRectF:
        """Return the clickable rectangle of a stack's number."""
        measure = QFontMetricsF(font(SMALL, bold=True))
        width = max(measure.horizontalAdvance(str(count)) + em(0.7), em(1.4))
        inset = em(0.3)
        return QRectF(place.right() - width - inset, place.top() + inset, width, em(1.25))

    def _drawn(self, key: int, face: TileFace, size: QSizeF, scale: float) -> QPixmap:
        """Return picture and caption from the cache, redrawn if anything changed."""
        whole = QSizeF(size.width(), size.height() + em(CAPTION_EM))
        pixels = (whole * scale).toSize()
        known = self._kept.get(key)
        if known is not None and known[0] is face and known[1].size() == pixels:
            return known[1]
        pixmap = QPixmap(pixels)
        pixmap.setDevicePixelRatio(scale)
        pixmap.fill(Qt.GlobalColor.transparent)
        place = QRectF(QPointF(0, 0), size)
        with painting(pixmap) as painter:
            if face.picture is None:
                self._draw_empty(painter, place)
                self._draw_missing(painter, place, face)
            else:
                self._draw_picture(painter, place, face, face.picture)
            self._draw_caption(painter, place, face)
        self._kept[key] = (face, pixmap)
        return pixmap

    def _draw_picture(
        self, painter: QPainter, place: QRectF, face: TileFace, picture: QImage
    ) -> None:
        expanded = Qt.AspectRatioMode.KeepAspectRatioByExpanding
        size = QSizeF(picture.size()).scaled(place.size(), expanded)
        whole = QRectF(QPointF(0, 0), size)
        whole.moveCenter(place.center())
        with QPainterStateGuard(painter):
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.setClipPath(_rounded(place))
            painter.setOpacity(REJECTED_OPACITY if face.is_rejected else 1.0)
            painter.drawImage(whole, picture)

    def _draw_ground(self, painter: QPainter, place: QRectF, state: TileState) -> None:
        if not (state.is_chosen or state.is_current or state.is_open):
            return
        out = em(MARGIN_EM)
        ground = place.adjusted(-out, -out, out, em(CAPTION_EM) + out / 2)
        colour = self._theme.colour("line" if state.is_chosen else "hover")
        edge = QPen(self._theme.colour("accent"), 2) if state.is_current else colour
        draw_rounded(painter, ground, colour, edge, em(ROUNDING_EM))

    def _draw_sheets(self, painter: QPainter, place: QRectF) -> None:
        """Draw the edge of a stacked sheet under the picture."""
        painter.setPen(QPen(self._theme.colour("faint"), 1.2))
        edge = place.adjusted(em(0.5), -em(0.2), -em(0.5), 0)
        painter.drawLine(edge.topLeft(), edge.topRight())

    def _draw_empty(self, painter: QPainter, place: QRectF) -> None:
        painter.fillPath(_rounded(place), self._theme.colour("sunken"))

    def _draw_missing(self, painter: QPainter, place: QRectF, face: TileFace) -> None:
        side = em(1.6)
        inner = place.adjusted(em(0.5), em(0.5), -em(0.5), -em(0.5))
        corner = QPointF(inner.center().x() - side / 2, inner.top() + inner.height() * 0.1)
        self._icon.paint(painter, QRectF(corner, QSize(side, side)).toRect())
        words = inner.adjusted(0, inner.height() * 0.1 + side, 0, 0)
        title = tr("The file is missing") if face.is_missing else tr("Cannot be read")
        look, middle = (font(SMALL), self._theme.colour("muted")), Qt.AlignmentFlag.AlignHCenter
        draw_text(painter, words, title, look, middle | Qt.TextFlag.TextWordWrap)
        below = words.adjusted(0, em(2.4), 0, 0)
        if below.height() > em(1):
            painter.drawText(below, middle | Qt.TextFlag.TextWrapAnywhere, face.place)

    def _draw_badge(self, painter: QPainter, place: QRectF, text: str) -> None:
        badge = self.badge(place, int(text))
        draw_rounded(painter, badge, self._theme.colour("raised", 0.92))
        draw_text(painter, badge, text, (font(SMALL, bold=True), self._theme.colour("text")))

    def _draw_caption(self, painter: QPainter, place: QRectF, face: TileFace) -> None:
        line = QRectF(place.left(), place.bottom(), place.width(), em(CAPTION_EM))
        left = line.left()
        if face.outcome is not None:
            side = em(1.05)
            mark = QRectF(left, line.center().y() - side / 2, side, side)
            draw_outcome(painter, self._theme, face.outcome, mark)
            left += side + em(0.25)
            if face.has_warning:
                self._warning.paint(painter, mark.translated(left - mark.left(), 0).toRect())
                left += side + em(0.25)
        right = line.right()
        if face.is_rejected:
            right -= em(1)
            self._draw_cross(painter, QRectF(right, line.center().y() - em(0.3), em(0.6), em(0.6)))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("warning"))
        for _ in range(face.stars):
            right -= em(STAR_EM)
            centre = QPointF(right + em(STAR_EM / 2), line.center().y())
            painter.drawPolygon(star(centre, em(STAR_EM / 2)))
        letters = font(SMALL)
        room = QRectF(left, line.top(), max(right - em(0.2) - left, 0), line.height())
        measure = QFontMetricsF(letters)
        texts = (f"{face.caption}  {face.tags}".rstrip(), face.caption, face.brief)
        fitting = (text for text in texts if measure.horizontalAdvance(text) <= room.width())
        text = elided(next(fitting, face.brief), letters, room.width())
        look = letters, self._theme.colour("muted")
        draw_text(painter, room, text, look, Qt.AlignmentFlag.AlignVCenter)

    def _dress(self) -> None:
        self._kept.clear()
        self._icon = self._theme.icon("warning", "muted")
        self._warning = self._theme.icon("warning", "warning")

    def _draw_cross(self, painter: QPainter, place: QRectF) -> None:
        painter.setPen(QPen(self._theme.colour("bad"), em(0.12), c=Qt.PenCapStyle.RoundCap))
        painter.drawLine(place.topLeft(), place.bottomRight())
        painter.drawLine(place.topRight(), place.bottomLeft())


def star(centre: QPointF, radius: float) -> QPolygonF:
    """Return a five-pointed star, one point up."""
    angles = (corner * pi / POINTS for corner in range(2 * POINTS))
    reaches = cycle((radius, radius * INNER))
    steps = (QPointF(sin(a), -cos(a)) * reach for a, reach in zip(angles, reaches, strict=False))
    return QPolygonF([centre + step for step in steps])


def _rounded(place: QRectF) -> QPainterPath:
    path = QPainterPath()
    path.addRoundedRect(place, em(ROUNDING_EM), em(ROUNDING_EM))
    return path
