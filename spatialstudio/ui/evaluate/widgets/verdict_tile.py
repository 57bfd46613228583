"""A short verdict, small enough to compare side by side."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.metrics import em, font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.outcome_mark import LOOKS, OutcomeMark
from spatialstudio.ui.widgets.text_label import (
    PlainLabel,
    TextLabel,
    Tone,
)


@frozen(kw_only=False)
class BriefVerdict:
    """Content of a tile.

    Attributes:
        title: Origin of the verdict.
        outcome: The outcome.
        remark: A short additional note.
        is_new: Whether it differs from the verdict it is compared with.
    """

    title: str
    outcome: Outcome
    remark: str
    is_new: bool = False


class VerdictTile(QFrame):
    """Shows one verdict; another verdict needs a new tile. Emits nothing.

    Args:
        theme: Colours and icons.
        brief: Content of the tile.
    """

    def __init__(self, theme: Theme, brief: BriefVerdict) -> None:
        super().__init__()
        self.setProperty("kind", "picked" if brief.is_new else "card")
        self.setAccessibleName(f"{brief.title}: {brief.outcome.value}, {brief.remark}")
        word = PlainLabel(brief.outcome.value)
        word.setFont(font(bold=True))
        word.setProperty("tone", LOOKS[brief.outcome].role)
        title = TextLabel(brief.title, Tone.MUTED, small=True)
        words = QVBoxLayout()
        words.setSpacing(0)
        words.addWidget(word)
        words.addWidget(TextLabel(brief.remark, Tone.MUTED, small=True))
        row = QHBoxLayout()
        row.setSpacing(em(0.4))
        mark = OutcomeMark(theme, brief.outcome)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(words, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.5), em(0.35), em(0.5), em(0.45))
        column.setSpacing(em(0.15))
        column.addWidget(title)
        column.addLayout(row)
        column.addStretch()
