"""Assertions with their questions, one line each, to change, remove and add."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.assertion import Assertion
from spatialstudio.ui.widgets.builders import clear, grid, tool_button
from spatialstudio.ui.widgets.fields import TextLine
from spatialstudio.ui.widgets.texts import PlainLabel, Tone, plain_tip, tr


class AssertionRows(QWidget):
    """Shows assertions as editable lines, and an empty line for a new one.

    Emits ``edited`` with an id, the statement and its question, ``removed`` with an id, and
    ``added`` with a statement and its question, on user action only.
    """

    edited = Signal(str, str, str)
    removed = Signal(str)
    added = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self._grid = grid(self, (0.5, 0.2))
        self._grid.setColumnStretch(0, 1)  # as wide as the questions
        self._shown: tuple[Assertion, ...] | None = None

    def show_assertions(self, items: Sequence[Assertion]) -> None:
        """Show these assertions."""
        if tuple(items) == self._shown:
            return
        self._shown = tuple(items)
        clear(self._grid)
        for place, name in enumerate((tr("Assertion"), tr("Question"))):
            self._grid.addWidget(PlainLabel(name, tone=Tone.MUTED), 0, place)
        for place, each in enumerate(items, 1):
            self._add_row(place, each)
        self._add_new(len(items) + 1)

    def _add_row(self, place: int, assertion: Assertion) -> None:
        number = str(place)
        text = _line(assertion.text, tr("Assertion {number}").format(number=number))
        question = _line(assertion.question, tr("Question {number}").format(number=number))
        for line in (text, question):
            line.editingFinished.connect(partial(self._tell, assertion, text, question))
            self._grid.addWidget(line, place, 0 if line is text else 1)
        name = tr("Remove assertion {number}").format(number=number)
        remove = tool_button("✕", lambda: self.removed.emit(assertion.id), name=name, tip=name)
        self._grid.addWidget(remove, place, 2)

    def _add_new(self, place: int) -> None:
        text, question = _line("", tr("New assertion")), _line("", tr("New question"))
        text.setPlaceholderText(tr("the sky is cloudy"))
        question.setPlaceholderText(tr("is the sky cloudy?"))
        for line in (text, question):
            line.editingFinished.connect(partial(self._tell_new, text, question))
            self._grid.addWidget(line, place, 0 if line is text else 1)

    def _tell(self, assertion: Assertion, text: TextLine, question: TextLine) -> None:
        words = text.text().strip(), question.text().strip()
        if all(words) and words != (assertion.text, assertion.question):
            self.edited.emit(assertion.id, *words)

    def _tell_new(self, text: TextLine, question: TextLine) -> None:
        words = text.text().strip(), question.text().strip()
        if all(words):
            text.clear()
            question.clear()
            self.added.emit(*words)


def _line(text: str, name: str) -> TextLine:
    line = TextLine(text)
    line.setAccessibleName(name)
    line.setToolTip(plain_tip(text))
    line.setCursorPosition(0)
    return line
