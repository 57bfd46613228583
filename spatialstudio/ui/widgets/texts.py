"""Translation of the window's texts; labels and tooltips that show text verbatim.

Qt renders text that looks like HTML as rich text, which loads files; names, prompts and foreign
messages are therefore shown with these classes.
"""

from enum import Enum
from html import escape
from textwrap import shorten

from PySide6.QtCore import QCoreApplication, QSize, Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QWidget

from spatialstudio.ui.theme.theme import (
    SMALL,
    em,
    font,
)

CONTEXT = "Studio"
NARROWEST_EM = 3
MOST_OF_A_TIP = 4000
"""Characters."""
_MARKUP = ("<", "&lt;")
"""Qt treats text without either as plain text."""
MOST_LETTERS = 180
"""Maximum characters of a remark; its tooltip has the rest."""


def tr(text: str) -> str:
    """Return a text in the user's language, or unchanged if there is no translation.

    Format values afterwards: ``tr("Step {step}").format(step=3)``.
    """
    return QCoreApplication.translate(CONTEXT, text)


class Tone(Enum):
    """Emphasis of a text; the style sheet maps it to a colour."""

    PLAIN = "plain"
    MUTED = "muted"
    HEADING = "heading"
    WARNING = "warning"


def plain_tip(text: str) -> str:
    """Return a tooltip that Qt shows verbatim, truncated if very long."""
    text = text if len(text) <= MOST_OF_A_TIP else f"{text[:MOST_OF_A_TIP]}…"
    if not any(mark in text for mark in _MARKUP):
        return text
    return f'<div style="white-space: pre-wrap">{escape(text)}</div>'


class PlainLabel(QLabel):
    """Shows plain text on one line."""

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, tone: Tone = Tone.PLAIN
    ) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(text)
        self.setProperty("tone", tone.value)

    def show_text(self, text: str) -> None:
        """Show a text; the label is hidden while it is empty."""
        self.setText(text)
        self.setVisible(bool(text))


class TextLabel(PlainLabel):
    """Shows plain text, selectable and copyable.

    Args:
        text: The text.
        tone: Its emphasis.
        small: Whether its letters are small.
        wraps: Whether it is wrapped to its width.
        lines: Lines of room that it keeps for longer texts.
    """

    def __init__(
        self,
        text: str = "",
        tone: Tone = Tone.PLAIN,
        *,
        small: bool = False,
        wraps: bool = True,
        lines: int = 1,
    ) -> None:
        super().__init__(text, tone=tone)
        self._lines = lines
        self.setWordWrap(wraps)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        policy = self.sizePolicy()  # keeps height-for-width
        policy.setVerticalPolicy(QSizePolicy.Policy.Minimum)
        self.setSizePolicy(policy)
        if small:
            self.setFont(font(SMALL))

    def minimumSizeHint(self) -> QSize:
        """Return a small width, as Qt's own minimum for wrapped text would widen docks."""
        if not self.wordWrap():
            return super().minimumSizeHint()
        return QSize(em(NARROWEST_EM), self._room())

    def heightForWidth(self, width: int) -> int:
        """Return the height of the text at a width; at least that of its lines of room."""
        return max(super().heightForWidth(width), self._room())

    def _room(self) -> int:
        return self._lines * self.fontMetrics().lineSpacing()


class RemarkLabel(TextLabel):
    """Shows a long text in a few lines, with the full text in its tooltip."""

    def __init__(self, text: str, tone: Tone = Tone.PLAIN) -> None:
        shown = shorten(text, MOST_LETTERS, placeholder="…") if len(text) > MOST_LETTERS else text
        super().__init__(shown, tone)
        self.setToolTip(plain_tip("" if shown == text else text))
