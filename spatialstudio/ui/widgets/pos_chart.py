"""PoS of every relation over the denoising steps, guided beside baseline."""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.ui.theme.metrics import SMALL, em, font
from spatialstudio.ui.theme.theme import Theme

EVEN = 0.5
LEVELS = ((1.0, "1"), (EVEN, "0.5"), (0.0, "0"))
MAX_LABELS = 9
SHADE = 0.08
DOT_EM = 0.5
LEGEND_EM = 2.1


@dataclass(frozen=True, slots=True)
class PosCurve:
    """One relation's PoS over the steps.

    Attributes:
        name: The relation in words.
        hue: Of its subject.
        points: Step and PoS in [0, 1], in order.
        is_baseline: Whether it belongs to the unguided run.
    """

    name: str
    hue: int
    points: tuple[tuple[int, float], ...]
    is_baseline: bool = False


class PosChart(QWidget):
    """Shows the curves, the even line at 0.5, the guided steps shaded, and the playhead.

    Emits ``step_picked`` when the user clicks, drags or turns the wheel.
    """

    step_picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._curves: tuple[PosCurve, ...] = ()
        self._guided: tuple[int, ...] = ()
        self._count = 0
        self._step = 0
        self.setAccessibleName("PoS over the steps")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for a wide, low field."""
        return QSize(em(26), em(8))

    def minimumSizeHint(self) -> QSize:
        """Never too small to read."""
        return QSize(em(14), em(6))

    def show_curves(
        self, curves: tuple[PosCurve, ...], guided_steps: tuple[int, ...], step_count: int
    ) -> None:
        """Show curves over ``step_count`` steps; ``guided_steps`` are those guidance acted on."""
        self._curves, self._guided, self._count = curves, guided_steps, step_count
        self._describe()
        self.update()

    def show_step(self, step: int) -> None:
        """Move the playhead."""
        self._step = step
        self._describe()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the field, its axes, the curves and the playhead."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        field = self._field()
        self._draw_guided(painter, field)
        self._draw_levels(painter, field)
        self._draw_steps(painter, field)
        if self._count:
            self._draw_playhead(painter, field)
        for curve in self._curves:
            self._draw_curve(painter, field, curve)
        self._draw_legend(painter, field)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Pick the step under the pointer."""
        self._pick_at(event.position().x())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Follow the pointer while the button is down."""
        self._pick_at(event.position().x())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Go one step on or back."""
        self._pick(self._step + (1 if event.angleDelta().y() < 0 else -1))

    def _field(self) -> QRectF:
        top = em(LEGEND_EM)
        return QRectF(em(2.6), top, self.width() - em(5), self.height() - top - em(1.5))

    def _x(self, field: QRectF, step: float) -> float:
        return field.left() + step / max(self._count - 1, 1) * field.width()

    def _pick_at(self, x: float) -> None:
        field = self._field()
        self._pick(round((x - field.left()) / max(field.width(), 1) * (self._count - 1)))

    def _pick(self, step: int) -> None:
        if not self._count:
            return
        step = min(max(step, 0), self._count - 1)
        if step != self._step:
            self.show_step(step)
            self.step_picked.emit(step)

    def _draw_guided(self, painter: QPainter, field: QRectF) -> None:
        shade = self._theme.colour("text", SHADE)
        half = 0.5 / max(self._count - 1, 1) * field.width()
        for step in self._guided:
            x = self._x(field, step)
            band = QRectF(x - half, field.top(), 2 * half, field.height())
            painter.fillRect(band.intersected(field), shade)

    def _draw_levels(self, painter: QPainter, field: QRectF) -> None:
        painter.setFont(font(SMALL))
        for level, text in LEVELS:
            y = field.bottom() - level * field.height()
            is_even = level == EVEN
            ink = self._theme.colour("faint" if is_even else "line")
            style = Qt.PenStyle.DotLine if is_even else Qt.PenStyle.SolidLine
            painter.setPen(QPen(ink, 1, style))
            painter.drawLine(QPointF(field.left(), y), QPointF(field.right(), y))
            painter.setPen(self._theme.colour("muted"))
            place = QRectF(0, y - em(), field.left() - em(0.4), em(2))
            painter.drawText(
                place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, text
            )

    def _draw_steps(self, painter: QPainter, field: QRectF) -> None:
        painter.setPen(self._theme.colour("muted"))
        low = QRectF(0, field.bottom() + em(0.25), field.left() - em(0.6), em(1.1))
        painter.drawText(low, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, "step")
        stride = max(-(-self._count // MAX_LABELS), 1)
        for step in range(0, self._count, stride):
            x = self._x(field, step)
            place = QRectF(x - em(2), field.bottom() + em(0.25), em(4), em(1.1))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, str(step + 1))

    def _draw_playhead(self, painter: QPainter, field: QRectF) -> None:
        x = self._x(field, self._step)
        painter.setPen(QPen(self._theme.colour("accent"), 1.4))
        painter.drawLine(QPointF(x, field.top() - em(0.3)), QPointF(x, field.bottom()))

    def _draw_curve(self, painter: QPainter, field: QRectF, curve: PosCurve) -> None:
        if not curve.points:
            return
        colour = self._theme.mention(curve.hue)
        style = Qt.PenStyle.DashLine if curve.is_baseline else Qt.PenStyle.SolidLine
        pen = QPen(colour, 1.6 if curve.is_baseline else 2.4, style)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        places = [self._place(field, step, pos) for step, pos in curve.points]
        painter.drawPolyline(QPolygonF(places))
        self._draw_value(painter, field, curve, colour)

    def _draw_value(
        self, painter: QPainter, field: QRectF, curve: PosCurve, colour: QColor
    ) -> None:
        here = [pos for step, pos in curve.points if step == self._step]
        if not here:
            return
        place = self._place(field, self._step, here[0])
        radius = em(DOT_EM) / 2
        painter.setPen(QPen(colour, 2))
        painter.setBrush(self._theme.colour("surface") if curve.is_baseline else colour)
        painter.drawEllipse(place, radius, radius)
        painter.setFont(font(SMALL, bold=not curve.is_baseline))
        painter.setPen(self._theme.colour("muted" if curve.is_baseline else "text"))
        aside = em(0.25) if curve.is_baseline else -em(1.25)
        text = QRectF(place.x() + em(0.45), place.y() + aside, em(3), em(1.1))
        painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, f"{here[0]:.2f}")

    def _place(self, field: QRectF, step: int, pos: float) -> QPointF:
        return QPointF(self._x(field, step), field.bottom() - pos * field.height())

    def _draw_legend(self, painter: QPainter, field: QRectF) -> None:
        line = QRectF(field.left(), 0, field.width(), em(1.2))
        painter.setFont(font(SMALL))
        painter.setPen(self._theme.colour("muted"))
        painter.drawText(line, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, "PoS")
        right = line.right()
        for text, style in self._legend():
            right -= painter.fontMetrics().horizontalAdvance(text)
            painter.setPen(self._theme.colour("muted"))
            spot = QRectF(right, line.top(), em(8), line.height())
            painter.drawText(spot, Qt.AlignmentFlag.AlignVCenter, text)
            right -= em(1.8)
            key = QRectF(right, line.top() + em(0.25), em(1.4), em(0.7))
            self._draw_key(painter, key, style)
            right -= em(0.9)

    def _legend(self) -> list[tuple[str, Qt.PenStyle]]:
        """Return what to explain, from right to left; no pen stands for the shade."""
        entries = [("guided steps", Qt.PenStyle.NoPen)] if self._guided else []
        if any(curve.is_baseline for curve in self._curves):
            entries.append(("baseline", Qt.PenStyle.DashLine))
            entries.append(("guided", Qt.PenStyle.SolidLine))
        return entries

    def _draw_key(self, painter: QPainter, key: QRectF, style: Qt.PenStyle) -> None:
        if style is Qt.PenStyle.NoPen:
            painter.fillRect(key, self._theme.colour("text", SHADE * 2))
            return
        painter.setPen(QPen(self._theme.colour("muted"), 2, style))
        height = key.center().y()
        painter.drawLine(QPointF(key.left(), height), QPointF(key.right(), height))

    def _describe(self) -> None:
        said = [
            f"{curve.name}, {'baseline' if curve.is_baseline else 'guided'}: {pos:.2f}"
            for curve in self._curves
            for step, pos in curve.points
            if step == self._step
        ]
        self.setAccessibleDescription(f"Step {self._step + 1}. " + "; ".join(said))
