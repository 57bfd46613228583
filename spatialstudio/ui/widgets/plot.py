"""The base of all plots: drawn by pyqtgraph; zoom, pan, read-out and export are the same in each.

pyqtgraph takes its time to load: only modules that are imported after the window's first frame
may import this one.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import (
    QBuffer,
    QByteArray,
    QEvent,
    QIODevice,
    QLineF,
    QMarginsF,
    QObject,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    QSizeF,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAction,
    QColor,
    QFontMetricsF,
    QHelpEvent,
    QImage,
    QImageWriter,
    QKeyEvent,
    QMouseEvent,
    QPageSize,
    QPainter,
    QPdfWriter,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtSvg import QSvgGenerator
from PySide6.QtWidgets import (
    QFrame,
    QGraphicsItem,
    QGraphicsLineItem,
    QGraphicsSimpleTextItem,
    QGraphicsView,
    QToolTip,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.plain_svg import plain_svg
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED, PlotRow
from spatialstudio.ui.widgets.texts import plain_tip, tr

ZOOM = 1.25
NOTCH = 120
"""A wheel's notch in Qt's units."""
PAN_SHARE = 0.1
"""Of the view, by a notch of a sideways wheel."""
KEYBOARD_STRIDES = 50
"""Arrow presses from one end of a plot's view to the other, where the data has no steps."""
POINTS_PER_INCH = 72
PNG_SCALE = 2.0
"""Pixels of a saved picture for each pixel on the screen, at least."""
SWATCH_EM, ENTRY_GAP_EM, LINE_EM, PAD_EM = 1.1, 0.9, 1.4, 0.5
AREA_EM = 0.8
"""Height of a shaded area in the legend."""
GRIPS = (Qt.MouseButton.LeftButton, Qt.MouseButton.MiddleButton)
CONTROL = Qt.KeyboardModifier.ControlModifier
PLAIN_KEYS = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier)

pg.setConfigOption("exitCleanup", False)  # Qt takes its items down by itself; twice is a crash

Values = npt.NDArray[np.float64]


@frozen(eq=False, kw_only=False)
class PlotKey:
    """An entry of a plot's legend.

    Attributes:
        name: Meaning of the line or area.
        colour: Colour of the line or area.
        style: Style of the line.
        is_area: Whether the entry is a shaded area instead of a line.
    """

    name: str
    colour: QColor
    style: Qt.PenStyle = Qt.PenStyle.SolidLine
    is_area: bool = False


