"""The relations of a run, one per line, each with its outcome mark."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import clear, grid
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark
from spatialstudio.ui.widgets.texts import TextLabel, Tone

MARK_EM = 1.35


@frozen(kw_only=False)
class Claim:
    """One relation as text.

    Attributes:
        sentence: "dog to the left of car".
        figures: "PoS 0.83 · PSE 1.00"; empty when nothing was measured.
        outcome: None if not evaluated.
    """

    sentence: str
    figures: str
    outcome: Outcome | None


class ClaimList(QWidget):
    """Shows the relations in order."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._claims: tuple[Claim, ...] = ()
        self._grid = grid(self, (0.4, 0.1))

    def show_claims(self, claims: tuple[Claim, ...]) -> None:
        """Set the relations."""
        if claims == self._claims:
            return
        self._claims = claims
        clear(self._grid)
        for number, claim in enumerate(claims):
            if claim.outcome is not None:
                mark = OutcomeMark(self._theme, claim.outcome)
                mark.setFixedSize(QSize(em(MARK_EM), em(MARK_EM)))
                self._grid.addWidget(mark, 2 * number, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(TextLabel(claim.sentence), 2 * number, 1)
            if claim.figures:
                self._grid.addWidget(TextLabel(claim.figures, Tone.MUTED), 2 * number + 1, 1)
