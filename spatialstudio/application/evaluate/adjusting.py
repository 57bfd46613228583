"""Manual adjustment of verdicts, computed from the stored perception."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from spatialstudio.application.evaluate.metrics import METRICS, relation_score
from spatialstudio.application.session import OpenRun, Session
from spatialstudio.domain.errors import PluginError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Metric, RelationAnswer
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.scene import (
    Axis,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
)
from spatialstudio.domain.verdict import (
    AdjustedVerdict,
    Adjustment,
    CheckerSettings,
    Evaluation,
    Outcome,
    Verdict,
)
from spatialstudio.science.checker.decide import decide_adjusted
from spatialstudio.science.pos.pse import RelationPse, relation_pse


class Adjusting:
    """Re-evaluates runs with other thresholds and instances, without running a model.

    Args:
        session: The session with the open run.
        store: Returns the run store.
    """

    def __init__(self, session: Session, store: Callable[[], RunStore]) -> None:
        self._session = session
        self._store = store

    def adjusted(self, run: OpenRun, adjustment: Adjustment) -> OpenRun:
        """Return a run evaluated with an adjustment; unchanged if it has no evaluation."""
        if run.evaluation is None:
            return run
        return replace(run, evaluation=decide_adjusted(run.evaluation, run.scene, adjustment))

    def keep(self, run_id: str, relation_id: RelationId, adjustment: Adjustment | None) -> None:
        """Store an adjusted verdict next to the checker's, in the run's files if it is stored.

        Args:
            run_id: Id of the open run; ignored if another run is open or it has no evaluation.
            relation_id: Relation of the verdict.
            adjustment: None to remove the adjusted verdict.

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
        self.keep_evaluation(run, replace(run.evaluation, adjusted=others))

    def keep_evaluation(self, run: OpenRun, evaluation: Evaluation) -> None:
        """Replace the evaluation of the open run, in its files as well if it is stored.

        Raises:
            StoreError: The run's files cannot be written.
        """
        if run.path is not None:
            self._store().judge(run.path, evaluation)
        self._session.set_evaluation(evaluation)


def with_setting(settings: CheckerSettings, name: str, value: float) -> CheckerSettings:
    """Return settings with another value in the field ``name``."""
    changed: dict[str, Any] = {name: value}
    return replace(settings, **changed)


def thresholds_of(relation_type: RelationType) -> tuple[str, ...]:
    """Return the names of settings that can change a relation's verdict, most relevant first."""
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
    return (*ways, "detection_score", "min_stability", "min_agreement", "min_confidence")


def verdict_on(run: OpenRun, relation_id: RelationId) -> Verdict:
    """Return a run's verdict on a relation.

    Raises:
        LookupError: The run has no evaluation, or no such relation.
    """
    for verdict in run.evaluation.verdicts if run.evaluation else ():
        if verdict.relation_id == relation_id:
            return verdict
    raise LookupError(relation_id)


@frozen
class TwoJudges:
    """The checker's verdict and PSE of one relation.

    Attributes:
        relation_id: Id of the relation.
        relation: The relation in words.
        verdict: The checker's verdict, from box centres.
        pse: PSE, from masks.
        others: Results of the other metrics for single relations, in listed order; the error of a
            metric that failed.
    """

    relation_id: RelationId
    relation: str
    verdict: Verdict
    pse: RelationPse
    others: tuple[tuple[Metric, RelationAnswer | PluginError], ...]

    @property
    def disagree(self) -> bool:
        """Whether the checker decides and PSE contradicts it."""
        decided = self.verdict.outcome is not Outcome.UNDECIDABLE
        return decided and self.pse.is_met is not (self.verdict.outcome is Outcome.PASS)


def two_judges(run: OpenRun) -> tuple[TwoJudges, ...]:
    """Return both results for every relation of a run; empty if it is not evaluated."""
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
            (metric, _score(metric, relation, run.scene, evaluation))
            for metric in METRICS
            if metric.of_relation is not None
        ),
    )


def _score(
    metric: Metric, relation: Relation, scene: SceneGraph, evaluation: Evaluation
) -> RelationAnswer | PluginError:
    try:
        return relation_score(metric, relation, scene, evaluation, metric.rules)
    except PluginError as error:
        return error
