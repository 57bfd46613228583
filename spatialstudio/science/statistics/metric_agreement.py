"""Agreement of metrics on a set of pictures: rank correlations, and the pictures they disagree on.

Sources: Spearman 1904, American Journal of Psychology 15:72; Kendall 1945, Biometrika 33:239;
Efron and Tibshirani 1993, chapter 8 (resampling of whole groups): pictures of one prompt resemble
each other, so that an interval for other prompts resamples prompts.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from math import nan

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.interval import FEWEST, LEVEL, Interval, IntervalMethod, no_interval
from spatialstudio.domain.metric_table import (
    Disagreement,
    MetricColumn,
    MetricPair,
    MetricTable,
    PictureScores,
)
from spatialstudio.science.statistics.correlation import (
    Scores,
    kendall_tau_b,
    mean_ranks,
    spearman,
)
from spatialstudio.science.statistics.intervals import SEED

RESAMPLES = 2000
"""Resamples of each interval."""

Codes = npt.NDArray[np.intp]


def compare_metrics(
    pictures: Sequence[PictureScores], labels: Mapping[str, str], *, resamples: int = RESAMPLES
) -> MetricTable:
    """Compare metrics over pictures.

    Args:
        pictures: The pictures with their scores.
        labels: Names of the metrics by id, in the order of the table; metrics without any score
            are left out.
        resamples: Number of samples of prompts behind an interval.
    """
    values = {name: _column(pictures, name) for name in labels}
    known = [name for name, column in values.items() if not np.isnan(column).all()]
    prompts = [each.prompt for each in pictures]
    return MetricTable(
        columns=tuple(
            MetricColumn(
                id=name,
                label=labels[name],
                pictures=int((~np.isnan(values[name])).sum()),
                mean=float(np.nanmean(values[name])),
            )
            for name in known
        ),
        pairs=tuple(
            _pair((one, values[one]), (other, values[other]), prompts, resamples)
            for one, other in combinations(known, 2)
        ),
        disagreements=_disagreements(pictures, {name: values[name] for name in known}),
    )


def between(table: MetricTable, first: str, second: str) -> tuple[Disagreement, ...]:
    """Return the pictures that two metrics score, the largest difference of ranks first."""
    shared = (
        Disagreement(
            picture=each.picture,
            ranks=each.ranks,
            spread=abs(each.ranks[first] - each.ranks[second]),
        )
        for each in table.disagreements
        if first in each.ranks and second in each.ranks
    )
    return tuple(sorted(shared, key=lambda each: -each.spread))


def _column(pictures: Sequence[PictureScores], name: str) -> Scores:
    return np.array([each.scores.get(name, nan) for each in pictures], np.float64)


def _pair(
    first: tuple[str, Scores], second: tuple[str, Scores], prompts: Sequence[str], resamples: int
) -> MetricPair:
    is_shared = ~(np.isnan(first[1]) | np.isnan(second[1]))
    one, other = first[1][is_shared], second[1][is_shared]
    shared = [prompt for prompt, is_in in zip(prompts, is_shared, strict=True) if is_in]
    missing = len(prompts) - len(shared)
    return MetricPair(
        first=first[0],
        second=second[0],
        spearman=_spearman_interval(one, other, shared, missing, resamples),
        kendall=kendall_tau_b(one, other),
    )


def _spearman_interval(
    one: Scores, other: Scores, prompts: Sequence[str], missing: int, resamples: int
) -> Interval:
    """Return Spearman's correlation with a percentile interval over samples of prompts."""
    value = spearman(one, other)
    if value is None:
        return no_interval(IntervalMethod.CLUSTER_BOOTSTRAP, missing)
    codes = [np.unique(each, return_inverse=True)[1] for each in (one, other)]
    numbers = {prompt: number for number, prompt in enumerate(dict.fromkeys(prompts))}
    own, rng = np.array([numbers[prompt] for prompt in prompts]), np.random.default_rng(SEED)
    found = []
    for _ in range(resamples if len(numbers) >= FEWEST else 0):
        drawn = np.bincount(rng.integers(0, len(numbers), len(numbers)), minlength=len(numbers))
        sample = weighted_spearman(codes[0], codes[1], drawn[own].astype(np.float64))
        if sample is not None:
            found.append(sample)
    low, high = (
        np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        if len(found) >= FEWEST
        else (nan, nan)
    )
    return Interval(
        value=value,
        low=float(low),
        high=float(high),
        n=len(one),
        missing=missing,
        method=IntervalMethod.CLUSTER_BOOTSTRAP,
        seed=SEED,
        prompts=len(numbers),
    )


def weighted_spearman(one: Codes, other: Codes, weights: Scores) -> float | None:
    """Return Spearman's correlation where each unit is repeated ``weights`` times.

    Args:
        one: (n,) places of the values among the distinct values, from 0.
        other: (n,) the same for the other side.
        weights: (n,) whole numbers, not negative.
    """
    total = weights.sum()
    centred = []
    for codes in (one, other):
        counts = np.bincount(codes, weights)
        ranks = (np.add.accumulate(counts) - (counts - 1) / 2)[codes]
        centred.append(ranks - weights @ ranks / total)
    spreads = [float(weights @ each**2) for each in centred]
    if min(spreads) <= 0:
        return None
    return float(np.clip(weights @ (centred[0] * centred[1]) / np.sqrt(np.prod(spreads)), -1, 1))


def _disagreements(
    pictures: Sequence[PictureScores], columns: Mapping[str, Scores]
) -> tuple[Disagreement, ...]:
    ranks = [dict[str, float]() for _ in pictures]
    for name, column in columns.items():
        places = np.flatnonzero(~np.isnan(column))
        shares = (mean_ranks(column[places]) - 1) / max(len(places) - 1, 1)
        for place, share in zip(places.tolist(), shares.tolist(), strict=True):
            ranks[place][name] = share
    found = (
        Disagreement(picture=picture, ranks=own, spread=max(own.values()) - min(own.values()))
        for picture, own in zip(pictures, ranks, strict=True)
        if len(own) > 1
    )
    return tuple(sorted(found, key=lambda each: (-each.spread, each.picture.name)))
