"""The prompt editor, which colours object words and underlines the model's tokens."""

import re
from collections.abc import Hashable, Sequence

from PySide6.QtCore import (
    QElapsedTimer,
    QEvent,
    QPoint,
    QPointF,
    QRectF,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QPainter, QPaintEvent, QPen, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import (
    SMALL,
    Theme,
    em,
    font,
)
from spatialstudio.ui.widgets.painting import painting
from spatialstudio.ui.widgets.texts import tr

PAUSE_MS = 120
PAUSES, LONGEST_PAUSE_MS = 2, 4000
"""Delay before parsing, as a multiple of the last parsing time, and its maximum."""
LINES = 4
LINE_HEIGHT_EM = 1.25
UNDERLINE_EM = 0.14
TICK_EM = 0.07
NOTCH_EM = 0.09
"""Gap at both ends of a token's underline."""
TARGET_ALPHA, SYNTAX_ALPHA = 0.2, 0.22
FEWEST_LETTERS = 2
WHOLE_WORDS = frozenset({"an", "and", "at", "for", "from", "in", "of", "on", "the", "to", "with"})
"""Words that are rarely the beginning of a name."""
TAIL = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}$")
"""Up to three words before the cursor."""


@frozen(kw_only=False)
class MarkedWord:
    """A span of the prompt that names an object.

    Attributes:
        start: First character.
        stop: One past the last character.
        hue: Index of the mention hue.
        key: Id of the object.
    """

    start: int
    stop: int
    hue: int
    key: Hashable = None


@frozen(kw_only=False)
class TokenMarks:
    """The model's tokenisation of a prompt.

    Attributes:
        text: The tokenised prompt.
        tokens: (start, stop) of each token, in characters.
        read: Number of characters within the token limit; the rest is cut off.
    """

    text: str
    tokens: tuple[tuple[int, int], ...]
    read: int


NO_TOKENS = TokenMarks("", (), 0)


