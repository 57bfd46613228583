"""Rank correlations of metrics, and the pictures that they rank differently."""

import numpy as np
import pytest

from spatialstudio.domain.metric_table import PictureScores
from spatialstudio.science.statistics.correlation import spearman
from spatialstudio.science.statistics.metric_agreement import (
    between,
    compare_metrics,
    weighted_spearman,
)

LABELS = {"a": "A", "b": "B", "c": "C"}


def picture(number, **scores):
    return PictureScores(name=f"p{number}", prompt=f"prompt {number // 2}", scores=scores)


@pytest.fixture
def table():
    """Eight pictures: B agrees with A except for the last picture; C scores half of them."""
    pictures = [
        picture(n, a=n, b=-1 if n == 7 else n, **({"c": 7 - n} if n < 4 else {})) for n in range(8)
    ]
    return compare_metrics(pictures, LABELS, resamples=200)


@pytest.mark.parametrize("seed", range(5))
def test_weights_repeat_units(seed):
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 5, 40).astype(float), rng.normal(size=40)
    weights = rng.integers(0, 4, 40)
    codes = [np.unique(each, return_inverse=True)[1] for each in (one, other)]
    repeated = spearman(np.repeat(one, weights), np.repeat(other, weights))
    assert weighted_spearman(*codes, weights.astype(float)) == pytest.approx(repeated)


def test_pairs_use_the_pictures_that_both_score(table):
    found = {(each.first, each.second): each for each in table.pairs}
    assert found["a", "b"].spearman.n == 8
    assert (found["a", "c"].spearman.n, found["a", "c"].spearman.missing) == (4, 4)
    assert found["a", "c"].spearman.value == pytest.approx(-1)
    assert found["a", "c"].kendall == pytest.approx(-1)


def test_the_interval_contains_the_correlation(table):
    for each in table.pairs:
        assert each.spearman.low <= each.spearman.value + 1e-9
        assert each.spearman.value - 1e-9 <= each.spearman.high


def test_the_largest_disagreement_is_first(table):
    assert between(table, "a", "b")[0].picture.name == "p7"
    assert between(table, "a", "b")[0].spread == 1


def test_ranks_go_from_0_to_1_and_ties_share_their_mean():
    pictures = [picture(0, a=0, b=1), picture(1, a=0, b=2), picture(2, a=5, b=3)]
    table = compare_metrics(pictures, LABELS, resamples=10)
    ranks = {each.picture.name: each.ranks for each in table.disagreements}
    assert ranks["p0"] == {"a": 0.25, "b": 0}
    assert ranks["p2"] == {"a": 1, "b": 1}


def test_a_metric_without_scores_is_left_out_and_a_constant_one_has_no_correlation():
    pictures = [picture(n, a=n, b=1) for n in range(4)]
    table = compare_metrics(pictures, LABELS, resamples=10)
    assert [each.id for each in table.columns] == ["a", "b"]
    (pair,) = table.pairs
    assert np.isnan(pair.spearman.value)
    assert pair.kendall is None
