"""Text in the window: labels and tips that show words as they are written.

Qt takes words that look like HTML for rich text, which loads files: names, prompts and messages of
others go through here.
"""

from enum import Enum
from html import escape
from textwrap import shorten

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from spatialstudio.ui.theme.metrics import (
    SMALL,
    em,
    font,
)

NARROWEST_EM = 3
MOST_OF_A_TIP = 4000
"""Letters."""
_MARKUP = ("<", "&lt;")
"""Without either, Qt takes no text for rich text."""
MOST_LETTERS = 180
"""Of a remark; the rest is in its tip, so that what stands under it stays in sight."""


class Tone(Enum):
    """How loud a text is; the stylesheet gives each its colour."""

    PLAIN = "plain"
    MUTED = "muted"
    HEADING = "heading"


def plain_tip(text: str) -> str:
    """Return a tip that Qt shows as it is written, without its end where it is very long."""
    text = text if len(text) <= MOST_OF_A_TIP else f"{text[:MOST_OF_A_TIP]}…"
    if not any(mark in text for mark in _MARKUP):
        return text
    return f'<div style="white-space: pre-wrap">{escape(text)}</div>'


class PlainLabel(QLabel):
    """Shows plain text in a line."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)


class TextLabel(PlainLabel):
    """Shows plain text, wrapped to its width; a reader may select and copy it."""

    def __init__(self, text: str = "", tone: Tone = Tone.PLAIN, *, small: bool = False) -> None:
        super().__init__(text)
        self.setProperty("tone", tone.value)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = self.sizePolicy()  # keeps the height that follows from the width
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
        self.setSizePolicy(policy)
        if small:
            self.setFont(font(SMALL))

    def minimumSizeHint(self) -> QSize:
        """Let wrapped text be narrow; Qt's own idea of its least width would widen whole docks."""
        if not self.wordWrap():
            return super().minimumSizeHint()
        return QSize(em(NARROWEST_EM), self.fontMetrics().lineSpacing())


class RemarkLabel(TextLabel):
    """Shows what may be long, such as a list of words: a few lines, all of it in the tip."""

    def __init__(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        shown = shorten(text, MOST_LETTERS, placeholder="…") if len(text) > MOST_LETTERS else text
        super().__init__(shown, tone)
        self.setToolTip(plain_tip("" if shown == text else text))
