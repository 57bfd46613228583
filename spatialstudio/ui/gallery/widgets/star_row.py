"""A row of stars, set by a click or a key."""

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPen

from spatialstudio.domain.library import MOST_STARS
from spatialstudio.ui.gallery.widgets.run_tile import star
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.painting import FIXED, PaintedWidget
from spatialstudio.ui.widgets.texts import tr

STEP_EM = 1.3
RADIUS_EM = 0.55


class StarRow(PaintedWidget):
    """Shows 0 to ``MOST_STARS`` stars; emits ``stars_picked`` with the user's rating.

    A click on the last filled star clears the rating.

    Attributes:
        stars: Number of stars shown.
    """

    stars_picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            theme,
            accessibleName=tr("Stars"),
            focusPolicy=Qt.FocusPolicy.StrongFocus,
            sizePolicy=FIXED,
        )
        self.stars = 0

    def sizeHint(self) -> QSize:
        return QSize(em(STEP_EM * MOST_STARS), em(STEP_EM))

    def show_stars(self, stars: int) -> None:
        """Show a number of stars."""
        self.stars = stars
        self.setAccessibleDescription(tr("{count} of 5 stars").format(count=stars))
        self.update()

    def draw(self, painter: QPainter) -> None:
        """Draw the stars, filled up to the rating."""
        for place in range(MOST_STARS):
            centre = QPointF(em(STEP_EM) * (place + 0.5), self.height() / 2)
            is_full = place < self.stars
            painter.setPen(QPen(self._theme.colour("warning" if is_full else "faint"), 1.2))
            painter.setBrush(self._theme.colour("warning") if is_full else Qt.BrushStyle.NoBrush)
            painter.drawPolygon(star(centre, em(RADIUS_EM)))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(self._theme.colour("accent"))
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), em(0.3), em(0.3))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        picked = min(int(event.position().x() // em(STEP_EM)) + 1, MOST_STARS)
        self._pick(0 if picked == self.stars else picked)

    def event(self, event: QEvent) -> bool:
        """Accept digit keys before the window's shortcuts see them."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            event.setAccepted(0 <= event.key() - Qt.Key.Key_0 <= MOST_STARS)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        digit = event.key() - Qt.Key.Key_0
        if event.key() in (Qt.Key.Key_Right, Qt.Key.Key_Up):
            self._pick(min(self.stars + 1, MOST_STARS))
        elif event.key() in (Qt.Key.Key_Left, Qt.Key.Key_Down):
            self._pick(max(self.stars - 1, 0))
        elif 0 <= digit <= MOST_STARS:
            self._pick(digit)
        else:
            super().keyPressEvent(event)

    def _pick(self, stars: int) -> None:
        if stars != self.stars:
            self.show_stars(stars)
            self.stars_picked.emit(stars)