class PromptEditor(QPlainTextEdit):
    """Lets the user edit the prompt; shows object words and the model's tokens.

    Emits ``prompt_edited`` with the text shortly after the last key, with a longer delay where
    handling it is slow; the ``show_*`` methods never emit. While a word of the vocabulary is typed,
    its completion is shown after the cursor, with a note if the model does not know it; Tab or the
    right arrow accepts it, Escape dismisses it.

    Attributes:
        remark: The note on the completion; empty for none.
    """

    prompt_edited = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(
            placeholderText=tr("Describe where things are: a dog to the left of a car"),
            tabChangesFocus=True,
            undoRedoEnabled=False,  # typing goes to the window's undo stack
        )
        self._theme = theme
        self._words: tuple[MarkedWord, ...] = ()
        self._tokens = NO_TOKENS
        self._target: Hashable = None
        self._pointed: tuple[tuple[int, int], ...] = ()
        self._syntax: tuple[tuple[int, int], ...] = ()
        self._vocabulary: tuple[str, ...] = ()
        self._known: tuple[str, ...] = ()
        self._rest = self.remark = ""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self._tell)
        self.textChanged.connect(self._pause.start)
        self.cursorPositionChanged.connect(self._wave_off)
        self.setAccessibleName(tr("Prompt"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.viewport().update)

    def settle(self) -> None:
        """Emit pending typed text at once."""
        if self._pause.isActive():
            self._pause.stop()
            self._tell()

    def sizeHint(self) -> QSize:
        return QSize(em(16), em(LINES * LINE_HEIGHT_EM) + em())

    def minimumSizeHint(self) -> QSize:
        """Return the height of the lines as the minimum."""
        return QSize(em(8), self.sizeHint().height())

    def event(self, event: QEvent) -> bool:
        """Leave undo and redo to the window; keep the keys that accept a completion."""
        if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.ShortcutOverride:
            keys = QKeySequence.StandardKey
            if event.matches(keys.Undo) or event.matches(keys.Redo):
                self.settle()
                event.ignore()
                return True
            if self._rest and event.key() == Qt.Key.Key_Escape:
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Accept or dismiss a completion; offer one after a letter."""
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if self._rest and plain and event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Right):
            self.insertPlainText(self._rest)
            return
        if self._rest and event.key() == Qt.Key.Key_Escape:
            self._wave_off()
            return
        super().keyPressEvent(event)
        if event.text().isalpha():
            self._complete()

    def show_prompt(self, text: str) -> None:
        """Show a prompt chosen elsewhere."""
        cursor = self.textCursor()
        cursor.select(QTextCursor.SelectionType.Document)
        with QSignalBlocker(self):
            cursor.insertText(text)
            self.setTextCursor(cursor)
        self._pause.stop()
        self._wave_off()
        self.show_words(())

    def show_words(self, words: tuple[MarkedWord, ...]) -> None:
        """Underline the words that name objects."""
        self._words = words
        self.viewport().update()

    def show_tokens(self, tokens: TokenMarks) -> None:
        """Underline the model's tokens, and strike through what it cuts off."""
        self._tokens = tokens
        self.viewport().update()

    def show_vocabulary(self, names: tuple[str, ...], beyond: tuple[str, ...] = ()) -> None:
        """Set the words to complete to, the most likely first.

        Args:
            names: In lower case.
            beyond: Names that the model does not know, offered last, with a note.
        """
        self._known, self._vocabulary = names, (*names, *beyond)

    def show_pointed(self, spans: tuple[tuple[int, int], ...]) -> None:
        """Mark the words that a note is about; empty for none."""
        if spans != self._pointed:
            self._pointed = spans
            self.viewport().update()

    def show_syntax(self, spans: tuple[tuple[int, int], ...]) -> None:
        """Shade weights, LoRAs, choices and wildcards."""
        if spans != self._syntax:
            self._syntax = spans
            self.viewport().update()

    def show_target(self, key: Hashable) -> None:
        """Mark the object under a drag; None for none."""
        if key != self._target:
            self._target = key
            self.viewport().update()

    def thing_at(self, place: QPoint) -> Hashable:
        """Return the key of the object named at a screen position, or None."""
        within = QPointF(self.viewport().mapFromGlobal(place))
        found = (
            word.key
            for word in self._words
            if any(box.contains(within) for box in self._boxes(word.start, word.stop))
        )
        return next(found, None)

    def thing_under_cursor(self) -> Hashable:
        """Return the key of the object named at the cursor, or None."""
        place = self.textCursor().position()
        return next((w.key for w in self._words if w.start <= place <= w.stop), None)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        seen = self._visible()
        words = [word for word in self._words if _overlap(seen, word)]
        tokens = self._tokens_in(seen)
        with painting(self.viewport()) as painter:
            self._shade(painter, self._syntax, self._theme.colour("faint", SYNTAX_ALPHA))
            self._shade(painter, self._pointed, self._theme.colour("accent", TARGET_ALPHA))
            self._draw_words(painter, words, tokens)
            self._draw_tokens(painter, words, tokens)
            if self._rest and self.hasFocus():
                self._draw_rest(painter)

    def _shade(self, painter: QPainter, spans: Sequence[tuple[int, int]], colour: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        for box in (box for span in spans for box in self._boxes(*span)):
            painter.drawRoundedRect(box, em(NOTCH_EM), em(NOTCH_EM))

    def _tokens_in(self, seen: tuple[int, int]) -> TokenMarks:
        """Return the tokens of the visible text; none if they belong to another text."""
        marks = self._tokens
        if marks.text != self.toPlainText():
            return NO_TOKENS
        near = (each for each in marks.tokens if each[0] < seen[1] and seen[0] < each[1])
        return TokenMarks(marks.text, tuple(near), marks.read)

    def _draw_words(
        self, painter: QPainter, words: Sequence[MarkedWord], tokens: TokenMarks
    ) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        for word in words:
            if word.key is not None and word.key == self._target:
                painter.setBrush(self._theme.mention(word.hue, TARGET_ALPHA))
                for box in self._boxes(word.start, word.stop):
                    painter.drawRoundedRect(box, em(NOTCH_EM), em(NOTCH_EM))
            painter.setBrush(self._theme.mention(word.hue))
            parts = [token for token in tokens.tokens if _overlap(token, word)]
            for start, stop in parts or [(word.start, word.stop)]:
                first, last = max(start, word.start), min(stop, word.stop)
                self._draw_strokes(painter, (first, last), em(UNDERLINE_EM))

    def _draw_tokens(
        self, painter: QPainter, words: Sequence[MarkedWord], tokens: TokenMarks
    ) -> None:
        """Underline each token outside object words, and strike through the part cut off."""
        painter.setBrush(self._theme.colour("faint"))
        for token in tokens.tokens:
            if token[1] <= tokens.read and not any(_overlap(token, w) for w in words):
                self._draw_strokes(painter, token, max(em(TICK_EM), 1))
        if tokens.read < len(tokens.text):
            painter.setPen(QPen(self._theme.colour("bad"), max(em(TICK_EM), 2)))
            for box in self._boxes(tokens.read, len(tokens.text)):
                middle = round(box.center().y())
                painter.drawLine(QPointF(box.left(), middle), QPointF(box.right(), middle))

    def _draw_strokes(self, painter: QPainter, part: tuple[int, int], thickness: float) -> None:
        for box in self._boxes(*part):
            notch = min(em(NOTCH_EM) / 2, box.width() / 4)
            stroke = QRectF(box.left() + notch, box.bottom(), box.width() - 2 * notch, thickness)
            painter.drawRoundedRect(stroke, thickness / 2, thickness / 2)

    def _draw_rest(self, painter: QPainter) -> None:
        painter.setPen(self._theme.colour("muted"))
        painter.setFont(self.font())
        box = self.cursorRect()
        room = QRectF(box)
        room.setLeft(box.left() + 1)
        room.setRight(self.viewport().width())
        place = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop
        painter.drawText(room, place, self._rest)
        room.setLeft(room.left() + painter.fontMetrics().horizontalAdvance(self._rest) + em(0.6))
        painter.setFont(font(SMALL))
        if painter.fontMetrics().horizontalAdvance(self.remark) > room.width():
            room = QRectF(0, box.bottom(), self.viewport().width() - em(0.3), box.height())
        painter.drawText(room, Qt.AlignmentFlag.AlignRight, self.remark)

    def _boxes(self, start: int, stop: int) -> list[QRectF]:
        """Return the rectangles of visible characters, one per line."""
        boxes: list[QRectF] = []
        first, last = self._visible()
        for place in range(max(start, first), min(stop, last)):
            cursor = QTextCursor(self.document())
            cursor.setPosition(place)
            left = self.cursorRect(cursor)
            cursor.setPosition(place + 1)
            right = self.cursorRect(cursor)
            if right.top() != left.top():
                continue  # line break
            box = QRectF(left.left(), left.top(), right.left() - left.left(), left.height())
            if boxes and boxes[-1].top() == box.top():
                boxes[-1].setRight(box.right())
            else:
                boxes.append(box)
        return boxes

    def _visible(self) -> tuple[int, int]:
        """Return the first visible character, and one past the last."""
        room = self.viewport().rect()
        first = self.cursorForPosition(room.topLeft()).position()
        last = self.cursorForPosition(room.bottomRight()).position() + 1
        return first, min(last, self.document().characterCount() - 1)

    def _complete(self) -> None:
        """Offer a completion of the word before the cursor, at the end of a line only."""
        cursor = self.textCursor()
        block = cursor.block().text()
        if cursor.positionInBlock() == len(block):
            self._rest = rest_of(block, self._vocabulary)
            is_beyond = self._rest != rest_of(block, self._known)
            self.remark = tr("not supported by this model") if is_beyond else ""
            said = tr("Tab completes: {rest}").format(rest=self._rest) if self._rest else ""
            self.setAccessibleDescription(f"{said} {self.remark}".strip())
            self.viewport().update()

    def _wave_off(self) -> None:
        if self._rest:
            self._rest = self.remark = ""
            self.setAccessibleDescription("")
            self.viewport().update()

    def _tell(self) -> None:
        """Emit the typed text; the longer handling takes, the longer the next delay."""
        taken = QElapsedTimer()
        taken.start()
        self.prompt_edited.emit(self.toPlainText())
        pause = min(PAUSES * taken.elapsed(), LONGEST_PAUSE_MS)
        self._pause.setInterval(max(pause, PAUSE_MS))


def rest_of(text: str, vocabulary: tuple[str, ...]) -> str:
    """Return the completion of a text's end to a name; empty if complete or unknown.

    Args:
        text: Text before the cursor.
        vocabulary: Names in lower case, the most likely first.
    """
    tail = TAIL.search(text.lower())
    if tail is None:
        return ""
    words = tail.group().split(" ")
    for start in range(len(words)):
        begun = " ".join(words[start:])
        if begun in vocabulary:
            return ""
        if len(begun) >= FEWEST_LETTERS and begun not in WHOLE_WORDS:
            named = (name for name in vocabulary if name.startswith(begun))
            if (name := next(named, None)) is not None:
                return name.removeprefix(begun)
    return ""


def _overlap(token: tuple[int, int], word: MarkedWord) -> bool:
    return token[0] < word.stop and word.start < token[1]
