"""The search field of the gallery, with field completion and error messages."""

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QListView, QWidget

from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.fields import TextLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

MOST_OFFERS = 12


class CompletingLine(TextLine):
    """Completes the word at the cursor; emits ``left_downwards`` on Down or Return."""

    left_downwards = Signal()

    def __init__(self, example: str = "") -> None:
        super().__init__(
            placeholderText=example or tr("cat  verdict:fail  relation:left  pos<0.6  stars>=3"),
            clearButtonEnabled=True,
        )
        self._words = QStringListModel(self)
        self._completer = QCompleter(
            *(self._words, self),
            caseSensitivity=Qt.CaseSensitivity.CaseInsensitive,
            maxVisibleItems=MOST_OFFERS,
        )
        self._popup = QListView()
        self._completer.setPopup(self._popup)
        self._completer.setWidget(self)
        self._completer.activated.connect(self._complete)
        self.textEdited.connect(self._offer)

    @property
    def offers(self) -> tuple[str, ...]:
        """Completions of the word at the cursor."""
        if not self._popup.isVisible():
            return ()
        model = self._completer.completionModel()
        return tuple(model.index(row, 0).data() for row in range(model.rowCount()))

    def show_words(self, words: Sequence[str]) -> None:
        """Set the completions."""
        self._words.setStringList(list(words))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave the popup's keys to it; without a popup, Down and Return leave the line."""
        keys = (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self._popup.isVisible():
            if event.key() in (*keys[1:], Qt.Key.Key_Tab):
                event.ignore()  # the popup accepts its current item
                return
        elif event.key() in keys:
            self.left_downwards.emit()
            return
        super().keyPressEvent(event)

    def _offer(self) -> None:
        word = self.text()[: self.cursorPosition()].rpartition(" ")[2].lstrip("-")
        self._completer.setCompletionPrefix(word)
        is_done = word.lower() == self._completer.currentCompletion().lower()
        if not word or not self._completer.completionCount() or is_done:
            self._popup.hide()
            return
        self._popup.setCurrentIndex(self._completer.completionModel().index(0, 0))
        self._completer.complete()

    def _complete(self, chosen: str) -> None:
        before, after = self.text()[: self.cursorPosition()], self.text()[self.cursorPosition() :]
        prefix = self._completer.completionPrefix()
        kept = before[: len(before) - len(prefix)] + chosen
        self.setText(kept + after)
        self.setCursorPosition(len(kept))


class FilterLine(QWidget):
    """Shows the filter line, with its error message below.

    Emits ``line_edited`` with the text while the user types, and ``left_downwards`` to move the
    focus to the results.

    Args:
        example: Shown while the line is empty; empty for that of the gallery.

    Attributes:
        problem: Label of the error message; hidden without an error.
    """

    line_edited = Signal(str)
    left_downwards = Signal()

    def __init__(self, example: str = "") -> None:
        super().__init__()
        self._line = CompletingLine(example)
        self._line.setAccessibleName(tr("Filter"))
        self._line.textChanged.connect(self._tell)
        self._line.left_downwards.connect(self.left_downwards)
        self._shown: str | None = None
        self.problem = TextLabel(tone=Tone.MUTED, small=True)
        self.problem.hide()
        self.setFocusProxy(self._line)
        column(self._line, self.problem, within=self, gap=0.2)

    @property
    def line(self) -> str:
        """The current text."""
        return self._line.text()

    def show_line(self, text: str) -> None:
        """Show a line chosen elsewhere."""
        if text != self._line.text():
            self._shown = text
            self._line.setText(text)

    def show_words(self, words: Sequence[str]) -> None:
        """Set the completions."""
        self._line.show_words(words)

    def show_problem(self, sentence: str) -> None:
        """Show an error message; empty hides it."""
        self.problem.setText(sentence)
        self.problem.setVisible(bool(sentence))
        self._line.setAccessibleDescription(sentence)

    def select_all(self) -> None:
        """Select the text, so that typing replaces it."""
        self._line.selectAll()

    def _tell(self, text: str) -> None:
        if text != self._shown:
            self.line_edited.emit(text)
        self._shown = None
