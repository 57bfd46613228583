"""What is to be said about the reading of a prompt: contradictions, offers, doubles, remarks."""

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone

MARK_EM = 1.2


class NoteKind(Enum):
    """What a note is about; graver ones first."""

    CUT = "Not read"
    CONTRADICTION = "Contradiction"
    OFFER = "Read differently"
    REDUNDANCY = "Said twice"
    REMARK = "Note"


@dataclass(frozen=True, slots=True)
class NoteLook:
    """How notes of a kind are told apart: by frame, icon, colour and tone."""

    frame: str
    icon: str
    colour: str
    tone: Tone


LOOKS = {
    NoteKind.CUT: NoteLook("warning", "warning", "warning", Tone.PLAIN),
    NoteKind.CONTRADICTION: NoteLook("warning", "warning", "warning", Tone.PLAIN),
    NoteKind.OFFER: NoteLook("card", "help", "accent", Tone.PLAIN),
    NoteKind.REDUNDANCY: NoteLook("quiet", "undo", "muted", Tone.MUTED),
    NoteKind.REMARK: NoteLook("quiet", "help", "muted", Tone.MUTED),
}


@dataclass(frozen=True, slots=True)
class ReadingNote:
    """One note.

    Attributes:
        key: Comes back with the user's answer.
        kind: What it is about.
        message: One sentence.
        answers: Words of the buttons; none where there is nothing to answer.
    """

    key: Hashable
    kind: NoteKind
    message: str
    answers: tuple[str, ...] = ()


class ReadingNotes(QWidget):
    """Shows notes, graver ones first; hidden when there are none.

    Emits ``answer_picked`` with the note's key and the number of the answer.
    """

    answer_picked = Signal(object, int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._notes: tuple[ReadingNote, ...] = ()
        self._marks: list[tuple[QLabel, NoteLook]] = []
        self.setAccessibleName(tr("Notes on the prompt"))
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(em(0.4))
        theme.changed.connect(self._dress)
        self.hide()

    def show_notes(self, notes: tuple[ReadingNote, ...]) -> None:
        """Show these notes instead of those before."""
        kinds = list(NoteKind)
        notes = tuple(sorted(notes, key=lambda note: kinds.index(note.kind)))
        if notes == self._notes:
            return
        self._notes = notes
        while (item := self._column.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
        self._marks = []
        for note in notes:
            self._column.addWidget(self._row(note))
        self.setAccessibleDescription(" ".join(_words(note) for note in notes))
        self.setVisible(bool(notes))
        self._dress()

    def _row(self, note: ReadingNote) -> QFrame:
        look = LOOKS[note.kind]
        frame = QFrame()
        frame.setProperty("kind", look.frame)
        mark = QLabel()
        mark.setFixedSize(em(MARK_EM), em(MARK_EM))
        self._marks.append((mark, look))
        column = QVBoxLayout()
        column.setSpacing(em(0.3))
        column.addWidget(TextLabel(_words(note), look.tone))
        if note.answers:
            column.addLayout(self._buttons(note))
        row = QHBoxLayout(frame)
        row.setContentsMargins(em(0.6), em(0.5), em(0.6), em(0.5))
        row.setSpacing(em(0.5))
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        return frame

    def _buttons(self, note: ReadingNote) -> QHBoxLayout:
        row = QHBoxLayout()
        for number, words in enumerate(note.answers):
            button = QPushButton(words)
            button.setAccessibleDescription(note.message)
            button.clicked.connect(
                lambda _=False, number=number: self.answer_picked.emit(note.key, number)
            )
            row.addWidget(button)
        row.addStretch()
        return row

    def _dress(self) -> None:
        for mark, look in self._marks:
            icon = self._theme.icon(look.icon, look.colour)
            mark.setPixmap(icon.pixmap(em(MARK_EM), em(MARK_EM)))


def _words(note: ReadingNote) -> str:
    return f"{tr(note.kind.value)}: {note.message}"
