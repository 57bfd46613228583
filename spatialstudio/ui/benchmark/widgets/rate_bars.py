"""Bars of rates with their intervals, grouped, to click for their pictures."""

from collections.abc import Sequence
from math import isnan

import pyqtgraph as pg  # type: ignore[import-untyped]
from PySide6.QtCore import QEvent, QMarginsF, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.ui.theme.theme import SMALL, Theme, em, plot_font
from spatialstudio.ui.widgets.painting import elided
from spatialstudio.ui.widgets.plot import Plot, PlotKey, PlotTable, place_text
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import CACHED, PlotLine
from spatialstudio.ui.widgets.texts import tr

BAR_EM, AXIS_EM, VALUE_EM, PAD_EM = 1.5, 1.6, 4.2, 0.5
WIDEST_LABEL_EM = 12.0
THICKNESS = 0.66
"""Of a bar, as a share of its row."""
CAP = 0.2
"""Half the height of an interval's ends, as a share of its row."""
TICK_EM = 1.3
"""Half the width of a tick's label."""
FILL = 0.55
LINE_WIDTH = 1.4
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


@frozen(eq=False)
class Bar:
    """One bar.

    Attributes:
        label: Name of the bar.
        heading: Shown above the first bar of a group; empty for none.
        hue: Hue of its method.
        rate: Its value with its interval, in [0, 1].
        key: Given back when it is picked.
    """

    label: str
    heading: str
    hue: int
    rate: Interval
    key: str


