"""The results of checker and PSE, one row per relation, with their disagreements."""

from collections.abc import Sequence

from PySide6.QtWidgets import QFrame, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import SPACE, at_top, clear, column, flow, grow, row
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.fact_list import FactList
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    tr,
)

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
        self._column = column(within=self, gap=0.5)

    def show_rows(self, rows: Sequence[JudgesRow]) -> None:
        """Show these rows."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        clear(self._column)
        for each in rows:
            self._column.addWidget(self._card(each))

    def _card(self, judged: JudgesRow) -> QFrame:
        card = QFrame()
        card.setProperty("kind", "doubtful" if judged.disagree else "card")
        said = f"{judged.by_centres_words}, {judged.by_masks_words}"
        card.setAccessibleName(f"{judged.relation}: {said}")
        judges = flow(
            self._judge(tr("Centre rule"), judged.by_centres, judged.by_centres_words),
            self._judge(tr("PSE"), judged.by_masks, judged.by_masks_words),
            gap=0.5,
        )
        warning = PlainLabel(tr("Centre rule and PSE disagree."))
        warning.setProperty("tone", "warning")
        facts = FactList()
        facts.show_facts(judged.others)
        name = tr("Other metrics of {relation}").format(relation=judged.relation)
        column(
            TextLabel(judged.relation, Tone.HEADING),
            judges,
            *((warning,) if judged.disagree else ()),
            Disclosure(tr("Other metrics"), facts, name),
            within=card,
            gap=0.3,
            edges=(0.6, 0.4, 0.6, 0.5),
        )
        return card

    def _judge(self, name: str, outcome: Outcome, words: str) -> QWidget:
        said = column(TextLabel(name, Tone.MUTED, small=True), TextLabel(words), SPACE, gap=0)
        judge = QWidget(minimumWidth=em(JUDGE_EM))
        row(at_top(OutcomeMark(self._theme, outcome)), grow(said), within=judge, gap=0.4)
        return judge
