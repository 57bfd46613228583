"""The dock that compares the checker with PSE for each relation, and further metrics."""

from spatialstudio.application.evaluate.adjusting import TwoJudges, two_judges
from spatialstudio.application.inspect.inspection import evidence_of
from spatialstudio.application.session import OpenRun, RunChanged
from spatialstudio.domain.errors import PluginError
from spatialstudio.domain.metric import RelationAnswer
from spatialstudio.domain.verdict import (
    Evaluation,
    Outcome,
    Verdict,
)
from spatialstudio.ui.evaluate.widgets.judge_rows import JudgeRows, JudgesRow
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class MetricsPanel(Panel):
    """Shows the results of SpatialBench-UC's checker, PSE and further metrics on the open run."""

    title = "Metrics"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._shown: Evaluation | None = None
        self._waiting = TextLabel(
            tr("The centre rule and PSE of each relation appear here once a picture is judged."),
            Tone.MUTED,
        )
        self._rows = JudgeRows(context.theme)
        self._clock = VisibleFrameClock(self._draw, self)
        column(self._waiting, self._rows, within=self, gap=0.5)

    def handle(self, event: object) -> None:
        """Follow the run."""
        if isinstance(event, RunChanged):
            self._clock.request()

    def _draw(self) -> None:
        run = self._session.run
        if run is None or run.evaluation is self._shown:
            return
        self._shown = run.evaluation
        rows = [_row(judges, run) for judges in two_judges(run)]
        self._waiting.setVisible(not rows)
        self._rows.show_rows(rows)


def _row(judges: TwoJudges, run: OpenRun) -> JudgesRow:
    is_met = judges.pse.is_met
    words = tr("met") if is_met else tr("not met")
    return JudgesRow(
        relation=judges.relation,
        by_centres=judges.verdict.outcome,
        by_centres_words=_checker_in_words(judges.verdict),
        by_masks=Outcome.PASS if is_met else Outcome.FAIL,
        by_masks_words=f"{judges.pse.pse:.2f} {words}",
        disagree=judges.disagree,
        others=_others(judges, run),
    )


def _checker_in_words(verdict: Verdict) -> str:
    measured = f"{verdict.outcome.value} {verdict.confidence:.2f}"
    return measured if verdict.reason is None else tr("abstains")


def _others(judges: TwoJudges, run: OpenRun) -> tuple[tuple[str, str], ...]:
    facts = [("PSE", _formula(judges))]
    for metric, answer in judges.others:
        if isinstance(answer, PluginError):
            words = answer.message
        else:
            words = _yes_or_no(answer) if metric.is_yes_no else _number(answer)
        facts.append((metric.label, words))
    evaluation = run.evaluation
    if evaluation is not None and evaluation.da_score is not None:
        facts.append(("DA-score", _number(evaluation.da_score.value)))
    if evaluation is not None and evaluation.quality is not None:
        facts.append((tr("Quality"), _number(evaluation.quality)))
        evidence = evidence_of(judges.verdict, run.scene, evaluation)
        facts += [
            (_number(score.probability_yes), score.assertion.text) for score in evidence.assertions
        ]
    return tuple(facts)


def _formula(judges: TwoJudges) -> str:
    if judges.pse.pos is None:
        return tr("0: PoS is undefined because a mask is empty")
    pos, pse = f"{judges.pse.pos:.3f}", f"{judges.pse.pse:.3f}"
    return tr("max(0, 2 PoS − 1) with PoS {pos}: {pse}").format(pos=pos, pse=pse)  # noqa: RUF001


def _yes_or_no(answer: RelationAnswer) -> str:
    if answer is None:
        return tr("unsupported relation")
    return tr("yes") if answer else tr("no")


def _number(value: float | None) -> str:
    return tr("undecided") if value is None else f"{value:.2f}"
