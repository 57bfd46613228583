"""The empty state of the gallery: an illustration, a sentence, a button."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.theme.theme import (
    LARGE,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.builders import Placed, centred, column, push_button
from spatialstudio.ui.widgets.painting import SmallDrawing
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
)

DRAWING_EM = (12, 5.5)
SENTENCE_EM = 24
WIDTHS = (0.34, 0.24, 0.34), (0.24, 0.42, 0.26)
"""Widths of the tiles in the drawing's two rows, as fractions."""


class EmptyGrid(SmallDrawing):
    """An illustration of two rows of empty tiles."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, DRAWING_EM)

    def draw(self, painter: QPainter) -> None:
        """Draw the tiles."""
        gap = em(0.4)
        height = (self.height() - gap) / 2 - 2
        for row, widths in enumerate(WIDTHS):
            left = 1.0
            for width in widths:
                size = width * (self.width() - 2 * gap - 2)
                tile = QRectF(left, 1 + row * (height + gap), size, height)
                painter.drawRoundedRect(tile, em(0.3), em(0.3))
                left += size + gap


class EmptyGallery(QWidget):
    """Explains why the gallery is empty and offers an action. Emits ``action_picked``."""

    action_picked = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._title = PlainLabel()
        self._title.setFont(font(LARGE, bold=True))
        self._sentence = TextLabel(tone=Tone.MUTED)
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self._sentence.setFixedWidth(em(SENTENCE_EM))
        self._button = push_button("", self.action_picked)
        parts = (EmptyGrid(theme), self._title, self._sentence, self._button)
        column(
            *(Placed(stretch=2), *map(centred, parts), Placed(stretch=3)),
            within=self,
            gap=0.6,
            edges=None,
        )

    def show_words(self, title: str, sentence: str, action: str = "") -> None:
        """Set the texts; an empty action hides the button."""
        self._title.setText(title)
        self._sentence.setText(sentence)
        self._sentence.setMinimumHeight(self._sentence.heightForWidth(em(SENTENCE_EM)))
        self._button.setText(action)
        self._button.setVisible(bool(action))
