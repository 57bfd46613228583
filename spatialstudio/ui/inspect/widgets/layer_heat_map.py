"""A heat map of a measure by layer and step, under curves of the same measure over the steps."""

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import isfinite

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QGraphicsItem,
    QSizePolicy,
    QStyleOptionGraphicsItem,
    QToolTip,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.inspect.widgets.step_axis import StepAxis
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plot import CONTROL, Plot, PlotKey, PlotTable, Values
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED, PlotCurve
from spatialstudio.ui.widgets.texts import tr

LABELS_EM, SCALE_EM, BAR_EM, MARK_EM = 13.0, 4.2, 0.7, 0.7
TOP_EM, GAP_EM, AXIS_EM, TEXT_EM = 0.6, 0.7, 1.2, 1.0
CURVE_SHARE = 0.28
CURVE_MARGIN = 0.08
"""Room above and below the curves, as a share of their range, so that no curve lies on the edge."""
HALO, RING = 4, 2
"""Widths of the mark of the current cell, pixels: a ring in a halo, seen on any colour."""
LOWEST_CURVE_EM, LOWEST_MAP_EM = 1.6, 5.5
LOWEST_ROW_EM, MOST_ROWS_EM = 0.8, 9.6
"""Minimum height of a layer's row, and the most that is reserved for all rows."""
NAME_SHARE = 0.8
"""Share of a line that the letters of a name take: names may be as close as that."""
FRAME = 2
"""Height of the upper and lower edges around the surface, pixels."""
FEWEST_IN_VIEW = 3.0
DASHES = Qt.PenStyle.DashLine
ABOVE_PLOT = 20
VERTICAL = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
TOGGLES = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
LEVEL_COUNT = 3
"""Numbers along the colour scale: its ends and its middle."""


@frozen(eq=False, kw_only=False)
class HeatCurve:
    """A curve over the steps.

    Attributes:
        name: What it stands for.
        points: Step and value, in order.
        is_reference: Whether it is drawn dashed, for comparison.
    """

    name: str
    points: tuple[tuple[int, float], ...]
    is_reference: bool = False

    def at(self, step: int) -> float | None:
        """Return the value at a step; None if there is none."""
        return dict(self.points).get(step)


@frozen(eq=False)
class HeatContents:
    """What a heat map shows.

    Attributes:
        measure: Name of the measure.
        layers: Names of the layers, in execution order.
        labels: Label of each layer, for its row.
        blocks: Name of each layer's block.
        values: (layers, all steps); NaN where nothing was measured.
        low: Value of the first colour.
        high: Value of the last colour; above ``low``.
        is_diverging: Whether the middle of the scale is neutral.
        number_format: Format of the values.
        guiding: Indices of the layers that guidance reads.
        chosen: Indices of the layers whose maps are shown.
        curves: Curves over the steps.
    """

    measure: str = ""
    layers: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    values: Values = field(default_factory=lambda: np.zeros((0, 0)))
    low: float = 0.0
    high: float = 1.0
    is_diverging: bool = False
    number_format: str = ".2f"
    guiding: frozenset[int] = frozenset()
    chosen: frozenset[int] = frozenset()
    curves: tuple[HeatCurve, ...] = ()

    @property
    def step_count(self) -> int:
        """Number of steps."""
        return int(self.values.shape[1])

    def said(self, value: float) -> str:
        """Return a value as text."""
        said = format(value, self.number_format)
        return said if float(said) else format(0.0, self.number_format)  # not "-0.00"


