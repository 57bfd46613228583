"""Turns a finished run into verdict cards and facts."""

from spatialstudio.application.inspect.inspection import attention_at_the_end, evidence_of
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.relation import Relation
from spatialstudio.domain.verdict import Verdict
from spatialstudio.ui.evaluate.verdict_checks import checks_of, lower_threshold
from spatialstudio.ui.evaluate.widgets.verdict_card import JudgedRelation
from spatialstudio.ui.widgets.texts import tr


def judged_relations(run: OpenRun, name: str = "") -> tuple[JudgedRelation, ...]:
    """Return what the cards of one run say; nothing while it is not judged.

    Args:
        run: The run.
        name: What to call its picture; empty when there is only one.
    """
    if run.evaluation is None:
        return ()
    by_id = {relation.id: relation for relation in run.scene.relations}
    attention = attention_at_the_end(run)
    return tuple(
        _judged(
            run,
            by_id[verdict.relation_id],
            evidence_of(verdict, run.scene, run.evaluation, attention.get(verdict.relation_id)),
            verdict,
            name,
        )
        for verdict in run.evaluation.verdicts
    )


def _judged(
    run: OpenRun, relation: Relation, evidence: Evidence, verdict: Verdict, name: str
) -> JudgedRelation:
    lower = lower_threshold(verdict, evidence)
    return JudgedRelation(
        relation=run.scene.sentence(relation),
        verdict=verdict,
        explanation=evidence.sentence,
        run=name,
        checks=checks_of(relation, verdict, evidence, run.scene),
        threshold=tr("Lower the threshold to {score}").format(score=f"{lower:.2f}")
        if lower
        else "",
        adjusted=_adjusted(verdict, run),
    )


def _adjusted(verdict: Verdict, run: OpenRun) -> str:
    for kept in run.evaluation.adjusted if run.evaluation else ():
        if kept.verdict.relation_id == verdict.relation_id:
            outcome = kept.verdict.outcome.value
            return tr("Human-adjusted: {outcome}").format(outcome=outcome)
    return ""
