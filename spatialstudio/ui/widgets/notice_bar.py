"""A bar that tells of a failure: sentence, hint, details; nothing pops up."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
)

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

DETAILS_LINES = 9


class NoticeBar(QFrame):
    """Shows one error report until the user closes it or something else happens."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("kind", "error")
        self.setAccessibleName("Problem")
        self._mark = QLabel()
        self._mark.setFixedSize(em(1.4), em(1.4))
        self._message = TextLabel(tone=Tone.HEADING)
        self._hint = TextLabel()
        self._details = QPlainTextEdit()
        self._details.setReadOnly(True)
        self._details.setAccessibleName("Details of the problem")
        self._details.setFixedHeight(em(DETAILS_LINES))
        self._more = QPushButton("Details")
        self._more.setProperty("kind", "quiet")
        self._more.setCheckable(True)
        self._more.toggled.connect(self._details.setVisible)
        self._close = QToolButton()
        self._close.setAccessibleName("Close the message")
        self._close.setToolTip("Close")
        self._close.setIconSize(QSize(em(0.9), em(0.9)))
        self._close.clicked.connect(self.hide)
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()
        self.hide()

    def show_error(self, report: ErrorReport) -> None:
        """Show what failed and what to try."""
        self._message.setText(report.message)
        self._hint.setText(report.hint)
        self._hint.setVisible(bool(report.hint))
        self._details.setPlainText(report.details)
        self._more.setChecked(False)
        self._more.setVisible(bool(report.details))
        self._details.hide()
        self.setAccessibleDescription(f"{report.message} {report.hint}".strip())
        self.show()

    def _lay_out(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(em(0.15))
        words.addWidget(self._message)
        words.addWidget(self._hint)
        row = QHBoxLayout()
        row.setSpacing(em(0.6))
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        row.addWidget(self._more, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.7), em(0.55), em(0.5), em(0.55))
        column.addLayout(row)
        column.addWidget(self._details)

    def _dress(self) -> None:
        self._mark.setPixmap(self._theme.icon("warning", "bad").pixmap(em(1.4), em(1.4)))
        self._close.setIcon(self._theme.icon("close"))