class RateBars(Plot):
    """Shows rates as horizontal bars with intervals, from top to bottom.

    Emits ``bar_picked`` with the key of a bar on a click, or on Return for the one that is read.

    Args:
        theme: Colours.
    """

    bar_picked = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, tr("Pass rates"), is_upright=True)
        self._bars: tuple[Bar, ...] = ()
        self._places: list[float] = []
        self._texts: list[tuple[QGraphicsSimpleTextItem, QGraphicsSimpleTextItem]] = []
        self._headings: list[tuple[float, QGraphicsSimpleTextItem]] = []
        self._pressed: QPointF | None = None
        self._row = self.add_row()
        self._items: list[pg.GraphicsObject] = []
        self._axis = pg.AxisItem("bottom")
        self._axis.setCacheMode(CACHED)
        self._axis.linkToView(self._row.box)
        self.surface.scene().addItem(self._axis)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_bars(self, title: str, bars: Sequence[Bar]) -> None:
        """Show bars; ``title`` names the figure in files and to screen readers."""
        self.name = title
        self.setAccessibleName(title)
        self._bars = tuple(bars)
        self._places, place, headings = [], 0.0, []
        for bar in bars:
            if bar.heading:
                headings.append((place, bar.heading))
                place += 1
            self._places.append(place)
            place += 1
        self.range = PlotRange(low=-0.5, high=max(place - 0.5, 0.5), least=1.0)
        self.place = None
        self._make_items(headings)
        self.setFixedHeight(round(place * em(BAR_EM)) + em(AXIS_EM + PAD_EM))
        self.refresh()
        self.describe("; ".join(f"{self._name_of(bar)}: {bar.rate.text}" for bar in self._bars))

    def lay_out(self, room: QRectF) -> None:
        """Reserve room for the names on the left and the values on the right."""
        left = self._label_width() + 2 * em(PAD_EM)
        area = room.adjusted(left, em(PAD_EM) / 2, -em(VALUE_EM), -em(AXIS_EM))
        self._row.place(area, QMarginsF(em(TICK_EM), 0, em(TICK_EM), 0))
        box = self._row.box.geometry()
        self._axis.setGeometry(QRectF(box.left(), box.bottom(), box.width(), em(AXIS_EM)))
        self._axis.setHeight(em(AXIS_EM))

    def show_range(self, view: PlotRange) -> None:
        """Move the texts along with the bars."""
        super().show_range(view)
        self._place_texts()

    def dress(self) -> None:
        """Apply the theme's colours."""
        self._axis.setStyle(tickFont=plot_font(SMALL), tickTextOffset=em(0.2), tickLength=em(0.2))
        self._axis.setPen(self.theme.colour("line"))
        self._axis.setTextPen(self.theme.colour("muted"))
        self._axis.setTicks([[(tick, f"{tick:.0%}".replace("%", " %")) for tick in TICKS]])
        text, muted = self.theme.colour("text"), self.theme.colour("muted")
        for label, value in self._texts:
            label.setBrush(text)
            value.setBrush(muted)
        for _, heading in self._headings:
            heading.setBrush(text)
        for bar, item, line in zip(self._bars, self._items[::2], self._items[1::2], strict=True):
            item.setOpts(
                brush=self.theme.mention(bar.hue, FILL), pen=pg.mkPen(self.theme.mention(bar.hue))
            )
            line.setPen(pg.mkPen(text, width=LINE_WIDTH))

    def snapped(self, place: float) -> float:
        """Return the nearest bar."""
        return min(self._places, key=lambda each: abs(each - place), default=place)

    def stride(self) -> float:
        """Return the distance of two bars."""
        return 1.0

    def text_at(self, place: float) -> str:
        """Return the name, value and interval of a bar."""
        bar = self._bar_at(place)
        if bar is None:
            return ""
        words = tr("{rate} of {count} verdicts; click for the pictures")
        return f"{self._name_of(bar)}\n{words.format(rate=bar.rate.text, count=bar.rate.n)}"

    def keys(self) -> Sequence[PlotKey]:
        """Return no legend, as each bar has its name."""
        return ()

    def table(self) -> PlotTable:
        """Return a row for each bar."""
        rows, group = [], ""
        for bar in self._bars:
            group = bar.heading or group
            rate = bar.rate
            numbers = (None if isnan(each) else each for each in (rate.value, rate.low, rate.high))
            rows.append((group, bar.label, *numbers, rate.n))
        return PlotTable(("group", "method", "rate", "low", "high", "n"), tuple(rows))

    def claims(self, event: QKeyEvent) -> bool:
        """Claim the arrows that move between bars, too."""
        keys = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        return event.key() in keys or super().claims(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._step(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._pick(self.place)
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position()
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        pressed, self._pressed = self._pressed, None
        is_left = event.button() is Qt.MouseButton.LeftButton
        if (
            is_left
            and pressed is not None
            and (pressed - event.position()).manhattanLength() < em()
        ):
            self._pick(self.place_at(event.position()))

    def leaveEvent(self, event: QEvent) -> None:
        self._pressed = None
        super().leaveEvent(event)

    def _step(self, step: int) -> None:
        """Read the next bar; headings between bars are skipped."""
        if not self._places:
            return
        number = self._places.index(self.place) + step if self.place in self._places else 0
        place = self._places[min(max(number, 0), len(self._places) - 1)]
        self.read(place)
        self.show_tip(place)

    def _pick(self, place: float | None) -> None:
        bar = None if place is None else self._bar_at(self.snapped(place))
        if bar is not None:
            self.bar_picked.emit(bar.key)

    def _bar_at(self, place: float) -> Bar | None:
        return self._bars[self._places.index(place)] if place in self._places else None

    def _name_of(self, bar: Bar) -> str:
        group = ""
        for each in self._bars:
            group = each.heading or group
            if each is bar:
                break
        return f"{group}, {bar.label}" if group else bar.label

    def _make_items(self, headings: Sequence[tuple[float, str]]) -> None:
        scene = self.surface.scene()
        for item in self._items:
            self._row.box.removeItem(item)
        for each in (*(t for pair in self._texts for t in pair), *(t for _, t in self._headings)):
            scene.removeItem(each)
        self._items, self._texts, self._headings = [], [], []
        for bar, place in zip(self._bars, self._places, strict=True):
            width = 0.0 if isnan(bar.rate.value) else bar.rate.value
            item = pg.BarGraphItem(x0=[0], y=[place], width=[width], height=THICKNESS)
            line = PlotLine(*_whisker(bar.rate, place), connect="pairs", antialias=True)
            for each, z in ((item, 0), (line, 1)):
                self._row.add(each, z)
                self._items.append(each)
            self._texts.append((self._text(bar.label), self._text(_percent(bar.rate))))
        for place, words in headings:
            self._headings.append((place, self._text(words, bold=True)))

    def _text(self, words: str, *, bold: bool = False) -> QGraphicsSimpleTextItem:
        item = QGraphicsSimpleTextItem(words)
        item.setFont(plot_font(SMALL, bold=bold))
        self.surface.scene().addItem(item)
        return item

    def _place_texts(self) -> None:
        area = self._row.area
        for bar, place, (label, value) in zip(self._bars, self._places, self._texts, strict=True):
            y = self._row.position_of(place, 0).y()
            label.setText(elided(bar.label, label.font(), self._label_width()))
            place_text(label, QPointF(area.left() - em(PAD_EM), y), (1, 0.5))
            place_text(value, QPointF(area.right() + em(PAD_EM), y), (0, 0.5))
            for each in (label, value):
                each.setVisible(area.top() <= y <= area.bottom())
        for place, heading in self._headings:
            y = self._row.position_of(place, 0).y()
            place_text(heading, QPointF(em(PAD_EM), y), (0, 0.5))
            heading.setVisible(area.top() <= y <= area.bottom())

    def _label_width(self) -> float:
        measure = QFontMetricsF(plot_font(SMALL))
        widest = max((measure.horizontalAdvance(bar.label) for bar in self._bars), default=0.0)
        return min(widest, em(WIDEST_LABEL_EM), self.width() * 0.4)


def _whisker(rate: Interval, place: float) -> tuple[list[float], list[float]]:
    """Return the points of an interval and its ends, in pairs."""
    if isnan(rate.value):
        return [0.0, 0.0], [place, place]
    low, high = rate.low, rate.high
    return (
        [low, high, low, low, high, high],
        [place, place, place - CAP, place + CAP, place - CAP, place + CAP],
    )


def _percent(rate: Interval) -> str:
    return "–" if isnan(rate.value) else f"{100 * rate.value:.1f} %"  # noqa: RUF001 - a dash
