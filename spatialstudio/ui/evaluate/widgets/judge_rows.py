"""The results of checker and PSE, one row per relation, with their disagreements."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.flow_layout import FlowLayout
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark
from spatialstudio.ui.widgets.text_label import (
    PlainLabel,
    TextLabel,
    Tone,
)
from spatialstudio.ui.widgets.texts import tr

JUDGE_EM = 7.2
"""Minimum column width, so that the columns of several relations align."""


@frozen(kw_only=False)
class JudgesRow:
    """Results of checker and PSE for one relation.

    Attributes:
        relation: As text.
        by_centres: The checker's outcome.
        by_centres_words: The same with its value.
        by_masks: PSE as an outcome: whether the relation counts as met.
        by_masks_words: The score.
        disagree: Whether one passes and the other fails.
        others: Further metrics, names and values.
    """

    relation: str
    by_centres: Outcome
    by_centres_words: str
    by_masks: Outcome
    by_masks_words: str
    disagree: bool
    others: tuple[tuple[str, str], ...]


class JudgeRows(QWidget):
    """Shows the results of checker and PSE, and further metrics on request.

    Args:
        theme: Colours and icons.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._rows: tuple[JudgesRow, ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(em(0.5))

    def show_rows(self, rows: Sequence[JudgesRow]) -> None:
        """Show these rows."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        while (item := self._column.takeAt(0)) is not None:
            if (old := item.widget()) is not None:
                old.hide()
                old.deleteLater()
        for row in rows:
            self._column.addWidget(self._card(row))

    def _card(self, row: JudgesRow) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "doubtful" if row.disagree else "card")
        said = f"{row.by_centres_words}, {row.by_masks_words}"
        card.setAccessibleName(f"{row.relation}: {said}")
        column = QVBoxLayout(card)
        column.setContentsMargins(em(0.6), em(0.4), em(0.6), em(0.5))
        column.setSpacing(em(0.3))
        column.addWidget(TextLabel(row.relation, Tone.HEADING))
        judges = QWidget()
        side_by_side = FlowLayout(em(0.5))
        judges.setLayout(side_by_side)
        for name, outcome, words in (
            (tr("Centre rule"), row.by_centres, row.by_centres_words),
            (tr("PSE"), row.by_masks, row.by_masks_words),
        ):
            side_by_side.addWidget(self._judge(name, outcome, words))
        column.addWidget(judges)
        if row.disagree:
            warning = PlainLabel(tr("Centre rule and PSE disagree."))
            warning.setProperty("tone", "warning")
            column.addWidget(warning)
        facts = FactList()
        facts.show_facts(row.others)
        name = tr("Other metrics of {relation}").format(relation=row.relation)
        column.addWidget(Disclosure(tr("Other metrics"), facts, name))
        return card

    def _judge(self, name: str, outcome: Outcome, words: str) -> QWidget:
        said = QVBoxLayout()
        said.setSpacing(0)
        said.addWidget(TextLabel(name, Tone.MUTED, small=True))
        said.addWidget(TextLabel(words))
        said.addStretch()
        judge = QWidget()
        judge.setMinimumWidth(em(JUDGE_EM))
        row = QHBoxLayout(judge)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.4))
        row.addWidget(OutcomeMark(self._theme, outcome), 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(said, 1)
        return judge