@frozen(kw_only=False)
class PlotTable:
    """The values of a plot: the names of the columns, and the rows; None where there is none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[float | int | str | None, ...], ...]


class Plot(QFrame):
    """Shows rows of curves over one axis, and the values under the pointer or the keyboard's line.

    The left and right arrows move the line that values are read at, + and - zoom around it, Home
    shows all again. Ctrl and the wheel zoom around the pointer; a sideways wheel, the middle button
    and, where it does nothing else, the left one pan. The menu of the right button saves the plot.
    Nothing moves by itself.

    Emits ``save_asked`` with itself when the user wants a file of it.

    Args:
        theme: Its colours.
        name: Of the plot, for its file and for screen readers.
        is_upright: Whether the axis runs down.

    Attributes:
        place: The place that values are read at; None while none is pointed at.
    """

    save_asked = Signal(object)

    def __init__(self, theme: Theme, name: str, *, is_upright: bool = False) -> None:
        super().__init__()
        self.theme = theme
        self.name = name
        self.range = PlotRange()
        self.rows: list[PlotRow] = []
        self._is_upright = is_upright
        self.place: float | None = None
        self._cursor = QGraphicsLineItem()
        self._cursor.hide()
        self._grip: QPointF | None = None
        self._words = ""
        self.surface = pg.GraphicsView(self)
        self.surface.setCentralItem(None)
        self.surface.scene().addItem(self._cursor)
        self.surface.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.surface.setViewportUpdateMode(QGraphicsView.ViewportUpdateMode.NoViewportUpdate)
        self.surface.scene().installEventFilter(self)
        self.surface.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.surface.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setProperty("kind", "plot")
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self._add_actions()
        theme.changed.connect(self._dress)

    # What a plot of a kind says about itself.

    def lay_out(self, room: QRectF) -> None:
        """Place the rows in a room, pixels."""

    def dress(self) -> None:
        """Take the theme's colours."""

    def text_at(self, place: float) -> str:  # noqa: ARG002 - of those that show values
        """Return the values at a place of the axis, a line each; empty for none."""
        return ""

    def snapped(self, place: float) -> float:
        """Return the nearest place of the axis that has values."""
        return place

    def stride(self) -> float:
        """Return how far an arrow key moves the line that values are read at."""
        return self.range.length / KEYBOARD_STRIDES

    def keys(self) -> Sequence[PlotKey]:
        """Return the legend of a saved plot."""
        return ()

    def table(self) -> PlotTable:
        """Return all values, for a spreadsheet."""
        return PlotTable((), ())

    # What all plots do.

    @property
    def is_zoomed(self) -> bool:
        """Whether only a part of the axis is in view."""
        return self.range.is_zoomed

    def add_row(self, low: float = 0.0, high: float = 1.0) -> PlotRow:
        """Add a field; ``lay_out`` places it."""
        row = PlotRow(low, high, is_upright=self._is_upright)
        self.surface.scene().addItem(row.box)
        self.rows.append(row)
        return row

    def show_range(self, view: PlotRange) -> None:
        """Show a stretch of the axis."""
        self.range = view
        for row in self.rows:
            if row.box.isVisible():
                row.show_range(view)
        self._show_cursor()

    def describe(self, words: str) -> None:
        """Say what the plot shows, to who cannot see it."""
        self._words = words
        read = "" if self.place is None else self.text_at(self.place)
        text = "\n".join(filter(None, (words, read)))
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    def refresh(self) -> None:
        """Lay out the rows and apply the theme's colours."""
        self.arrange()
        self._dress()

    def arrange(self) -> None:
        """Lay out the rows in the widget."""
        self.surface.setGeometry(self.contentsRect())
        self.lay_out(QRectF(self.surface.rect()))
        self.show_range(self.range)

    def paint_soon(self) -> None:
        """Have the plot painted with all else that changed in this turn of the event loop."""
        self.surface.viewport().update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Drop the scene's queued calls.

        WORKAROUND: for each scene that changed they paint the whole window at once; every change
        of a plot ends with ``paint_soon`` instead.
        """
        return event.type() is QEvent.Type.MetaCall or super().eventFilter(watched, event)

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Show ``factor`` times as much of the axis; ``around`` stays, else the line or middle."""
        if around is None:
            around = self.place
        middle = self.range.first + self.range.length / 2
        self.show_range(self.range.zoomed(factor, middle if around is None else around))

    def pan(self, by: float) -> None:
        """Move the view along the axis, in its units."""
        self.show_range(self.range.panned(by))

    def show_all(self) -> None:
        """Show the whole axis again."""
        self.show_range(PlotRange(low=self.range.low, high=self.range.high, least=self.range.least))

    def read(self, place: float | None) -> None:
        """Show the values at a place of the axis, in a tip and to screen readers; None for none."""
        place = None if place is None else self.snapped(place)
        if place == self.place:
            return
        self.place = place
        self._show_cursor()
        self.describe(self._words)

    def line_at(self, place: float) -> QLineF:
        """Return the line across all rows at a place of the axis, pixels of the surface."""
        shown = [row for row in self.rows if row.box.isVisible()]
        first, last = shown[0], shown[-1]
        ends = (0.0, 1.0) if self._is_upright else (1.0, 0.0)
        start = first.low + ends[0] * (first.high - first.low)
        stop = last.low + ends[1] * (last.high - last.low)
        return QLineF(first.position_of(place, start), last.position_of(place, stop))

    def place_at(self, position: QPointF) -> float:
        """Return the place of the axis under a position of this widget."""
        on_surface = position - QPointF(self.surface.pos())
        area = self.rows[0].area
        if self._is_upright:
            share = (on_surface.y() - area.top()) / max(area.height(), 1.0)
        else:
            share = (on_surface.x() - area.left()) / max(area.width(), 1.0)
        return self.range.first + share * self.range.length

    def position_of(self, place: float) -> QPoint:
        """Return where a place of the axis lies on this widget."""
        on_surface: QPoint = self.surface.pos()
        return self.line_at(place).center().toPoint() + on_surface

    @contextmanager
    def coloured_by(self, theme: Theme) -> Iterator[None]:
        """Take the colours of another theme for a while; nothing is painted on the screen."""
        own, self.theme = self.theme, theme
        self._dress()
        try:
            yield
        finally:
            self.theme = own
            self._dress()

    def contents(self, ending: str) -> bytes:
        """Return the plot as a file: its picture, its drawing or its values.

        Args:
            ending: ``png``, ``svg``, ``pdf`` or ``csv``.
        """
        match ending:
            case "pdf":
                return self._pdf()
            case "svg":
                return self._svg()
            case "csv":
                return self._csv()
        return self._png()

    # Qt's events.

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    def event(self, event: QEvent) -> bool:
        """Claim the plot's keys; show no tip of Qt's, as the pointer reads already."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            if self.claims(event):
                event.accept()
                return True
        elif isinstance(event, QHelpEvent) and event.type() is QEvent.Type.ToolTip:
            return True  # shown already, where the pointer reads
        return super().event(event)

    def claims(self, event: QKeyEvent) -> bool:
        """Whether a key is the plot's, whatever it does elsewhere in the window."""
        return event.modifiers() in PLAIN_KEYS and (
            event.text() in ("+", "-")
            or event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right)
            or (event.key() == Qt.Key.Key_Home and self.is_zoomed)
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Zoom, show all, or move the line that values are read at."""
        if event.text() in ("+", "-"):
            self.zoom(1 / ZOOM if event.text() == "+" else ZOOM)
        elif event.key() == Qt.Key.Key_Home:
            self.show_all()
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.go_by(1 if event.key() == Qt.Key.Key_Right else -1)
        else:
            super().keyPressEvent(event)

    def go_by(self, strides: int) -> None:
        """Move the line that values are read at; what is out of view comes into view."""
        middle = self.range.first + self.range.length / 2
        place = middle if self.place is None else self.place + strides * self.stride()
        place = min(max(place, self.range.low), self.range.high)
        self.show_range(self.range.showing(place))
        self.read(place)
        self.show_tip(place)

    def show_tip(self, place: float, at: QPoint | None = None) -> None:
        """Show the values at a place next to the pointer or the line."""
        at = self.mapToGlobal(self.position_of(place) if at is None else at)
        QToolTip.showText(at, plain_tip(self.text_at(self.snapped(place))), self)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the view."""
        if event.button() in GRIPS:
            self._grip = event.position()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Pan while the view is held, else read what is under the pointer."""
        if self._grip is not None:
            moved, self._grip = self._grip, event.position()
            self.pan(self.place_at(moved) - self.place_at(event.position()))
            return
        self.point(event.position())

    def point(self, position: QPointF) -> None:
        """Read the values under the pointer."""
        place = self.place_at(position)
        if not self.rows or not self.range.first <= place <= self.range.last:
            self.read(None)
            QToolTip.hideText()
            return
        self.read(place)
        self.show_tip(place, position.toPoint())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the view go."""
        if event.button() in GRIPS:
            self._grip = None

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.read(None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl, pan sideways."""
        turned = event.angleDelta()
        if event.modifiers() & CONTROL and turned.y():
            self.zoom(ZOOM ** (-turned.y() / NOTCH), self.place_at(event.position()))
        elif self.is_zoomed and turned.x():
            self.pan(-turned.x() / NOTCH * PAN_SHARE * self.range.length)
        else:
            event.ignore()

    # Saving.

    def _add_actions(self) -> None:
        for text, do in (
            (tr("Save plot…"), lambda: self.save_asked.emit(self)),
            ("", None),
            (tr("Zoom in") + "\t+", lambda: self.zoom(1 / ZOOM)),
            (tr("Zoom out") + "\t-", lambda: self.zoom(ZOOM)),
            (tr("Show all") + "\t" + tr("Home"), lambda: self.show_all()),
        ):
            action = QAction(text, self)
            if do is None:
                action.setSeparator(True)
            else:
                action.triggered.connect(lambda _checked=False, do=do: do())
            self.addAction(action)

    def _show_cursor(self) -> None:
        place = self.place
        is_seen = place is not None and self.range.first <= place <= self.range.last
        self._cursor.setVisible(is_seen and bool(self.rows))
        if self._cursor.isVisible() and place is not None:
            self._cursor.setLine(self.line_at(place))
        self.paint_soon()

    def _dress(self) -> None:
        self.surface.setBackground(self.ground())
        self._cursor.setPen(QPen(self.theme.colour("muted"), 1, Qt.PenStyle.DashLine))
        self.dress()
        self.paint_soon()

    def ground(self) -> QColor:
        """Return the colour under the plot."""
        return self.theme.colour("surface")

    def _png(self) -> bytes:
        scale = max(PNG_SCALE, self.devicePixelRatioF())
        size = self._saved_size()
        image = QImage(size * scale, QImage.Format.Format_RGB32)
        image.fill(self.ground())
        image.setDevicePixelRatio(scale)
        painter = QPainter(image)
        self._draw(painter)
        painter.end()
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        QImageWriter(buffer, QByteArray(b"png")).write(image)
        return bytes(buffer.data().data())

    def _csv(self) -> bytes:
        table, text = self.table(), io.StringIO()
        csv.writer(text).writerows([table.columns, *table.rows])
        return text.getvalue().encode()

    def _pdf(self) -> bytes:
        """Return the plot as a page of its size, with text as text."""
        buffer, size = QBuffer(), self._saved_size()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        page = QPdfWriter(buffer)
        page.setTitle(self.name)
        page.setPageMargins(QMarginsF())
        points = POINTS_PER_INCH / self.logicalDpiX()
        area = QSizeF(size.width() * points, size.height() * points)
        page.setPageSize(QPageSize(area, QPageSize.Unit.Point))
        page.setResolution(self.logicalDpiX())
        painter = QPainter(page)
        painter.fillRect(QRect(QPoint(), size), self.ground())
        self._draw(painter)
        painter.end()
        return bytes(buffer.data().data())

    def _svg(self) -> bytes:
        """Return the plot as a drawing, each row clipped: Qt's generator knows no clipping."""
        boxes = [row.box for row in self.rows]
        others = [each for each in self.surface.scene().items() if each.parentItem() is None]
        others = [each for each in others if each not in boxes]
        for box in boxes:
            box.setOpacity(0)
        whole = self._drawn_svg(with_keys=True)
        for each in others:
            each.setOpacity(0)
        parts = []
        for box in boxes:
            box.setOpacity(1)
            area = box.sceneBoundingRect().translated(0, self._key_height())
            parts.append((self._drawn_svg(), area))
            box.setOpacity(0)
        for each in (*boxes, *others):
            each.setOpacity(1)
        return plain_svg(whole, parts).encode()

    def _drawn_svg(self, *, with_keys: bool = False) -> str:
        buffer, size = QBuffer(), self._saved_size()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        drawing = QSvgGenerator()
        drawing.setOutputDevice(buffer)
        drawing.setSize(size)
        drawing.setViewBox(QRect(QPoint(), size))
        drawing.setTitle(self.name)
        drawing.setDescription(self.accessibleDescription())
        drawing.setResolution(self.logicalDpiX())
        painter = QPainter(drawing)
        if with_keys:
            painter.fillRect(QRect(QPoint(), size), self.ground())
        self._draw(painter, with_keys=with_keys)
        painter.end()
        return bytes(buffer.data().data()).decode()

    def _draw(self, painter: QPainter, *, with_keys: bool = True) -> None:
        """Draw legend and rows, without the line that values are read at."""
        if with_keys:
            self._draw_keys(painter)
        scene, size = self.surface.scene(), self.surface.size()
        target = QRectF(QPointF(0, self._key_height()), size.toSizeF())
        cached = [item for item in scene.items() if item.cacheMode() == CACHED]
        for item in cached:  # else their pixels are copied
            item.setCacheMode(QGraphicsItem.CacheMode.NoCache)
        self._cursor.hide()
        scene.prepareForPaint()
        scene.render(painter, target, QRectF(self.surface.rect()))
        self._show_cursor()
        for item in cached:
            item.setCacheMode(CACHED)

    def _saved_size(self) -> QSize:
        size: QSize = self.surface.size()
        return size + QSize(0, self._key_height())

    def _key_height(self) -> int:
        places = self._key_places()
        return round(places[-1].bottom() + em(PAD_EM)) if places else 0

    def _key_places(self) -> list[QRectF]:
        """Return where the entries of the legend lie, line after line."""
        metrics, places = QFontMetricsF(plot_font(SMALL)), []
        left, top = float(em(PAD_EM)), float(em(PAD_EM))
        for key in self.keys():
            width = em(SWATCH_EM) + em(PAD_EM) + metrics.horizontalAdvance(key.name) + 2
            if left > em(PAD_EM) and left + width > self.surface.width():
                left, top = float(em(PAD_EM)), top + em(LINE_EM)
            places.append(QRectF(left, top, width, em(LINE_EM)))
            left += width + em(ENTRY_GAP_EM)
        return places

    def _draw_keys(self, painter: QPainter) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(plot_font(SMALL))
        alignment = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        for key, place in zip(self.keys(), self._key_places(), strict=True):
            middle = place.center().y()
            if key.is_area:
                height = em(AREA_EM)
                area = QRectF(place.left(), middle - height / 2, em(SWATCH_EM), height)
                painter.fillRect(area, key.colour)
            else:
                painter.setPen(QPen(key.colour, 2, key.style))
                left = place.left()
                painter.drawLine(QPointF(left, middle), QPointF(left + em(SWATCH_EM), middle))
            painter.setPen(self.theme.colour("text"))
            text = place.adjusted(em(SWATCH_EM) + em(PAD_EM), 0, 0, 0)
            painter.drawText(text, alignment, key.name)


def place_text(item: QGraphicsSimpleTextItem, at: QPointF, anchor: tuple[float, float]) -> None:
    """Move a text so that a point of it, shares of its width and height, lies at a position."""
    room = item.boundingRect()
    item.setPos(at.x() - anchor[0] * room.width(), at.y() - anchor[1] * room.height())
