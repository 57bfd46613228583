"""The line that finds runs: completes its own fields, and says what it cannot read."""

from collections.abc import Sequence

from PySide6.QtCore import QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLabel, QListView, QVBoxLayout, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.fields import TextLine
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr

MOST_OFFERS = 12


class CompletingLine(TextLine):
    """Completes the word at the cursor, not the whole line. Emits ``left_downwards``."""

    left_downwards = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._words = QStringListModel(self)
        self._completer = QCompleter(self._words, self)
        self._completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self._completer.setMaxVisibleItems(MOST_OFFERS)
        self._popup = QListView()
        self._completer.setPopup(self._popup)
        self._completer.setWidget(self)
        self._completer.activated.connect(self._complete)
        self.textEdited.connect(self._offer)

    @property
    def offers(self) -> tuple[str, ...]:
        """What is offered for the word at the cursor."""
        if not self._popup.isVisible():
            return ()
        model = self._completer.completionModel()
        return tuple(model.index(row, 0).data() for row in range(model.rowCount()))

    def show_words(self, words: Sequence[str]) -> None:
        """Offer these from now on."""
        self._words.setStringList(list(words))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Let the popup have its keys; Down and Return without one leave the line."""
        keys = (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if self._popup.isVisible():
            if event.key() in (*keys[1:], Qt.Key.Key_Tab):
                event.ignore()  # the popup takes what is marked
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
    """Shows the line, and beneath it what is wrong with it.

    Emits ``line_edited`` with the text while the user types, ``left_downwards`` when the user
    wants to go on to what was found.
    """

    line_edited = Signal(str)
    left_downwards = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._line = CompletingLine()
        self._line.setAccessibleName(tr("Filter"))
        self._line.setPlaceholderText(tr("cat  verdict:fail  relation:left  pos<0.6  stars>=3"))
        self._line.setClearButtonEnabled(True)
        self._line.textChanged.connect(self._tell)
        self._line.left_downwards.connect(self.left_downwards)
        self._shown: str | None = None
        self._problem = TextLabel(tone=Tone.MUTED, small=True)
        self._problem.hide()
        self.setFocusProxy(self._line)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.2))
        column.addWidget(self._line)
        column.addWidget(self._problem)

    @property
    def line(self) -> str:
        """What stands there."""
        return self._line.text()

    @property
    def problem(self) -> QLabel:
        """Says what is wrong; hidden when nothing is."""
        return self._problem

    def show_line(self, text: str) -> None:
        """Show a line that was chosen elsewhere."""
        if text != self._line.text():
            self._shown = text
            self._line.setText(text)

    def show_words(self, words: Sequence[str]) -> None:
        """Offer these as completions."""
        self._line.show_words(words)

    def show_problem(self, sentence: str) -> None:
        """Say what is wrong; empty when nothing is."""
        self._problem.setText(sentence)
        self._problem.setVisible(bool(sentence))
        self._line.setAccessibleDescription(sentence)

    def select_all(self) -> None:
        """Let the next key write a new line."""
        self._line.selectAll()

    def _tell(self, text: str) -> None:
        if text != self._shown:
            self.line_edited.emit(text)
        self._shown = None