class LayerHeatMap(Plot):
    """Shows a measure by layer and step, with a numbered scale, and curves over the steps.

    Triangles mark the layers that guidance reads, bars the chosen layers. A click picks step and
    layer, with Ctrl it adds or removes the layer; up and down pick a layer, Enter adds or removes
    it. Emits ``step_picked`` with a step and ``layer_picked`` with the index of a layer and whether
    it is added or removed; on user action only.

    Args:
        theme: Its colours.
    """

    step_picked = Signal(int)
    layer_picked = Signal(int, bool)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Measure by layer and step"))
        self._contents = HeatContents()
        self._step = self._layer = 0
        self._pointed: int | None = None
        self._course = self.add_row(0.0, 1.0)
        self._heat = self.add_row(1.0, 0.0)  # the first layer is on top
        self._image = pg.ImageItem(axisOrder="row-major")
        self._heat.add(self._image)
        self._curves = [PlotCurve(QRectF()) for _ in range(2)]
        for curve in self._curves:
            self._course.add(curve, 1)
        self._axis = StepAxis(self.surface.scene(), self._heat.box)
        self._frame, self._cell = HeatFrame(self), HeatCell(self)
        for item in (self._frame, self._cell):
            self.surface.scene().addItem(item)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.refresh()

    def sizeHint(self) -> QSize:
        return QSize(em(30), self._least_height())

    def minimumSizeHint(self) -> QSize:
        """Return a size at which the rows of a usual number of layers can be told apart."""
        return QSize(em(20), self._least_height())

    @property
    def contents_shown(self) -> HeatContents:
        """What is shown."""
        return self._contents

    @property
    def layer(self) -> int:
        """Index of the layer that the keyboard and the sentence refer to."""
        return self._layer

    @property
    def areas(self) -> tuple[QRectF, QRectF]:
        """Rectangles of the curves and of the heat map, pixels of the surface."""
        return self._course.area, self._heat.area

    def show_contents(self, contents: HeatContents, step: int) -> None:
        """Show measurements, with the playhead at a step."""
        before, self._contents, self._step = self._contents, contents, step
        self._layer = min(self._layer, max(len(contents.layers) - 1, 0))
        if contents.chosen and self._layer not in contents.chosen:
            self._layer = min(contents.chosen)
        if contents.step_count != before.step_count:
            last = max(contents.step_count - 0.5, 0.5)
            self.range = PlotRange(low=-0.5, high=last, least=FEWEST_IN_VIEW)
        margin = CURVE_MARGIN * (contents.high - contents.low)
        self._course.low, self._course.high = contents.low - margin, contents.high + margin
        self._heat.low = max(len(contents.layers), 1)
        if len(contents.layers) != len(before.layers):
            self.updateGeometry()
        self.refresh()

    def show_step(self, step: int) -> None:
        """Move the playhead."""
        if step != self._step:
            if self.place is not None and self.snapped(self.place) != step:
                self.read(None)  # the pointer's line is of another step
            self._step = step
            self.show_range(self.range.showing(step))
            self._show_place()

    def cell(self) -> QRectF:
        """Return the cell of the current step and layer, pixels; null if it is out of view."""
        if not self.range.first <= self._step <= self.range.last or not self._contents.layers:
            return QRectF()
        top_left = self._heat.position_of(self._step - 0.5, self._layer)
        return QRectF(top_left, self._heat.position_of(self._step + 0.5, self._layer + 1))

    def height_of(self, value: float) -> float:
        """Return where a value of the curves lies, pixels from the top of the surface."""
        return self._course.position_of(self.range.first, value).y()

    def rows_of(self, layers: frozenset[int]) -> Iterator[tuple[float, float]]:
        """Yield top and bottom of the rows of layers, pixels."""
        height = self._heat.area.height() / max(len(self._contents.layers), 1)
        for layer in sorted(layers):
            top = self._heat.area.top() + layer * height
            yield top, top + height

    def show_range(self, view: PlotRange) -> None:
        """Label the visible steps."""
        super().show_range(view)
        self._axis.show_steps(view, self._contents.step_count)
        self._cell.update()

    def lay_out(self, room: QRectF) -> None:
        """Place the curves above the heat map, the layers' labels left, the scale right of it."""
        right = max(room.right() - em(SCALE_EM), 1.0)
        left = min(float(em(LABELS_EM + MARK_EM)), right - 1)
        bottom = max(room.bottom() - em(AXIS_EM), em(TOP_EM) + 2.0)
        inside = QRectF(left, em(TOP_EM), right - left, bottom - em(TOP_EM))
        course, heat = QRectF(inside), QRectF(inside)
        spare = inside.height() - em(GAP_EM) - self._least_rows()
        least = min(em(LOWEST_CURVE_EM), CURVE_SHARE * inside.height())
        course.setHeight(max(min(CURVE_SHARE * inside.height(), spare), least, 1.0))
        heat.setTop(min(course.bottom() + em(GAP_EM), inside.bottom() - 1))
        self._course.place(course)
        self._heat.place(heat)
        self._axis.place(QRectF(left, bottom, right - left, em(AXIS_EM)), em(MARK_EM))
        self._frame.fit(room)
        self._cell.fit(room)

    def dress(self) -> None:
        """Colour the cells and curves."""
        contents = self._contents
        self._axis.dress(self.theme)
        self._image.setVisible(contents.values.size > 0)
        if contents.values.size:
            self._image.setImage(self._coloured(), autoLevels=False)
            area = QRectF(-0.5, 0, contents.step_count, len(contents.layers))
            self._image.setRect(area)
        height = contents.high - contents.low
        bounds = QRectF(-0.5, contents.low - height, max(contents.step_count, 1), 3 * height)
        for item, curve in zip(self._curves, (*contents.curves, None, None), strict=False):
            item.prepareGeometryChange()
            item.bounds = bounds
            points = np.array(curve.points if curve else (), float).reshape(-1, 2)
            item.setVisible(len(points) > 0)
            if curve is not None and len(points):
                item.setData(points[:, 0], points[:, 1], pen=self.pen_of(curve))
        self._frame.update()
        self._show_place()

    def pen_of(self, curve: HeatCurve) -> QPen:
        """Return the pen of a curve."""
        role, style = ("muted", DASHES) if curve.is_reference else ("accent", None)
        pen: QPen = pg.mkPen(
            self.theme.colour(role), width=1.8, style=style or Qt.PenStyle.SolidLine
        )
        return pen

    def colours(self) -> npt.NDArray[np.uint8]:
        """Return the colours of the scale, (levels, 3), low to high."""
        is_diverging = self._contents.is_diverging
        return self.theme.difference_table() if is_diverging else self.theme.heat_table()

    def snapped(self, place: float) -> float:
        """Return the nearest step."""
        return min(max(round(place), 0), max(self._contents.step_count - 1, 0))

    def stride(self) -> float:
        """Return the distance between steps, 1."""
        return 1.0

    def text_at(self, place: float) -> str:
        """Return the value of a layer at a step, the curves' values, and the layer's marks."""
        contents = self._contents
        if not contents.layers or not contents.step_count:
            return ""
        step = int(self.snapped(place))
        layer = self._layer if self._pointed is None else self._pointed
        value = float(contents.values[layer, step])
        said = contents.said(value) if isfinite(value) else tr("not measured")
        lines = [
            tr("Step {step} of {count}").format(step=step + 1, count=contents.step_count),
            f"{contents.layers[layer]}: {contents.measure} {said}",
        ]
        for curve in contents.curves:
            if (known := curve.at(step)) is not None:
                lines.append(f"{curve.name}: {contents.said(known)}")
        if layer in contents.guiding:
            lines.append(tr("Guidance reads this layer"))
        if layer in contents.chosen:
            lines.append(tr("Chosen layer"))
        return "\n".join(lines)

    def keys(self) -> Sequence[PlotKey]:
        """Return the legend entries: the curves."""
        return [
            PlotKey(
                name=each.name, colour=self.pen_of(each).color(), style=self.pen_of(each).style()
            )
            for each in self._contents.curves
            if each.points
        ]

    def table(self) -> PlotTable:
        """Return a row for each layer and step with a value."""
        contents = self._contents
        rows = [
            (name, layer in contents.guiding, step + 1, float(value))
            for layer, name in enumerate(contents.layers)
            for step, value in enumerate(contents.values[layer])
            if isfinite(value)
        ]
        return PlotTable(("layer", "guides", "step", contents.measure), tuple(rows))

    def claims(self, event: QKeyEvent) -> bool:
        """Return True if the heat map handles a key; left and right belong to the steps."""
        if event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            return False
        return event.key() in (*VERTICAL, *TOGGLES) or super().claims(event)

    def go_by(self, strides: int) -> None:
        """Move the playhead by a number of steps."""
        self._pick_step(int(self.snapped(self._step + strides)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = Qt.Key(event.key())
        if not self._contents.layers or key not in (*VERTICAL, *TOGGLES):
            super().keyPressEvent(event)
        elif key in TOGGLES:
            self.layer_picked.emit(self._layer, True)
        else:
            last = len(self._contents.layers) - 1
            self._pick(min(max(self._layer + VERTICAL[key], 0), last), adds=False)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step and the layer under the pointer."""
        layer = self._layer_at(event.position())
        if event.button() is not Qt.MouseButton.LeftButton or not self._contents.step_count:
            super().mousePressEvent(event)
            return
        self._pick_step(int(self.snapped(self.place_at(event.position()))))
        if layer is not None:
            self._pick(layer, adds=bool(event.modifiers() & CONTROL))

    def point(self, position: QPointF) -> None:
        """Read the value under the pointer."""
        self._pointed = self._layer_at(position)
        if self._contents.step_count:
            super().point(position)
        else:
            QToolTip.hideText()

    def _least_rows(self) -> int:
        """Return the minimum height of all rows together, pixels."""
        return em(min(LOWEST_ROW_EM * len(self._contents.layers), MOST_ROWS_EM))

    def _least_height(self) -> int:
        around = em(TOP_EM) + em(LOWEST_CURVE_EM) + em(GAP_EM) + em(AXIS_EM) + FRAME
        return max(em(LOWEST_MAP_EM), around + self._least_rows())

    def _pick_step(self, step: int) -> None:
        if self._contents.step_count and step != self._step:
            self.show_step(step)
            self.step_picked.emit(step)

    def _pick(self, layer: int, *, adds: bool) -> None:
        self._layer = layer
        self._pointed = None
        self._show_place()
        self.layer_picked.emit(layer, adds)

    def _layer_at(self, position: QPointF) -> int | None:
        on_surface = position - QPointF(self.surface.pos())
        area, count = self._heat.area, len(self._contents.layers)
        share = (on_surface.y() - area.top()) / max(area.height(), 1.0)
        return int(share * count) if count and 0 <= share < 1 else None

    def _coloured(self) -> npt.NDArray[np.uint8]:
        """Return (layers, steps, 4) colours; cells without a value are transparent."""
        contents, table = self._contents, self.colours()
        is_known = np.isfinite(contents.values)
        values = np.where(is_known, contents.values, contents.low)
        share = ((values - contents.low) / (contents.high - contents.low)).clip(0, 1)
        cells = table[np.round(share * (len(table) - 1)).astype(np.intp)]
        return np.dstack([cells, np.where(is_known, 255, 0).astype(np.uint8)])

    def _show_place(self) -> None:
        self._cell.update()
        self.describe(self.text_at(self._step))
        self.paint_soon()


class HeatItem(QGraphicsItem):
    """Something that is painted over a heat map.

    Args:
        heat_map: What it is painted over.
    """

    def __init__(self, heat_map: LayerHeatMap) -> None:
        super().__init__()
        self._map = heat_map
        self._room = QRectF()
        self.setZValue(ABOVE_PLOT)

    def fit(self, room: QRectF) -> None:
        """Cover a room, pixels of the surface."""
        self.prepareGeometryChange()
        self._room = QRectF(room)

    def boundingRect(self) -> QRectF:
        return self._room

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionGraphicsItem,  # noqa: ARG002 - Qt's signature
        widget: QWidget | None = None,  # noqa: ARG002 - Qt's signature
    ) -> None:
        """Draw it."""
        self.draw(painter)

    def draw(self, painter: QPainter) -> None:
        """Draw it in pixels of the surface; nothing by default."""

    def colour(self, role: str) -> QColor:
        """Return a colour of the theme."""
        return self._map.theme.colour(role)


class HeatCell(HeatItem):
    """The current cell and its column, with a line through the curves."""

    def draw(self, painter: QPainter) -> None:
        """Draw line, column and cell; nothing if the cell is out of view."""
        if (cell := self._map.cell()).isNull():
            return
        course, heat = self._map.areas
        middle = cell.center().x()
        painter.setPen(QPen(self.colour("accent"), 2))
        painter.drawLine(QPointF(middle, course.top()), QPointF(middle, course.bottom()))
        column = QRectF(cell.left(), heat.top(), cell.width(), heat.height())
        painter.drawRect(column.intersected(heat))
        for role, width in (("raised", HALO), ("text", RING)):
            painter.setPen(QPen(self.colour(role), width))
            painter.drawRect(cell.intersected(heat))


class HeatFrame(HeatItem):
    """The labels and marks of layers, and the scale; painted again only when they change.

    Args:
        heat_map: What it surrounds.
    """

    def __init__(self, heat_map: LayerHeatMap) -> None:
        super().__init__(heat_map)
        self.setCacheMode(CACHED)

    def draw(self, painter: QPainter) -> None:
        """Draw labels, marks and scale."""
        contents = self._map.contents_shown
        if not contents.layers:
            return
        painter.setFont(plot_font(SMALL))
        course, heat = self._map.areas
        painter.setPen(QPen(self.colour("line"), 1))
        painter.drawRect(heat)
        painter.drawRect(course)
        self._paint_levels(painter, course)
        self._paint_labels(painter, heat)
        self._paint_marks(painter, heat)
        self._paint_scale(painter, heat)

    def _paint_labels(self, painter: QPainter, heat: QRectF) -> None:
        """Draw the labels of rows that have room, and a line above each block."""
        contents, metrics = self._map.contents_shown, QFontMetricsF(painter.font())
        height = NAME_SHARE * metrics.height()
        free = heat.top() - height
        rows = self._map.rows_of(frozenset(range(len(contents.labels))))
        for row, (top, bottom) in enumerate(rows):
            if row == 0 or contents.blocks[row] != contents.blocks[row - 1]:
                painter.setPen(QPen(self.colour("line"), 1))
                painter.drawLine(QPointF(heat.left() - em(MARK_EM), top), QPointF(heat.left(), top))
            middle = (top + bottom) / 2
            if middle - height / 2 < free:
                continue
            free = middle + height / 2
            room = QRectF(0, middle - em(TEXT_EM), heat.left() - em(1.5 * MARK_EM), em(2 * TEXT_EM))
            label, left = contents.labels[row], Qt.TextElideMode.ElideLeft
            painter.setPen(self.colour("muted"))
            painter.drawText(
                room,
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                metrics.elidedText(label, left, room.width()),
            )

    def _paint_marks(self, painter: QPainter, heat: QRectF) -> None:
        contents = self._map.contents_shown
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour("text"))
        for top, bottom in self._map.rows_of(contents.guiding):
            tip, middle = heat.left() - em(MARK_EM / 4), (top + bottom) / 2
            half = min((bottom - top) / 2, em(MARK_EM / 2))
            left = heat.left() - em(MARK_EM)
            corners = QPointF(left, middle - half), QPointF(left, middle + half)
            painter.drawPolygon(QPolygonF([*corners, QPointF(tip, middle)]))
        painter.setBrush(self.colour("accent"))
        for top, bottom in self._map.rows_of(contents.chosen):
            painter.drawRect(QRectF(heat.right() + 1, top, em(MARK_EM / 3), bottom - top))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _paint_levels(self, painter: QPainter, course: QRectF) -> None:
        """Number the axis of the curves."""
        contents = self._map.contents_shown
        painter.setPen(self.colour("muted"))
        for share in (0.0, 1.0):
            value = contents.low + share * (contents.high - contents.low)
            y = self._map.height_of(value)
            room = QRectF(0, y - em(TEXT_EM), course.left() - em(MARK_EM), em(2 * TEXT_EM))
            painter.drawText(
                room,
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                contents.said(value),
            )

    def _paint_scale(self, painter: QPainter, heat: QRectF) -> None:
        contents = self._map.contents_shown
        table = np.ascontiguousarray(self._map.colours()[::-1, None])
        image = QImage(table.data, 1, len(table), 3, QImage.Format.Format_RGB888)
        bar = QRectF(heat.right() + em(MARK_EM), heat.top(), em(BAR_EM), heat.height())
        painter.drawImage(bar, image)
        painter.setPen(QPen(self.colour("line"), 1))
        painter.drawRect(bar)
        painter.setPen(self.colour("muted"))
        for share in np.linspace(0, 1, LEVEL_COUNT):
            value = contents.low + float(share) * (contents.high - contents.low)
            y = min(
                max(bar.bottom() - share * bar.height(), bar.top() + em(0.4)),
                bar.bottom() - em(0.4),
            )
            at = QRectF(bar.right() + em(0.3), y - em(TEXT_EM), em(SCALE_EM), em(2 * TEXT_EM))
            painter.drawText(
                at, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, contents.said(value)
            )
