"""The selected relation, its evidence and the trial settings."""

from spatialstudio.application.evaluate.adjusting import verdict_on
from spatialstudio.application.inspect.inspection import attention_at_the_end, evidence_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.scene import Relation
from spatialstudio.domain.verdict import Adjustment, Evaluation
from spatialstudio.ui.evaluate.evidence_presenter import SelectedVerdict, picked_relation
from spatialstudio.ui.framework.panel_api import WindowContext


class VerdictSelection:
    """Returns the selected verdict, cached until the evaluation, trial or relation changes.

    Args:
        context: Services of the window.
    """

    def __init__(self, context: WindowContext) -> None:
        self._session = context.studio.session
        self._adjusting = context.studio.adjusting
        self._judgement = context.judgement
        self._key: tuple[Evaluation, Adjustment, Relation] | None = None
        self._known: SelectedVerdict | None = None

    def judged(self) -> tuple[OpenRun, Relation] | None:
        """Return the evaluated run and its selected relation, without evidence; None if absent."""
        run = self._session.run
        if run is None or run.evaluation is None:
            return None
        relation = picked_relation(run, self._session.relation_id)
        return None if relation is None else (run, relation)

    def now(self) -> SelectedVerdict | None:
        """Return the selected verdict with its evidence; None while there is no verdict."""
        judged = self.judged()
        if judged is None:
            return None
        run, relation = judged
        adjustment = self._judgement.adjustment_of(run)
        if run.evaluation is None or adjustment is None:
            return None
        key = run.evaluation, adjustment, relation
        if self._known is None or key != self._key:
            self._key = key
            self._known = self._gathered(run, relation, adjustment)
        return self._known

    def _gathered(
        self, run: OpenRun, relation: Relation, adjustment: Adjustment
    ) -> SelectedVerdict:
        other = self._adjusting.adjusted(run, adjustment) if self._judgement.is_tried(run) else run
        verdict = verdict_on(other, relation.id)
        assert run.evaluation is not None
        assert other.evaluation is not None
        stored = verdict_on(run, relation.id)
        attention = attention_at_the_end(run).get(relation.id)
        return SelectedVerdict(
            run=run,
            relation=relation,
            seen=evidence_of(stored, run.scene, run.evaluation, attention),
            now=evidence_of(verdict, run.scene, other.evaluation, attention),
            verdict=verdict,
        )
