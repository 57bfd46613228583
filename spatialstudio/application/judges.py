"""Two judges side by side: SpatialBench-UC's checker and PSE, and the other metrics behind them."""

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import Relation, RelationId
from spatialstudio.domain.verdict import Evaluation, Outcome, Verdict
from spatialstudio.science.center_scores import CenterScores, center_scores
from spatialstudio.science.pse import RelationPse, relation_pse


@frozen
class TwoJudges:
    """What both judges say of one relation.

    Attributes:
        relation_id: The relation.
        relation: In words.
        verdict: The checker's, by the centres of boxes.
        pse: By the masks.
        others: VISOR, T2I-CompBench, HRS-Bench and GenEval.
    """

    relation_id: RelationId
    relation: str
    verdict: Verdict
    pse: RelationPse
    others: CenterScores

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
        others=center_scores(relation, run.scene, seen),
    )
