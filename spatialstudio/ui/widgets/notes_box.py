"""A quiet amber box: what was not understood, or cannot hold together."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import TextLabel

MARK_EM = 1.2


class NotesBox(QFrame):
    """Shows a few sentences, one a line; hidden when there are none."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("kind", "warning")
        self.setAccessibleName("Notes on the prompt")
        self._mark = QLabel()
        self._mark.setFixedSize(em(MARK_EM), em(MARK_EM))
        self._text = TextLabel()
        row = QHBoxLayout(self)
        row.setContentsMargins(em(0.6), em(0.5), em(0.6), em(0.5))
        row.setSpacing(em(0.5))
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._text, 1)
        theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def show_notes(self, notes: tuple[str, ...]) -> None:
        """Show these sentences."""
        self._text.setText("\n".join(notes))
        self.setAccessibleDescription(" ".join(notes))
        self.setVisible(bool(notes))

    def _dress(self) -> None:
        icon = self._theme.icon("warning", "warning")
        self._mark.setPixmap(icon.pixmap(em(MARK_EM), em(MARK_EM)))
