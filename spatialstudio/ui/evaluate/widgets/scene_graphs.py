"""The graphs of prompt and picture side by side, with their matches."""

import math
from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QKeyEvent, QMouseEvent, QPainter, QPen, QPolygonF

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_geometry import GraphGeometry, GraphSizes
from spatialstudio.domain.graph_match import (
    MATCH_COLOURS,
    MATCH_SIGNS,
    GraphArc,
    GraphRows,
    MatchState,
)
from spatialstudio.ui.theme.theme import SMALL, Theme, em, font
from spatialstudio.ui.widgets.painting import EXPANDING, PaintedWidget, draw_text, elided
from spatialstudio.ui.widgets.texts import tr

ROW_EM, GAP_EM, MARGIN_EM = 1.9, 2.6, 0.6
WIDEST_EM = 9.0
PADDING_EM = 1.0
HEAD_EM = 0.26
HEADING_EM = 1.4
LEAST_LANE_EM = 2.2
THIN, THICK = 1.4, 2.6
SQUARE = 3.0
"""Corner radius of a wrong object, pixels; the others have round ends."""
STATES = {
    MatchState.MATCHED: "matched",
    MatchState.WRONG: "wrong",
    MatchState.MISSING: "missing",
    MatchState.EXTRA: "extra",
}
"""Names of the states, untranslated."""


@frozen(kw_only=False)
class GraphPick:
    """A selected object or relation.

    Attributes:
        is_relation: Whether it is a relation.
        match: Index of the object or relation in the match.
    """

    is_relation: bool
    match: int


