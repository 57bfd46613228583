"""Comparison and choice of methods from cells."""

import numpy as np
import pytest

from spatialstudio.application.benchmark.cell_pairs import (
    PASS,
    PSE,
    changed_cells,
    choose_best,
    compare_all,
    scores_of,
)
from spatialstudio.domain.errors import StoreError
from tests import benchmark_cells
from tests.benchmark_cells import FAIL, UNDECIDABLE, grid, judged

YES = benchmark_cells.PASS
TABLE = judged(grid(), [YES, FAIL, UNDECIDABLE, 0, YES, YES, 5, FAIL])


def test_scores_are_one_for_a_pass_and_missing_before_a_verdict():
    scores = scores_of(TABLE, PASS)
    np.testing.assert_array_equal(scores, [[1, 0, 0, np.nan], [1, 1, np.nan, 0]])


def test_methods_are_compared_on_the_cells_that_both_have():
    (made,) = compare_all(TABLE, PASS)
    assert (made.first, made.second) == ("plain", "psg")
    assert made.difference.value == 0.5
    assert (made.difference.n, made.difference.missing) == (2, 2)
    assert (made.only_first, made.only_second, made.exact_p) == (0, 1, 1.0)


def test_pse_has_no_test():
    (made,) = compare_all(TABLE, PSE)
    assert made.exact_p is None
    assert made.difference.n == 2


def test_changed_verdicts_come_first():
    made = changed_cells(TABLE, "plain", "psg")
    assert made.first.tolist() == [1, 0]
    assert made.second.tolist() == [5, 4]
    assert made.change[0] == pytest.approx(0.1)


def test_the_better_method_wins_with_fewer_scores():
    axes = grid(prompts=200)
    rng = np.random.default_rng(3)
    good, bad = rng.random(400) < 0.9, rng.random(400) < 0.2
    table = judged(axes, np.where(np.concatenate([bad, good]), YES, FAIL))
    made = choose_best(table, PASS)
    assert made.names[made.choice.best] == "psg"
    assert made.choice.is_certain
    assert sum(made.choice.pulls) < 2 * made.scores


def test_leads_and_radii_explain_when_a_method_is_dropped():
    axes = grid(prompts=200)
    table = judged(axes, [FAIL] * 400 + [YES] * 400)
    choice = choose_best(table, PASS).choice
    behind = choice.leads[:, 0] > choice.radii[:, 0]
    assert behind[-1]
    assert not behind[:-1].any()
    assert choice.leads.shape == choice.history.shape


def test_a_single_method_cannot_race():
    with pytest.raises(StoreError):
        choose_best(judged(grid(methods=("plain",)), [YES] * 4), PASS)
