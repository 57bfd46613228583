import pytest

from spatialstudio.domain.benchmark import PairCounts
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.pass_rates import (
    all_of,
    best_of,
    outcome_counts,
    pair_counts,
)

PASS, FAIL, OPEN = Outcome.PASS, Outcome.FAIL, Outcome.UNDECIDABLE


def test_errors_count_among_all():
    counts = outcome_counts([PASS, FAIL, FAIL, OPEN, None])
    assert (counts.total, counts.errors) == (5, 1)
    assert counts.coverage == 3 / 5
    assert counts.pass_rate_all == 1 / 5
    assert counts.pass_rate_decided == 1 / 3


def test_without_decided_verdicts_the_decided_rate_is_missing():
    assert outcome_counts([OPEN, None]).pass_rate_decided is None


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([PASS, FAIL, OPEN, None], PASS),
        ([FAIL, FAIL], FAIL),
        ([FAIL, OPEN], OPEN),
        ([FAIL, None], OPEN),
        ([], OPEN),
    ],
)
def test_the_best_picture_counts_for_its_prompt(outcomes, expected):
    assert best_of(outcomes) is expected


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ([PASS, PASS], PASS),
        ([PASS, FAIL], FAIL),
        ([OPEN, FAIL], FAIL),
        ([PASS, OPEN], OPEN),
        ([PASS, None], OPEN),
        ([PASS], OPEN),
        ([FAIL, FAIL, FAIL], OPEN),
    ],
)
def test_all_pictures_of_a_prompt_count_together(outcomes, expected):
    assert all_of(outcomes, wanted=2) is expected


def test_pairs_are_met_on_both_sides_on_one_or_on_none():
    pairs = [(PASS, PASS), (PASS, FAIL), (FAIL, PASS), (FAIL, FAIL), (PASS, OPEN), (None, FAIL)]
    counts = pair_counts(pairs)
    assert counts == PairCounts(both_pass=1, one_sided=2, both_fail=1, undecidable=2)
    assert counts.pairs == 6
