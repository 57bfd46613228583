"""The legend above the chart, its lane layout, and the menu of the second run."""

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QAction, QColor, QFontMetricsF, QPainter, QPen, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from spatialstudio.ui.inspect.widgets.pos_curve import TimeContents
from spatialstudio.ui.inspect.widgets.pos_lanes import legend_colour
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.builders import ThemedIcon, at_top, grow, row, tool_button
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_text, elided
from spatialstudio.ui.widgets.texts import plain_tip, tr

SWATCH_EM = 1.1
GAP_EM = 0.9
TEXT_GAP_EM = 0.3
LINE_EM = 1.4


class CurveLegend(PaintedWidget):
    """Names the curves in their hues and states when PoS was read, in wrapped lines.

    Args:
        theme: Its colours.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, accessibleName=tr("Legend of the curves"))
        self._contents = TimeContents()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._fit()

    def show_contents(self, contents: TimeContents) -> None:
        """Name the curves of a chart; they stay the same during a run."""
        before, self._contents = self._contents, contents
        if _named_by(before) == _named_by(contents):
            return
        named = "\n".join(name for name, _, _ in self._entries())
        self.setToolTip(plain_tip(named))
        self.setAccessibleDescription(named)
        self._fit()
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def draw(self, painter: QPainter) -> None:
        """Draw a line and a name per curve."""
        look = (font(SMALL), self._theme.colour("muted"))
        for (name, ink, style), place in zip(self._entries(), self._places(), strict=True):
            left, middle = place.left(), place.center().y()
            painter.setPen(QPen(ink, 2, style))
            painter.drawLine(QPointF(left, middle), QPointF(left + em(SWATCH_EM), middle))
            place.setLeft(left + _swatch(style))
            shown = elided(name, look[0], place.width())
            draw_text(painter, place, shown, look, Qt.AlignmentFlag.AlignVCenter)

    def _fit(self) -> None:
        """Set the height to that of the lines."""
        lines = {place.top() for place in self._places()}
        self.setFixedHeight(max(len(lines), 1) * em(LINE_EM))

    def _places(self) -> list[QRectF]:
        """Return the rectangles of the entries, wrapped where a line is full."""
        metrics = QFontMetricsF(font(SMALL))
        places: list[QRectF] = []
        left, top = 0.0, 0.0
        for name, _, style in self._entries():
            width = _swatch(style) + metrics.horizontalAdvance(name) + 2
            if left and left + width > self.width():
                left, top = 0.0, top + em(LINE_EM)
            places.append(QRectF(left, top, min(width, self.width()), em(LINE_EM)))
            left += width + em(GAP_EM)
        return places

    def _entries(self) -> list[tuple[str, QColor, Qt.PenStyle]]:
        contents, solid, dashed = self._contents, Qt.PenStyle.SolidLine, Qt.PenStyle.DashLine
        entries = [
            (curve.name, self._theme.mention(curve.hue), solid) for curve in contents.first.curves
        ]
        if contents.second is not None:
            colour = legend_colour(contents.second, self._theme)
            entries.append((contents.second.name, colour, dashed))
        for goal in contents.goals:
            text = tr("goal {goal:g}").format(goal=goal)
            entries.append((text, self._theme.colour("good"), dashed))
        muted = self._theme.colour("muted")
        entries += [(text, muted, Qt.PenStyle.NoPen) for text in areas_in_words(contents)]
        if contents.reading:
            entries.append((contents.reading, self._theme.colour("muted"), Qt.PenStyle.NoPen))
        return entries


def areas_in_words(contents: TimeContents) -> tuple[str, ...]:
    """Return what the shaded areas of the chart stand for; empty without any."""
    texts = []
    if contents.first.guided_steps:
        texts.append(tr("shaded steps: guided"))
    if any(curve.bounds for curve in contents.first.curves):
        texts.append(tr("band on a curve: strict to inclusive PoS"))
    return tuple(texts)


def _named_by(contents: TimeContents) -> tuple[object, ...]:
    """Return what determines the entries."""
    curves = [
        (line.name, [(curve.name, curve.hue) for curve in line.curves])
        for line in (contents.first, contents.second)
        if line is not None
    ]
    return (curves, contents.goals, contents.reading, areas_in_words(contents))


def _swatch(style: Qt.PenStyle) -> float:
    """Return the width of an entry's swatch; entries that name no curve have none."""
    return 0.0 if style is Qt.PenStyle.NoPen else em(SWATCH_EM + TEXT_GAP_EM)


ICON_EM = 1.1


class TimeHeader(QWidget):
    """Shows the legend and a menu of the chart's options.

    Args:
        theme: Its colours and icons.
        groups: The actions of the menu; a separator divides groups.
    """

    def __init__(self, theme: Theme, groups: tuple[tuple[QAction, ...], ...]) -> None:
        super().__init__()
        self._legend = CurveLegend(theme)
        menu = QMenu(self)
        for group in groups:
            menu.addActions(group)
            menu.addSeparator()
        self._button = tool_button(
            name=tr("Second run"), tip=tr("Run to compare with"), icon_em=ICON_EM
        )
        self._button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._button.setMenu(menu)
        ThemedIcon(self._button, theme, "compare")
        row(grow(self._legend), at_top(self._button), within=self, gap=0.6)

    def show_contents(self, contents: TimeContents) -> None:
        """Name the curves and the second run."""
        self._legend.show_contents(contents)
        second = contents.second
        self._button.setText(tr("Compare") if second is None else second.name)
