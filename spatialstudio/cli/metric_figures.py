"""The figures of many judged pictures, from the rows that ``evaluate`` keeps of them.

A picture that could not be judged counts in every figure as one that shows nothing of what was
asked; a relation that a metric does not know is left out of that metric. HRS-Bench is given in two
forms, as published and mended, because its published form fails every prompt of four objects whose
claims are of order.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from statistics import mean
from typing import Any, TypeAlias

from spatialstudio.application.flow.choose_metrics import ChosenMetrics, MetricKind
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.hrs import hrs_score, other_form
from spatialstudio.science.pse import MET_AT
from spatialstudio.science.visor import VisorPicture, visor_scores

Row: TypeAlias = Mapping[str, Any]
Figures: TypeAlias = Mapping[str, Any]


def metric_figures(rows: Sequence[Row], metrics: ChosenMetrics) -> Mapping[str, Figures]:
    """Add up what each metric said.

    Args:
        rows: One for each picture.
        metrics: Who was asked.

    Returns:
        Figures by metric, without those that had nothing to judge.
    """
    figures = {
        kind.value: add_up(rows) for kind, add_up in _FIGURES.items() if kind in metrics.kinds
    }
    if MetricKind.HRS in metrics.kinds:
        name, _ = other_form(metrics.center_rules.hrs)
        figures[name] = _hrs(rows, name)
    return {name: own for name, own in figures.items() if own}


def _checker(rows: Sequence[Row]) -> Figures:
    outcomes = _values(rows, "outcome", None)
    if not outcomes:
        return {}
    passes, fails = outcomes.count(Outcome.PASS.value), outcomes.count(Outcome.FAIL.value)
    decided = passes + fails
    return {
        "relations": len(outcomes),
        "coverage": decided / len(outcomes),
        "pass_rate_all": passes / len(outcomes),
        "pass_rate_decided": passes / decided if decided else None,
        "mean_confidence": mean(_values(rows, "confidence", 0.0)),
    }


def _pse(rows: Sequence[Row]) -> Figures:
    scores = [score or 0.0 for score in _values(rows, "pse", 0.0)]
    if not scores:
        return {}
    met = sum(score >= MET_AT for score in scores)
    return {"relations": len(scores), "mean": mean(scores), "met": met / len(scores)}


def _da(rows: Sequence[Row]) -> Figures:
    answered = [row["da_score"] for row in rows if row.get("da_score") is not None]
    if not answered:
        return {}
    errors = sum(bool(row["error"]) for row in rows)
    return {
        "mean": sum(answered) / (len(answered) + errors),
        "answered": len(answered) / len(rows),
    }


def _visor(rows: Sequence[Row]) -> Figures:
    pictures = [
        VisorPicture(
            prompt_id=f"{row['prompt']} {place}", has_both=found, is_correct=bool(is_correct)
        )
        for row in rows
        for place, (found, is_correct) in enumerate(_visor_answers(row))
        if is_correct is not None
    ]
    if not pictures:
        return {}
    scores = visor_scores(pictures)
    return {
        "object_accuracy": scores.object_accuracy,
        "unconditional": scores.unconditional,
        "conditional": scores.conditional,
        **{f"visor_{count}": share for count, share in enumerate(scores.at_least, 1)},
    }


def _visor_answers(row: Row) -> list[tuple[bool, bool | None]]:
    if row["error"]:
        return [(False, False)] * (row["relations"] or 1)
    return [(verdict["found"], verdict["visor"]) for verdict in row["verdicts"]]


def _compbench(rows: Sequence[Row]) -> Figures:
    known = [score for score in _values(rows, "compbench", 0.0) if score is not None]
    return {"mean": mean(known)} if known else {}


def _geneval(rows: Sequence[Row]) -> Figures:
    known = [is_met for is_met in _values(rows, "geneval", False) if is_met is not None]
    return {"share": sum(known) / len(known)} if known else {}


def _hrs(rows: Sequence[Row], form: str = MetricKind.HRS.value) -> Figures:
    by_level: defaultdict[int, list[bool]] = defaultdict(list)
    for row in rows:
        is_met = False if row["error"] else row.get(form)
        if is_met is not None and row.get("objects"):
            by_level[row["objects"]].append(is_met)
    accuracy = {level: mean(met) for level, met in sorted(by_level.items())}
    if not accuracy:
        return {}
    return {"score": hrs_score(accuracy), "by_objects": accuracy}


def _values(rows: Sequence[Row], name: str, of_errors: object) -> list[Any]:
    """Return what each relation's verdict says under a name."""
    return [
        value
        for row in rows
        for value in (
            [of_errors] * (row["relations"] or 1)
            if row["error"]
            else [verdict[name] for verdict in row["verdicts"]]
        )
    ]


_FIGURES: Mapping[MetricKind, Callable[[Sequence[Row]], Figures]] = {
    MetricKind.CHECKER: _checker,
    MetricKind.PSE: _pse,
    MetricKind.DA_SCORE: _da,
    MetricKind.VISOR: _visor,
    MetricKind.COMPBENCH: _compbench,
    MetricKind.HRS: _hrs,
    MetricKind.GENEVAL: _geneval,
}
