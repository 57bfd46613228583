"""Stage 3, image to verdicts: one card a relation."""

from PySide6.QtWidgets import QVBoxLayout

from spatialstudio.application.session import BaselineChanged, OpenRun, RunChanged, RunState
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.result_contents import judged_relations
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.verdict_card import JudgedRelation, VerdictCard

NOT_YET = {
    RunState.FAILED: "There is no picture to judge.",
    RunState.CANCELLED: "The run was cancelled before it was judged.",
    RunState.DONE: "The prompt claims no relation, so there is nothing to judge.",
}


class EvaluationPanel(Panel):
    """Shows the verdicts on the open run, and on its baseline in brief."""

    title = "Verdict"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._theme = context.theme
        self._shown: tuple[JudgedRelation, ...] = ()
        self._cards: list[VerdictCard] = []
        self._waiting = TextLabel(tone=Tone.MUTED)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(em(0.5))
        self._column.addWidget(self._waiting)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run and its baseline."""
        match event:
            case RunChanged() | BaselineChanged():
                self._draw()

    def _draw(self) -> None:
        run, baseline = self._session.run, self._session.baseline
        judged = judged_relations(run, "Guided" if baseline else "") if run else ()
        beside = judged_relations(baseline, "Baseline") if baseline else ()
        self._waiting.setText(_waiting_for(run))
        self._waiting.setVisible(not judged)
        if [each.verdict for each in self._shown] != [each.verdict for each in judged + beside]:
            self._renew(judged, beside)

    def _renew(
        self, judged: tuple[JudgedRelation, ...], beside: tuple[JudgedRelation, ...]
    ) -> None:
        for card in self._cards:
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
        self._shown = judged + beside
        self._cards = [VerdictCard(self._theme, each) for each in judged]
        self._cards += [VerdictCard(self._theme, each, brief=True) for each in beside]
        for card in self._cards:
            self._column.addWidget(card)


def _waiting_for(run: OpenRun | None) -> str:
    if run is None:
        return "The verdict on each relation appears here when a picture is done."
    return NOT_YET.get(run.state, "The verdict appears here when the picture is done.")