class SceneGraphs(PaintedWidget):
    """Shows the objects of both graphs in rows and their relations as arcs.

    Emits ``picked`` with a ``GraphPick``, or None to select nothing, on user action only. Keys: Up
    and Down move between objects, Left and Right between relations, Esc selects nothing.

    Args:
        theme: Colours and icons.
    """

    picked = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Scene graphs of prompt and picture"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            sizePolicy=EXPANDING,
        )
        self.setMouseTracking(True)
        self._rows = GraphRows()
        self._pick: GraphPick | None = None

    def sizeHint(self) -> QSize:
        return self._size_of(self._geometry_in(math.inf))

    def minimumSizeHint(self) -> QSize:
        """Return the size with narrow lanes, where labels may lie over other lanes."""
        return self._size_of(self._geometry_in(0))

    def show_rows(self, rows: GraphRows) -> None:
        """Show these graphs; nothing is selected."""
        self._rows, self._pick = rows, None
        self.setAccessibleDescription(" ".join(self._sentences()))
        self.updateGeometry()
        self.update()

    def show_pick(self, pick: GraphPick | None) -> None:
        """Mark the selected object or relation; None for none."""
        self._pick = pick
        self.update()

    def object_box(self, row: int, *, is_found: bool) -> QRectF:
        """Return the rectangle of an object of the prompt or of the picture."""
        return QRectF(*self._geometry().box(row, is_found=is_found)).translated(self._origin())

    def label_box(self, arc: GraphArc, *, is_found: bool) -> QRectF:
        """Return the rectangle of a relation's label."""
        measure = QFontMetricsF(font(SMALL))
        width = min(measure.horizontalAdvance(_signed(arc)), em(WIDEST_EM)) + em(0.5)
        box = QRectF(0, 0, width, measure.height() + em(0.1))
        box.moveCenter(QPointF(*self._geometry().label(arc, is_found=is_found)) + self._origin())
        box.moveLeft(max(min(box.left(), self.width() - box.width()), 0))
        return box

    def draw(self, painter: QPainter) -> None:
        """Draw relations, their labels, then objects."""
        if not self._rows.rows:
            return
        self._draw_headings(painter)
        sides = ((self._rows.wanted, False), (self._rows.found, True))
        for arcs, is_found in sides:
            for arc in arcs:
                self._draw_arc(painter, arc, is_found=is_found)
        for arcs, is_found in sides:
            for arc in arcs:
                self._draw_label(painter, arc, is_found=is_found)
        for place in range(len(self._rows.rows)):
            self._draw_row(painter, place)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Select the object or relation under the pointer."""
        self.picked.emit(self._pick_at(event.position()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_over = self._pick_at(event.position()) is not None
        shape = Qt.CursorShape.PointingHandCursor if is_over else Qt.CursorShape.ArrowCursor
        self.setCursor(shape)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        objects = [GraphPick(False, place) for place in range(len(self._rows.rows))]
        numbers = {arc.match for arc in (*self._rows.wanted, *self._rows.found)}
        relations = [GraphPick(True, number) for number in sorted(numbers)]
        steps = {
            Qt.Key.Key_Up: (objects, -1),
            Qt.Key.Key_Down: (objects, 1),
            Qt.Key.Key_Left: (relations, -1),
            Qt.Key.Key_Right: (relations, 1),
        }
        picks, by = steps.get(Qt.Key(event.key()), ([], 0))
        if picks:
            self.picked.emit(_next_to(self._pick, picks, by))
        elif event.key() == Qt.Key.Key_Escape and self._pick is not None:
            self.picked.emit(None)
        else:
            super().keyPressEvent(event)

    def _size_of(self, geometry: GraphGeometry) -> QSize:
        height = geometry.height + em(HEADING_EM + MARGIN_EM)
        return QSize(round(geometry.width) + 2 * em(MARGIN_EM), round(height))

    def _geometry(self) -> GraphGeometry:
        return self._geometry_in(self.width() - 2 * em(MARGIN_EM))

    def _geometry_in(self, room: float) -> GraphGeometry:
        """Return the places with lanes as wide as their labels, or narrower to fit a width.

        The lanes of the picture, which may hold further relations, give way first.
        """
        measure = QFontMetricsF(font())
        names = [name for row in self._rows.rows for name in (row.wanted, row.found)]
        widest = max((measure.horizontalAdvance(name) for name in names), default=0.0)
        node = min(widest, em(WIDEST_EM)) + em(PADDING_EM)
        left, right = _lane(self._rows.wanted), _lane(self._rows.found)
        sizes = GraphSizes(row=em(ROW_EM), node=node, lanes=(left, right), gap=em(GAP_EM))
        natural = GraphGeometry(self._rows, sizes)
        excess, least, lanes = natural.width - room, em(LEAST_LANE_EM), [left, right]
        for side, arcs in ((1, self._rows.found), (0, self._rows.wanted)):
            count = max((arc.lane + 1 for arc in arcs), default=0)
            if count and excess > 0:
                taken = min(excess / count, max(lanes[side] - least, 0))
                lanes[side] -= taken
                excess -= taken * count
        return GraphGeometry(self._rows, replace(sizes, lanes=(lanes[0], lanes[1])))

    def _origin(self) -> QPointF:
        return QPointF((self.width() - self._geometry().width) / 2, em(HEADING_EM))

    def _pick_at(self, place: QPointF) -> GraphPick | None:
        for number, row in enumerate(self._rows.rows):
            for name, is_found in ((row.wanted, False), (row.found, True)):
                if name and self.object_box(number, is_found=is_found).contains(place):
                    return GraphPick(False, number)
        for arcs, is_found in ((self._rows.wanted, False), (self._rows.found, True)):
            for arc in arcs:
                if self.label_box(arc, is_found=is_found).contains(place):
                    return GraphPick(True, arc.match)
        return None

    def _sentences(self) -> list[str]:
        """Return the matches as the accessible description."""
        lines = []
        for row in self._rows.rows:
            name = " = ".join(filter(None, (row.wanted, row.found)))
            lines.append(f"{name}: {tr(STATES[row.match.state])}.")
        for arc in (*self._rows.wanted, *self._rows.found):
            lines.append(f"{arc.label}: {tr(STATES[arc.state])}.")
        return lines

    def _colour(self, state: MatchState) -> QColor:
        return self._theme.colour(MATCH_COLOURS[state])

    def _draw_headings(self, painter: QPainter) -> None:
        look = font(SMALL), self._theme.colour("muted")
        for name, is_found in ((tr("Prompt"), False), (tr("Picture"), True)):
            box = self.object_box(0, is_found=is_found)
            draw_text(painter, QRectF(box.left(), 0, box.width(), em(HEADING_EM)), name, look)

    def _draw_arc(self, painter: QPainter, arc: GraphArc, *, is_found: bool) -> None:
        corners = self._geometry().path(arc, is_found=is_found)
        points = [QPointF(*corner) + self._origin() for corner in corners]
        painter.setPen(self._pen(arc.state, is_picked=self._pick == GraphPick(True, arc.match)))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))
        tip, size = points[-1], em(HEAD_EM)
        back = QPointF((1 if is_found else -1) * 1.8 * size, 0)
        across = QPointF(0, size)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._colour(arc.state))
        painter.drawPolygon(QPolygonF([tip, tip + back + across, tip + back - across]))

    def _draw_label(self, painter: QPainter, arc: GraphArc, *, is_found: bool) -> None:
        box = self.label_box(arc, is_found=is_found)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("surface"))
        painter.drawRect(box)
        is_picked = self._pick == GraphPick(True, arc.match)
        letters = font(SMALL, bold=is_picked)
        text = elided(_signed(arc), letters, box.width())
        draw_text(painter, box, text, (letters, self._colour(arc.state)))

    def _draw_row(self, painter: QPainter, place: int) -> None:
        row = self._rows.rows[place]
        state = row.match.state
        left, right = (QPointF(*end) + self._origin() for end in self._geometry().link(place))
        if row.wanted and row.found:
            painter.setPen(QPen(self._theme.colour("line"), THIN))
            painter.drawLine(left, right)
        sign = QRectF(0, 0, em(1.2), em(1.2))
        sign.moveCenter(QLineF(left, right).center())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("surface"))
        painter.drawEllipse(sign)
        draw_text(painter, sign, MATCH_SIGNS[state], (font(bold=True), self._colour(state)))
        for name, is_found in ((row.wanted, False), (row.found, True)):
            if name:
                self._draw_object(painter, place, name, is_found=is_found)

    def _draw_object(self, painter: QPainter, place: int, name: str, *, is_found: bool) -> None:
        box = self.object_box(place, is_found=is_found)
        state = self._rows.rows[place].match.state
        radius = SQUARE if state is MatchState.WRONG else box.height() / 2
        painter.setPen(self._pen(state, is_picked=self._pick == GraphPick(False, place)))
        painter.setBrush(self._theme.colour("raised"))
        painter.drawRoundedRect(box, radius, radius)
        text = elided(name, font(), box.width() - em(0.6))
        draw_text(painter, box, text, (font(), self._theme.colour("text")))

    def _pen(self, state: MatchState, *, is_picked: bool) -> QPen:
        pen = QPen(self._colour(state), THICK if is_picked else THIN)
        if state in {MatchState.MISSING, MatchState.EXTRA}:
            pen.setStyle(Qt.PenStyle.DashLine)
        return pen


def _signed(arc: GraphArc) -> str:
    return f"{MATCH_SIGNS[arc.state]} {arc.label}"


def _lane(arcs: Sequence[GraphArc]) -> float:
    measure = QFontMetricsF(font(SMALL))
    widest = max((measure.horizontalAdvance(_signed(arc)) for arc in arcs), default=0.0)
    return min(widest, em(WIDEST_EM)) + em(PADDING_EM)


def _next_to(now: GraphPick | None, picks: Sequence[GraphPick], by: int) -> GraphPick:
    """Return the neighbouring pick; the first one if none is selected."""
    return picks[(picks.index(now) + by) % len(picks)] if now in picks else picks[0]
