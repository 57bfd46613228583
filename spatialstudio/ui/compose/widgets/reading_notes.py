"""Notes on a prompt's reading: contradictions, suggestions, duplicates, remarks."""

from collections.abc import Hashable
from enum import Enum
from functools import partial

from PySide6.QtCore import QEvent, QObject, QRectF, Signal
from PySide6.QtGui import QEnterEvent, QFocusEvent, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QHBoxLayout, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import SPACE, at_top, column, discard, grow, push_button, row
from spatialstudio.ui.widgets.painting import painting
from spatialstudio.ui.widgets.roving_focus import DOWN_THE_ROWS, RovingFocus
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    RemarkLabel,
    Tone,
    tr,
)

MARK_EM = 1.2
CORNER_EM = 0.4

Span = tuple[int, int]


class NoteKind(Enum):
    """Kind of a note, in descending severity."""

    CUT = "Token limit"
    CONTRADICTION = "Contradiction"
    OFFER = "Interpreted differently"
    REDUNDANCY = "Repeated"
    FAILURE = "Alternative interpretation"
    REMARK = "Note"


@frozen(kw_only=False)
class NoteLook:
    """Look of a note's kind: frame, icon, colour and tone."""

    frame: str
    icon: str
    colour: str
    tone: Tone


LOOKS = {
    NoteKind.CUT: NoteLook("warning", "warning", "warning", Tone.PLAIN),
    NoteKind.CONTRADICTION: NoteLook("warning", "warning", "warning", Tone.PLAIN),
    NoteKind.OFFER: NoteLook("card", "help", "accent", Tone.PLAIN),
    NoteKind.REDUNDANCY: NoteLook("quiet", "undo", "muted", Tone.MUTED),
    NoteKind.FAILURE: NoteLook("quiet", "warning", "muted", Tone.MUTED),
    NoteKind.REMARK: NoteLook("quiet", "help", "muted", Tone.MUTED),
}


@frozen(kw_only=False)
class ReadingNote:
    """A note on the reading.

    Attributes:
        key: Id emitted with the user's answer.
        kind: What it is about.
        message: One sentence.
        answers: Button texts; empty where there is nothing to answer.
        spans: (start, stop) in characters of the words that it is about.
    """

    key: Hashable
    kind: NoteKind
    message: str
    answers: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()

    @property
    def words(self) -> str:
        """The displayed text."""
        return f"{tr(self.kind.value)}: {self.message}"


class NoteRow(QFrame):
    """Shows one note with its buttons.

    Emits ``answer_picked`` with the index of a button, and ``pointed_at`` when pointer or keyboard
    focus enter or leave.
    """

    answer_picked = Signal(int)
    pointed_at = Signal(bool)

    def __init__(self, theme: Theme, note: ReadingNote) -> None:
        super().__init__()
        self._theme = theme
        self._look = LOOKS[note.kind]
        self.setProperty("kind", self._look.frame)
        self.setAccessibleName(note.words)
        self._mark = PlainLabel()
        self._mark.setFixedSize(em(MARK_EM), em(MARK_EM))
        words = RemarkLabel(note.words, self._look.tone)
        self.setToolTip(words.toolTip())
        below = [self._buttons(note)] if note.answers else []
        row(
            *(at_top(self._mark), grow(column(words, *below, gap=0.3))),
            within=self,
            gap=0.5,
            edges=(0.6, 0.5, 0.6, 0.5),
        )
        theme.changed.connect(self._dress)
        self._dress()

    def _dress(self) -> None:
        icon = self._theme.icon(self._look.icon, self._look.colour)
        self._mark.setPixmap(icon.pixmap(em(MARK_EM), em(MARK_EM)))

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.pointed_at.emit(True)

    def leaveEvent(self, event: QEvent) -> None:
        """Emit ``pointed_at`` when the pointer leaves, unless the row has keyboard focus."""
        super().leaveEvent(event)
        self.pointed_at.emit(self._has_keyboard)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self._follow_keyboard(event)
        return super().eventFilter(watched, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._follow_keyboard(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._follow_keyboard(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.hasFocus():
            with painting(self) as painter:
                painter.setPen(QPen(self._theme.colour("accent"), 1))
                within = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
                painter.drawRoundedRect(within, em(CORNER_EM), em(CORNER_EM))

    @property
    def _has_keyboard(self) -> bool:
        focus = self.window().focusWidget()
        return focus is not None and (focus is self or self.isAncestorOf(focus))

    def _follow_keyboard(self, event: QEvent) -> None:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.pointed_at.emit(event.type() is QEvent.Type.FocusIn)
            self.update()

    def _buttons(self, note: ReadingNote) -> QHBoxLayout:
        buttons = [
            push_button(words, partial(self._answer, number))
            for number, words in enumerate(note.answers)
        ]
        for button in buttons:
            button.setAccessibleDescription(note.message)
            button.installEventFilter(self)
        return row(*buttons, SPACE)

    def _answer(self, number: int) -> None:
        self.answer_picked.emit(number)


class ReadingNotes(QWidget):
    """Shows notes in descending severity; hidden when there are none.

    Emits ``answer_picked`` with the note's key and the index of the answer, and ``words_pointed``
    with the spans of the note under pointer or focus; empty when they leave. Notes without buttons
    share one tab stop.
    """

    answer_picked = Signal(object, int)
    words_pointed = Signal(tuple)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._notes: tuple[ReadingNote, ...] = ()
        self._rows: tuple[NoteRow, ...] = ()
        self._roving_focus = RovingFocus(self, DOWN_THE_ROWS)
        self.setAccessibleName(tr("Notes on the prompt"))
        self._column = column(within=self, gap=0.4)
        self.hide()

    def show_notes(self, notes: tuple[ReadingNote, ...]) -> None:
        """Replace the notes."""
        kinds = list(NoteKind)
        notes = tuple(sorted(notes, key=lambda note: kinds.index(note.kind)))
        if notes == self._notes:
            return
        self._notes = notes
        discard(self._column, *self._rows)
        self._rows = tuple(self._row(note) for note in notes)
        for line in self._rows:
            self._column.addWidget(line)
        pairs = zip(notes, self._rows, strict=True)
        self._roving_focus.lead(*((row,) for note, row in pairs if note.spans and not note.answers))
        self.setAccessibleDescription(" ".join(note.words for note in notes))
        self.setVisible(bool(notes))
        self.words_pointed.emit(())

    def _row(self, note: ReadingNote) -> NoteRow:
        line = NoteRow(self._theme, note)
        line.answer_picked.connect(partial(self.answer_picked.emit, note.key))
        line.pointed_at.connect(partial(self._point, note))
        return line

    def _point(self, note: ReadingNote, is_there: bool) -> None:
        self.words_pointed.emit(note.spans if is_there else ())
