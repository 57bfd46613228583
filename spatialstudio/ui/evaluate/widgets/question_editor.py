"""Editor of multiple-choice questions: a list with their checks, and the fields of one."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QButtonGroup, QFormLayout, QRadioButton, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import (
    COUNTING,
    LETTERS,
    NONE_LETTER,
    SUB_DOMAINS,
    ChoiceQuestion,
    QuestionCheck,
    QuestionState,
)
from spatialstudio.ui.widgets.builders import column, flow, grow, push_button
from spatialstudio.ui.widgets.fields import ChoiceBox, EditLine
from spatialstudio.ui.widgets.row_table import RowTable
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

SIGNS = {QuestionState.AGREES: "✓", QuestionState.CONTRADICTS: "✗", QuestionState.OPEN: "?"}
WORDS = {
    QuestionState.AGREES: "Agrees with the prompt.",
    QuestionState.CONTRADICTS: "Contradicts the prompt",
    QuestionState.OPEN: "Not checked",
}
"""Untranslated words of the states."""
OPTION_LETTERS = LETTERS.replace(NONE_LETTER, "")


@frozen
class EditedFields:
    """The fields of a question.

    Attributes:
        type: Sub-domain.
        stem: The question.
        options: Options A to D, empty ones included.
        right: Place of the right option.
    """

    type: str
    stem: str
    options: tuple[str, ...]
    right: int


class QuestionEditor(QWidget):
    """Shows questions, and lets the user edit, add and remove them.

    Emits ``fields_edited`` with the place of a question and its ``EditedFields`` on each change by
    the user, ``add_asked``, and ``remove_asked`` with a place.
    """

    fields_edited = Signal(int, object)
    add_asked = Signal()
    remove_asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._rows: tuple[tuple[str, ChoiceQuestion, QuestionCheck], ...] = ()
        self._picked = -1
        self._table = RowTable(
            tr("Questions on the prompt"), ("", tr("Sub-domain"), tr("Question"), tr("Answer"))
        )
        self._table.row_picked.connect(self._pick)
        self._type = ChoiceBox(tr("Sub-domain"))
        for name in (*SUB_DOMAINS, COUNTING):
            self._type.addItem(tr(name), name)
        self._type.activated.connect(self._tell)
        self._stem = EditLine()
        self._stem.setAccessibleName(tr("Question"))
        self._stem.textEdited.connect(self._tell)
        self._right = QButtonGroup(self)
        self._right.idClicked.connect(self._tell)
        self._options = tuple(EditLine() for _ in OPTION_LETTERS)
        self._check = TextLabel(tone=Tone.MUTED, small=True)
        self._add = push_button(tr("Add"), self.add_asked, tip=tr("Add a question"))
        self._remove = push_button(
            tr("Remove"),
            lambda: self.remove_asked.emit(self._picked),
            tip=tr("Remove the selected question"),
        )
        self._fields = self._form()
        tools = flow(self._add, self._remove, gap=0.4)
        column(grow(self._table), tools, self._fields, within=self, gap=0.4)
        self.show_questions((), -1)

    def show_questions(
        self, rows: Sequence[tuple[str, ChoiceQuestion, QuestionCheck]], picked: int
    ) -> None:
        """Show questions with their sub-domains and checks; ``picked`` is in the fields."""
        self._rows = tuple(rows)
        self._picked = picked if 0 <= picked < len(rows) else -1
        self._table.show_rows([_row(*each) for each in rows], picked=self._picked)
        self._show_fields()

    def _form(self) -> QWidget:
        fields = QWidget()
        form = QFormLayout(fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.addRow(tr("Sub-domain"), self._type)
        form.addRow(tr("Question"), self._stem)
        for place, (letter, line) in enumerate(zip(OPTION_LETTERS, self._options, strict=True)):
            line.setAccessibleName(tr("Option {letter}").format(letter=letter))
            line.textEdited.connect(self._tell)
            button = QRadioButton(letter)
            button.setAccessibleName(tr("Option {letter} is right").format(letter=letter))
            button.setToolTip(tr("The right answer"))
            self._right.addButton(button, place)
            form.addRow(button, line)
        form.addRow("", self._check)
        return fields

    def _show_fields(self) -> None:
        self._fields.setVisible(self._picked >= 0)
        self._remove.setEnabled(self._picked >= 0)
        if self._picked < 0:
            return
        name, question, check = self._rows[self._picked]
        texts = dict(question.options)
        with QSignalBlocker(self._type), QSignalBlocker(self._right):
            if self._type.findData(name) < 0:
                self._type.addItem(name, name)
            self._type.setCurrentIndex(self._type.findData(name))
            _show_text(self._stem, question.stem)
            for letter, line in zip(OPTION_LETTERS, self._options, strict=True):
                _show_text(line, texts.get(letter, ""))
            button = self._right.button(OPTION_LETTERS.find(question.key))
            if button is not None:
                button.setChecked(True)
        self._check.setText(check_in_words(check))

    def _pick(self, place: int) -> None:
        self._picked = place
        self._show_fields()

    def _tell(self, *_: object) -> None:
        fields = EditedFields(
            type=str(self._type.currentData()),
            stem=self._stem.text(),
            options=tuple(line.text() for line in self._options),
            right=max(self._right.checkedId(), 0),
        )
        self.fields_edited.emit(self._picked, fields)


def check_in_words(check: QuestionCheck) -> str:
    """Return what the prompt says on a question."""
    words = tr(WORDS[check.state])
    return f"{words}: {tr(check.reason)}." if check.reason else words


def _show_text(line: EditLine, text: str) -> None:
    """Set a text; typing that differs in spaces only keeps the cursor."""
    if " ".join(line.text().split()) != text:
        line.setText(text)
        line.setCursorPosition(0)


def _row(name: str, question: ChoiceQuestion, check: QuestionCheck) -> tuple[str, ...]:
    right = dict(question.options).get(question.key, "")
    return SIGNS[check.state], tr(name), question.stem, right
