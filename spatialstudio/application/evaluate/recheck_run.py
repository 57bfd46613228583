"""Re-evaluation of a stored run from its perception, and the list of differences.

Hashes prove that files are unchanged since they were written. A false verdict written through the
store gets a valid hash; only re-evaluation shows that it does not follow from the stored perception
and settings. Whether these are correct can only be verified by running the models.
"""

import math
from collections.abc import Iterator

from spatialstudio.domain.library import Fault, RunRecord
from spatialstudio.domain.scene import RelationId, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Verdict
from spatialstudio.science.checker.decide import decide, decide_adjusted
from spatialstudio.science.checker.decide_mentions import decide_mentions

VERDICT = "verdict"
"""Part of a run to which the faults belong."""
TOLERANCE = 1e-6
"""Tolerance of PSE and confidence, whose last digits depend on the machine."""


def recheck_run(record: RunRecord) -> tuple[Fault, ...]:
    """Compare the verdicts of a run with those computed from its stored perception.

    Returns:
        One fault for each verdict that differs, is missing, or refers to no relation of the scene;
        empty for a run without an evaluation.
    """
    if record.evaluation is None:
        return ()
    try:
        return tuple(_faults(record.evaluation, record.request.scene))
    except (ArithmeticError, LookupError, ValueError, TypeError):
        return (_fault("The stored perception is damaged and cannot be judged again."),)


def _faults(evaluation: Evaluation, scene: SceneGraph) -> Iterator[Fault]:
    due = decide(scene, evaluation.perception, evaluation.checker, evaluation.looks)
    stored = [verdict.relation_id for verdict in evaluation.verdicts]
    if stored != [verdict.relation_id for verdict in due]:
        yield _fault("The stored verdicts do not match the relations one to one.")
    by_relation = {verdict.relation_id: verdict for verdict in due}
    for verdict in evaluation.verdicts:
        if verdict.relation_id in by_relation:
            yield from _difference(verdict, by_relation[verdict.relation_id], scene, "stored")
    if evaluation.mention_verdicts:
        mentions = decide_mentions(scene, evaluation.instances, evaluation.checker)
        if evaluation.mention_verdicts != mentions:
            yield _fault(
                "The stored verdicts on counts and colours differ when judged again from the "
                "stored instances."
            )
    for adjusted in evaluation.adjusted:
        again = decide_adjusted(evaluation, scene, adjusted.adjustment).verdicts
        found = next((v for v in again if v.relation_id == adjusted.verdict.relation_id), None)
        if found is None:
            yield _fault("An adjusted verdict does not belong to a relation of the scene.")
        else:
            yield from _difference(adjusted.verdict, found, scene, "adjusted")


def _difference(stored: Verdict, again: Verdict, scene: SceneGraph, kind: str) -> Iterator[Fault]:
    claim = _claim(scene, stored.relation_id)
    if (stored.outcome, stored.reason) != (again.outcome, again.reason):
        yield _fault(
            f'The {kind} verdict on "{claim}" is {_said(stored)}; judged again from the stored '
            f"perception it is {_said(again)}."
        )
    elif not (
        _is_near(_pse(stored), _pse(again)) and _is_near(stored.confidence, again.confidence)
    ):
        yield _fault(
            f'The values of the {kind} verdict on "{claim}" differ when judged again from '
            "the stored perception."
        )


def _claim(scene: SceneGraph, relation_id: RelationId) -> str:
    relation = next(each for each in scene.relations if each.id == relation_id)
    return scene.plain_sentence(relation)


def _said(verdict: Verdict) -> str:
    reason = f" ({verdict.reason.value.replace('_', ' ')})" if verdict.reason else ""
    return f"{verdict.outcome.value}{reason}"


def _pse(verdict: Verdict) -> float | None:
    return verdict.measurement.pse if verdict.measurement else None


def _is_near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, abs_tol=TOLERANCE)


def _fault(message: str) -> Fault:
    return Fault(part=VERDICT, message=message)
