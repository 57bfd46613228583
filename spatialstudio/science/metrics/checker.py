"""The checker as a metric: coverage, pass rates and mean confidence over many images.

Source: SpatialBench-UC. An image that could not be evaluated counts as undecided.
"""

from collections.abc import Mapping, Sequence
from statistics import mean

from spatialstudio.domain.metric import Figures, Metric, Row, relation_values
from spatialstudio.domain.verdict import Outcome

CHECKER = "checker"


def _figures(rows: Sequence[Row], _: object) -> Mapping[str, Figures]:
    outcomes = relation_values(rows, "outcome", None)
    if not outcomes:
        return {}
    passes, fails = outcomes.count(Outcome.PASS.value), outcomes.count(Outcome.FAIL.value)
    decided = passes + fails
    return {
        CHECKER: {
            "relations": len(outcomes),
            "coverage": decided / len(outcomes),
            "pass_rate_all": passes / len(outcomes),
            "pass_rate_decided": passes / decided if decided else None,
            "mean_confidence": mean(relation_values(rows, "confidence", 0.0)),
        }
    }


def _score(row: Row) -> float | None:
    """Return the share of relations that pass, without UNDECIDABLE ones; None if all are."""
    outcomes = [each.get("outcome") for each in row.get("verdicts") or ()]
    passes, fails = (outcomes.count(each.value) for each in (Outcome.PASS, Outcome.FAIL))
    return passes / (passes + fails) if passes + fails else None


METRIC = Metric(
    id=CHECKER,
    label="SpatialBench-UC",
    help="Fraction of relations with the verdict PASS; always computed.",
    score_row=_score,
    add_up=_figures,
    order=10,
)
