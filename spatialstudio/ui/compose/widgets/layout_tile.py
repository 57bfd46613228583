"""A layout template as a small picture of blobs with its name."""

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton

from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import FIXED, draw_rounded, draw_text, painting
from spatialstudio.ui.widgets.texts import plain_tip

PICTURE_EM = (6.4, 4.6)
CAPTION_EM = 1.4
BLOB_TINT = 0.3


class LayoutTile(QAbstractButton):
    """Shows one layout; pressed while it is the selected one.

    Args:
        theme: Colours and icons.
        name: Caption under the picture.
        prompt: For screen readers and the tooltip.
        blobs: (x, y, diameter) of each object, fractions of the picture; larger is nearer.
        size_em: Width and height of the picture.
    """

    def __init__(
        self,
        theme: Theme,
        name: str,
        prompt: str,
        blobs: tuple[tuple[float, float, float], ...],
        size_em: tuple[float, float] = PICTURE_EM,
    ) -> None:
        super().__init__(text=name)
        self._theme = theme
        self._blobs = blobs
        self._size = QSize(*(em(side) for side in size_em))
        self.setAccessibleName(name)
        self.show_prompt(prompt)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(FIXED)
        theme.changed.connect(self.update)

    def show_prompt(self, prompt: str) -> None:
        """Set the prompt that the layout would write."""
        self.setAccessibleDescription(prompt)
        self.setToolTip(plain_tip(prompt))

    def sizeHint(self) -> QSize:
        caption = QFontMetrics(font(SMALL)).horizontalAdvance(self.text())
        return QSize(max(self._size.width(), caption), self._size.height() + em(CAPTION_EM))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with painting(self) as painter:
            self._draw(painter)

    def _draw(self, painter: QPainter) -> None:
        frame = QRectF(0, 0, self.width(), self._size.height()).adjusted(1, 1, -1, -1)
        is_marked = self.hasFocus() or self.underMouse()
        edge = QPen(self._theme.colour("accent" if is_marked else "line"), 1.5)
        fill = self._theme.colour("hover" if self.isDown() else "raised")
        draw_rounded(painter, frame, fill, edge, em(0.4))
        nearest_last = sorted(enumerate(self._blobs), key=lambda each: each[1][2])
        for hue, (x, y, size) in nearest_last:
            painter.setPen(QPen(self._theme.mention(hue), 2))
            painter.setBrush(self._theme.mention(hue, BLOB_TINT))
            middle = QPointF(frame.left() + x * frame.width(), frame.top() + y * frame.height())
            painter.drawEllipse(middle, size * frame.height() / 2, size * frame.height() / 2)
        line = QRectF(0, self._size.height(), self.width(), em(CAPTION_EM))
        draw_text(painter, line, self.text(), (font(SMALL), self._theme.colour("text")))
