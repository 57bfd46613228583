"""One relation's verdict: mark, word, sentence, and what the confidence is made of."""

from dataclasses import dataclass

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.domain.verdict import Verdict
from spatialstudio.ui.theme.metrics import LARGE, em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.outcome_mark import LOOKS, OutcomeMark
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

BAR_EM = 0.32


@dataclass(frozen=True, slots=True)
class JudgedRelation:
    """What one card says.

    Attributes:
        relation: In words.
        verdict: The checker's answer.
        explanation: The verdict in one sentence with its numbers.
        run: Which picture it is about, "Guided" or "Baseline"; empty when there is only one.
    """

    relation: str
    verdict: Verdict
    explanation: str
    run: str = ""


class ShareBar(QWidget):
    """Shows a share in [0, 1] as a thin bar."""

    def __init__(self, theme: Theme, share: float, name: str) -> None:
        super().__init__()
        self._theme = theme
        self._share = share
        self.setAccessibleName(f"{name}: {share:.2f}")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        """Ask for a thin line."""
        return QSize(em(5), em())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        """Draw the groove and the share."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        height = em(BAR_EM)
        groove = QRectF(0, (self.height() - height) / 2, self.width(), height)
        painter.setBrush(self._theme.colour("line"))
        painter.drawRoundedRect(groove, height / 2, height / 2)
        groove.setWidth(groove.width() * self._share)
        painter.setBrush(self._theme.colour("muted"))
        painter.drawRoundedRect(groove, height / 2, height / 2)
        painter.end()


class VerdictCard(QFrame):
    """Shows one verdict. It is made anew for another verdict, and emits nothing.

    Args:
        theme: The look.
        judged: What to say.
        brief: Leaves out the numbers behind the confidence.
    """

    def __init__(self, theme: Theme, judged: JudgedRelation, *, brief: bool = False) -> None:
        super().__init__()
        self._theme = theme
        self._judged = judged
        verdict = judged.verdict
        self.setProperty("kind", "card")
        self.setAccessibleName(
            f"{judged.run} verdict on {judged.relation}: {verdict.outcome.value}".strip()
        )
        self._word = QLabel(verdict.outcome.value)
        self._word.setFont(font(LARGE, bold=True))
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.8), em(0.7), em(0.8), em(0.8))
        column.setSpacing(em(0.45))
        column.addLayout(self._heading())
        column.addWidget(TextLabel(judged.explanation))
        if not brief:
            column.addLayout(self._numbers())
        theme.changed.connect(self._dress)
        self._dress()

    def _heading(self) -> QHBoxLayout:
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(self._word)
        about = (
            f"{self._judged.run}: {self._judged.relation}"
            if self._judged.run
            else self._judged.relation
        )
        words.addWidget(TextLabel(about, Tone.MUTED))
        row = QHBoxLayout()
        row.setSpacing(em(0.6))
        row.addWidget(
            OutcomeMark(self._theme, self._judged.verdict.outcome), 0, Qt.AlignmentFlag.AlignTop
        )
        row.addLayout(words, 1)
        return row

    def _numbers(self) -> QGridLayout:
        verdict = self._judged.verdict
        parts = verdict.components
        rows = [
            ("Confidence", verdict.confidence, False),
            ("detection", parts.detection, True),
            ("geometry", parts.geometry, True),
            ("stability", parts.stability, True),
            ("agreement", parts.agreement, True),
        ]
        if verdict.measurement is not None:
            rows.append(("PSE", verdict.measurement.pse, False))
        grid = QGridLayout()
        grid.setHorizontalSpacing(em(0.6))
        grid.setVerticalSpacing(em(0.1))
        grid.setColumnStretch(1, 1)
        for place, (name, share, is_part) in enumerate(rows):
            label = QLabel(name)
            label.setProperty("tone", "muted" if is_part else "heading")
            label.setIndent(em(0.6) if is_part else 0)
            number = QLabel(f"{share:.2f}")
            number.setProperty("tone", "muted" if is_part else "heading")
            grid.addWidget(label, place, 0)
            grid.addWidget(ShareBar(self._theme, share, name), place, 1)
            grid.addWidget(number, place, 2)
        return grid

    def _dress(self) -> None:
        palette = self._word.palette()
        colour = self._theme.colour(LOOKS[self._judged.verdict.outcome].role)
        palette.setColor(self._word.foregroundRole(), colour)
        self._word.setPalette(palette)
