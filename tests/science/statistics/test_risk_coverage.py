"""The golden risks are those of scikit-learn 1.9.1 on the samples that checker and people decide

1 - accuracy_score(human, checker, sample_weight=weight)  # of generated_samples(120, 4)
"""

import pytest

from spatialstudio.domain.audit_figures import AuditedSample, HumanUndecidable
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.risk_coverage import (
    area_under_curve,
    grid_thresholds,
    risk_at,
    risk_coverage_curve,
    safest_with_coverage,
    unique_thresholds,
    widest_within_risk,
)
from tests.science.statistics.audit_data import generated_samples, published_samples, rows_of

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def sample(checker, human, confidence=0.5, weight=1.0):
    return AuditedSample(
        id="one", checker=checker, confidence=confidence, human=human, weight=weight
    )


def test_the_curve_of_the_release_equals_a_script_over_its_files():
    verdicts = {row["sample_id"]: row for row in rows_of("verdicts.csv")}
    rows = [(verdicts[row["sample_id"]], row["human_verdict"]) for row in rows_of("labels.csv")]
    decided = [float(own["conf"]) for own, _ in rows if own["verdict"] != "UNDECIDABLE"]
    expected = []
    for tau in sorted({0.0, 1.0, *decided}):
        covered = [
            (own["verdict"], human)
            for own, human in rows
            if own["verdict"] != "UNDECIDABLE" and float(own["conf"]) >= tau
        ]
        tested = [pair for pair in covered if pair[1] != "UNDECIDABLE"]
        accuracy = sum(a == b for a, b in tested) / len(tested) if tested else float(not covered)
        expected.append((tau, len(covered) / 66, 1 - accuracy, len(covered), len(tested)))
    curve = risk_coverage_curve(published_samples())
    found = [(p.threshold, p.coverage, p.risk, p.covered, p.evaluated) for p in curve]
    assert found == expected


@pytest.mark.parametrize("undecidable", list(HumanUndecidable))
@pytest.mark.parametrize("weighted", [False, True])
def test_every_point_equals_sums_over_the_samples(undecidable, weighted):
    samples = generated_samples(120, 4)
    for point in risk_coverage_curve(samples, None, undecidable, weighted=weighted):
        covered = [
            one for one in samples if one.checker is not OPEN and one.confidence >= point.threshold
        ]
        tested = [
            one
            for one in covered
            if one.human is not None
            and (one.human is not OPEN or undecidable is HumanUndecidable.ERROR)
        ]
        count = sum_of_weights if weighted else len
        wrong = [one for one in tested if one.human is not one.checker]
        assert point.coverage == pytest.approx(count(covered) / count(samples))
        assert (point.covered, point.evaluated) == (len(covered), len(tested))
        expected = count(wrong) / count(tested) if tested else float(bool(covered))
        assert point.risk == pytest.approx(expected)


@pytest.mark.parametrize(
    ("threshold", "risk"),
    [(0.0, 0.6227348216462565), (0.3, 0.624664823603387), (0.7, 0.6366928540793378)],
)
def test_the_weighted_risk_equals_scikit_learn(threshold, risk):
    point = risk_at(generated_samples(120, 4), threshold, weighted=True)
    assert point.risk == pytest.approx(risk, abs=1e-12)


def sum_of_weights(samples):
    return sum(one.weight for one in samples)


def test_human_undecidable_samples_are_errors_only_if_counted():
    samples = (sample(PASS, PASS), sample(PASS, OPEN))
    assert risk_at(samples, 0).risk == 0
    assert risk_at(samples, 0, HumanUndecidable.ERROR).risk == 0.5


def test_a_covered_set_without_evaluated_samples_has_risk_1():
    point = risk_at((sample(PASS, OPEN),), 0)
    assert (point.risk, point.accuracy, point.evaluated) == (1, 0, 0)


def test_the_risk_of_nothing_is_a_convention():
    samples = (sample(PASS, PASS),)
    assert risk_at(samples, 1).risk == 0
    assert risk_coverage_curve(samples, [1.0], risk_of_nothing=1.0)[0].risk == 1


def test_thresholds_are_those_of_the_release():
    samples = (sample(PASS, PASS, 0.4), sample(OPEN, PASS, 0.2), sample(FAIL, FAIL, 0.3))
    assert unique_thresholds(samples) == (0, 0.3, 0.4, 1)
    assert len(grid_thresholds()) == 21
    assert grid_thresholds()[7] == pytest.approx(0.35)


def test_the_area_is_the_mean_height_of_the_steps():
    samples = (
        sample(PASS, FAIL, 0.9),
        sample(PASS, PASS, 0.6),
        sample(OPEN, PASS),
        sample(OPEN, PASS),
    )
    # risk 1 up to coverage 1/4, then 1/2 up to coverage 1/2
    assert area_under_curve(risk_coverage_curve(samples)) == pytest.approx(0.75)
    assert area_under_curve(risk_coverage_curve(samples[2:])) is None


def test_operating_points_keep_their_limit():
    curve = risk_coverage_curve(published_samples())
    wide = widest_within_risk(curve, 0.02)
    assert wide.risk <= 0.02
    assert all(p.coverage <= wide.coverage for p in curve if p.covered and p.risk <= 0.02)
    safe = safest_with_coverage(curve, 0.1)
    assert safe.coverage >= 0.1
    assert all(p.risk >= safe.risk for p in curve if p.coverage >= 0.1)
    assert safest_with_coverage(curve, 1.0) is None


def test_an_audit_without_samples_has_a_curve():
    assert [point.coverage for point in risk_coverage_curve(())] == [0, 0]
