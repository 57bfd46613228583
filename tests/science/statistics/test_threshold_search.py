import random

import pytest

from spatialstudio.domain.audit_figures import AuditedSample
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.calibration import folds_of
from spatialstudio.science.statistics.threshold_search import (
    Candidate,
    ObjectiveWeights,
    best_row,
    cross_validated,
    deployed_gap,
    objective_row,
    pooled_held_out,
    search_thresholds,
)
from tests.science.statistics.audit_data import generated_samples, published_samples

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def candidates():
    labels = generated_samples(80, 1)
    chance = random.Random(2)
    return [
        Candidate(
            settings={"margin": margin},
            samples=tuple(
                AuditedSample(
                    id=one.id,
                    checker=chance.choice(list(Outcome)),
                    confidence=chance.random(),
                    human=one.human,
                )
                for one in labels
            ),
        )
        for margin in (0.03, 0.05, 0.1)
    ]


def published_objective(samples, tau):
    """Return J as the release's script computes it."""
    covered = [s for s in samples if s.checker is not OPEN and s.confidence >= tau]
    tested = [s for s in covered if s.human in (PASS, FAIL)]
    right = sum(s.checker is s.human for s in tested)
    risk = 0.0 if not covered else 1.0 if not tested else 1 - right / len(tested)
    passes = [s for s in covered if s.checker is PASS]
    rate = sum(s.human is FAIL for s in passes) / len(passes) if passes else 1.0
    return 10 * rate + 2 * risk + 0.5 * (1 - len(covered) / len(samples))


def test_the_objective_equals_the_published_formula():
    rows = search_thresholds(candidates())
    expected = [
        published_objective(one.samples, tau) for one in candidates() for tau in (0.3, 0.5, 0.7)
    ]
    assert [row.objective for row in rows] == pytest.approx(expected, abs=1e-12)


def test_the_objective_of_the_prompt_only_audit():
    row = objective_row(Candidate(settings={}, samples=published_samples()), 0.7)
    assert row.objective == pytest.approx(published_objective(published_samples(), 0.7))


def test_of_equal_rows_the_first_wins():
    samples = (AuditedSample(id="one", checker=PASS, confidence=0.9, human=PASS),)
    rows = search_thresholds([Candidate(settings={}, samples=samples)], (0.5, 0.7))
    assert best_row(rows) is rows[0]
    with pytest.raises(ValueError, match="empty"):
        best_row(())


def test_without_a_covered_pass_the_false_pass_rate_is_1():
    samples = (AuditedSample(id="one", checker=FAIL, confidence=0.9, human=FAIL),)
    row = objective_row(Candidate(settings={}, samples=samples), 0.5)
    assert (row.false_pass_rate, row.risk, row.coverage) == (1, 0, 1)


def test_the_weights_scale_the_terms():
    one = Candidate(settings={}, samples=generated_samples(50, 9))
    row = objective_row(one, 0.3, ObjectiveWeights(false_pass_rate=0, risk=0, abstention=1))
    assert row.objective == pytest.approx(1 - row.coverage)


def test_the_gap_compares_the_choice_with_the_deployed_checker():
    first, second, _ = candidates()
    chosen = objective_row(first, 0.5)
    row, gap = deployed_gap(chosen, second)
    assert gap == row.objective - chosen.objective
    assert row == objective_row(second, 0.5)


def test_each_fold_is_judged_by_the_choice_of_the_others():
    own = candidates()
    fold = folds_of(80, 4)
    rows = cross_validated(own, fold)
    for number, row in enumerate(rows):
        rest = [
            Candidate(
                settings=one.settings,
                samples=tuple(s for s, f in zip(one.samples, fold, strict=True) if f != number),
            )
            for one in own
        ]
        assert row.chosen == best_row(search_thresholds(rest))
        assert row.held_out.settings == row.chosen.settings
    assert sum(row.size for row in rows) == 80


def test_held_out_samples_are_pooled_under_the_choices_of_the_others():
    own = candidates()
    fold = folds_of(80, 4)
    rows = cross_validated(own, fold)
    by_margin = {one.settings["margin"]: one.samples for one in own}
    covered = []
    for number, row in enumerate(rows):
        samples = by_margin[row.chosen.settings["margin"]]
        covered += [
            one
            for one, place in zip(samples, fold, strict=True)
            if place == number and one.checker is not OPEN
            if one.confidence >= row.chosen.threshold
        ]
    passes = [one for one in covered if one.checker is PASS]
    tested = [one for one in covered if one.human in (PASS, FAIL)]
    pooled = pooled_held_out(own, fold, rows)
    assert pooled.coverage == len(covered) / 80
    assert pooled.false_pass_rate == sum(one.human is FAIL for one in passes) / len(passes)
    wrong = sum(one.human is not one.checker for one in tested)
    assert pooled.risk == pytest.approx(wrong / len(tested))
