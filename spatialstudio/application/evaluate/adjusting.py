"""What a person would judge otherwise: computed from what was seen, kept beside the verdicts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spatialstudio.application.evaluate.metrics import METRICS
from spatialstudio.application.session import OpenRun, Session
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Metric, RelationAnswer
from spatialstudio.domain.relation import (
    Axis,
    Relation,
    RelationId,
    RelationType,
    Shape,
)
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.verdict import (
    AdjustedVerdict,
    Adjustment,
    CheckerSettings,
    Evaluation,
    Outcome,
    Verdict,
)
from spatialstudio.science.checker.adjustments import decide_adjusted
from spatialstudio.science.pos.pse import RelationPse, relation_pse


class Adjusting:
    """Judges runs with other thresholds and other instances, without any model.

    Args:
        session: What is open.
        store: Gives who keeps the runs.
    """

    def __init__(self, session: Session, store: Callable[[], RunStore]) -> None:
        self._session = session
        self._store = store

    def adjusted(self, run: OpenRun, adjustment: Adjustment) -> OpenRun:
        """Return a run as it is judged with an adjustment; an unjudged one as it is."""
        if run.evaluation is None:
            return run
        return replace(run, evaluation=decide_adjusted(run.evaluation, run.scene, adjustment))

    def keep(self, run_id: str, relation_id: RelationId, adjustment: Adjustment | None) -> None:
        """Keep an adjusted verdict beside the checker's own, with the run where it is stored.

        Args:
            run_id: Of the open run; another one, or an unjudged one, is let be.
            relation_id: Which relation's.
            adjustment: None to keep the checker's own verdict alone.

        Raises:
            StoreError: The run's files cannot be written.
        """
        run = self._session.run
        if run is None or run.id != run_id or run.evaluation is None:
            return
        others = tuple(
            kept for kept in run.evaluation.adjusted if kept.verdict.relation_id != relation_id
        )
        if adjustment is not None:
            verdict = verdict_on(self.adjusted(run, adjustment), relation_id)
            others = (*others, AdjustedVerdict(verdict=verdict, adjustment=adjustment))
        evaluation = replace(run.evaluation, adjusted=others)
        if run.path is not None:
            self._store().judge(run.path, evaluation)
        self._session.show_evaluation(evaluation)


def with_setting(settings: CheckerSettings, name: str, value: float) -> CheckerSettings:
    """Return settings that differ in one number; ``name`` is that of its field."""
    changed: dict[str, Any] = {name: value}
    return replace(settings, **changed)


def thresholds_of(relation_type: RelationType) -> tuple[str, ...]:
    """Name the checker's settings that can turn a verdict on a relation, the nearest first."""
    match relation_type.shape:
        case Shape.NEAR:
            ways: tuple[str, ...] = ("near_distance",)
        case Shape.FAR:
            ways = ("far_distance",)
        case Shape.BETWEEN:
            ways = ("between_margin",)
        case _:
            ways = ("depth_margin",) if relation_type.needs_depth else ("margin",)
    if any(claim.axis is Axis.X for claim in relation_type.claims):
        ways = (*ways, "max_overlap_iou")
    return (*ways, "detection_score", "min_stability", "min_agreement")


def verdict_on(run: OpenRun, relation_id: RelationId) -> Verdict:
    """Return a judged run's verdict on a relation.

    Raises:
        LookupError: The run is not judged, or has no such relation.
    """
    for verdict in run.evaluation.verdicts if run.evaluation else ():
        if verdict.relation_id == relation_id:
            return verdict
    raise LookupError(relation_id)


@frozen
class TwoJudges:
    """What both judges say of one relation.

    Attributes:
        relation_id: The relation.
        relation: In words.
        verdict: The checker's, by the centres of boxes.
        pse: By the masks.
        others: What the other metrics that judge single relations answer, as listed.
    """

    relation_id: RelationId
    relation: str
    verdict: Verdict
    pse: RelationPse
    others: tuple[tuple[Metric, RelationAnswer], ...]

    @property
    def disagree(self) -> bool:
        """Whether the checker decides and PSE says the opposite."""
        decided = self.verdict.outcome is not Outcome.UNDECIDABLE
        return decided and self.pse.is_met is not (self.verdict.outcome is Outcome.PASS)


def two_judges(run: OpenRun) -> tuple[TwoJudges, ...]:
    """Ask both about every relation of a run; nothing while it is not judged."""
    if run.evaluation is None:
        return ()
    by_id = {relation.id: relation for relation in run.scene.relations}
    return tuple(
        _both(by_id[verdict.relation_id], verdict, run, run.evaluation)
        for verdict in run.evaluation.verdicts
    )


def _both(relation: Relation, verdict: Verdict, run: OpenRun, evaluation: Evaluation) -> TwoJudges:
    seen, settings = evaluation.perception, evaluation.checker
    return TwoJudges(
        relation_id=relation.id,
        relation=run.scene.sentence(relation),
        verdict=verdict,
        pse=relation_pse(relation, seen, least_score=settings.detection_score),
        others=tuple(
            (metric, metric.of_relation(relation, run.scene, evaluation, metric.rules))
            for metric in METRICS
            if metric.of_relation is not None
        ),
    )
