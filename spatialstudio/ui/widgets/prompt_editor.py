"""The prompt as one types it, its object words underlined in their hues."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPointF, QRectF, QSignalBlocker, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPaintEvent, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme

PAUSE_MS = 120
LINES = 4
LINE_HEIGHT_EM = 1.25
UNDERLINE_EM = 0.14


@dataclass(frozen=True, slots=True)
class MarkedWord:
    """A stretch of the prompt that names a thing.

    Attributes:
        start: First character.
        stop: Behind the last character.
        hue: Which of the mention hues.
    """

    start: int
    stop: int
    hue: int


class PromptEditor(QPlainTextEdit):
    """Lets the user write the prompt; shows which words name things.

    Emits ``prompt_edited`` with the text a moment after the user's last key; ``show_prompt`` and
    ``show_words`` never emit.
    """

    prompt_edited = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._words: tuple[MarkedWord, ...] = ()
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE_MS)
        self._pause.timeout.connect(self._tell)
        self.textChanged.connect(self._pause.start)
        self.setAccessibleName("Prompt")
        self.setPlaceholderText("Say what stands where: a dog to the left of a car")
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)  # the window's own stack holds the typing as well
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.viewport().update)

    def sizeHint(self) -> QSize:
        """Ask for room for a few lines."""
        return QSize(em(16), em(LINES * LINE_HEIGHT_EM) + em())

    def minimumSizeHint(self) -> QSize:
        """Never less than the lines."""
        return QSize(em(8), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Leave the keys of undo and redo to the window."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            keys = QKeySequence.StandardKey
            if event.matches(keys.Undo) or event.matches(keys.Redo):
                event.ignore()
                return True
        return super().event(event)

    def show_prompt(self, text: str) -> None:
        """Show a prompt that someone else chose."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        with QSignalBlocker(self):
            cursor.insertText(text)
            self.setTextCursor(cursor)
        self._pause.stop()
        self.show_words(())

    def show_words(self, words: tuple[MarkedWord, ...]) -> None:
        """Underline the words that name things."""
        self._words = words
        self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the text, then the underlines."""
        super().paintEvent(event)
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        length = self.document().characterCount()
        for word in self._words:
            if word.stop < length:
                painter.setBrush(self._theme.mention(word.hue))
                for line in self._lines_under(word):
                    painter.drawRoundedRect(line, line.height() / 2, line.height() / 2)
        painter.end()

    def _lines_under(self, word: MarkedWord) -> list[QRectF]:
        thickness = em(UNDERLINE_EM)
        lines: list[QRectF] = []
        for place in range(word.start, word.stop):
            cursor = QTextCursor(self.document())
            cursor.setPosition(place)
            left = self.cursorRect(cursor)
            cursor.setPosition(place + 1)
            right = self.cursorRect(cursor)
            if right.top() != left.top():
                continue  # the line breaks here
            stroke = QRectF(QPointF(left.left(), left.bottom()), QPointF(right.left(), 0))
            stroke.setHeight(thickness)
            if lines and lines[-1].top() == stroke.top():
                lines[-1].setRight(stroke.right())
            else:
                lines.append(stroke)
        return lines

    def _tell(self) -> None:
        self.prompt_edited.emit(self.toPlainText())
