"""Write statistics.json: figures of statsmodels and scipy on generated data.

Run with statsmodels 0.15 and scipy 1.17: ``python tests/golden/make_statistics.py``.
"""

import json
from pathlib import Path

import numpy as np
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW

RESAMPLES = 500
rng = np.random.default_rng(21)


def wilson(successes, trials, level):
    low, high = proportion_confint(successes, trials, 1 - level, method="wilson")
    return {"case": [successes, trials, level], "bounds": [float(low), float(high)]}


def t_interval(count):
    values = rng.normal(3, 2, count)
    low, high = DescrStatsW(values).tconfint_mean(0.1)
    return {"values": values.tolist(), "level": 0.9, "bounds": [float(low), float(high)]}


def bootstrap(count, seed):
    values = rng.gamma(2, 1, count)
    drawn = stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    )
    bounds = [float(each) for each in drawn.confidence_interval]
    return {"values": values.tolist(), "seed": seed, "bounds": bounds}


def cluster_bootstrap(clusters, seed):
    """Pair the sums and counts of clusters; statsmodels has no cluster bootstrap."""
    labels = np.repeat(np.arange(clusters), rng.integers(1, 6, clusters))
    values = rng.normal(labels / clusters, 0.3)
    sums, counts = np.bincount(labels, values), np.bincount(labels)
    drawn = stats.bootstrap(
        (sums, counts),
        lambda s, n, axis: s.sum(axis) / n.sum(axis),
        n_resamples=RESAMPLES,
        method="percentile",
        paired=True,
        vectorized=True,
        rng=np.random.default_rng(seed),
    )
    bounds = [float(each) for each in drawn.confidence_interval]
    made = {"values": values.tolist(), "labels": labels.tolist()}
    return {**made, "seed": seed, "bounds": bounds}


def mcnemar_case(table):
    exact = mcnemar(table, exact=True).pvalue
    chi = mcnemar(table, exact=False, correction=True)
    return {
        "table": table,
        "exact_p": float(exact),
        "chi_square": float(chi.statistic),
        "chi_square_p": float(chi.pvalue),
    }


def holm(count):
    p_values = rng.beta(0.3, 2, count)
    return {
        "p": p_values.tolist(),
        "adjusted": multipletests(p_values, method="holm")[1].tolist(),
    }


golden = {
    "resamples": RESAMPLES,
    "wilson": [
        wilson(successes, trials, level)
        for successes, trials in [(0, 10), (5, 10), (10, 10), (1, 3), (137, 200), (3, 5000)]
        for level in (0.9, 0.95, 0.99)
    ],
    "t": [t_interval(count) for count in (2, 5, 40)],
    "bootstrap": [bootstrap(count, seed) for count, seed in [(2, 0), (7, 4), (60, 9)]],
    "cluster_bootstrap": [cluster_bootstrap(count, seed) for count, seed in [(3, 1), (25, 2)]],
    "mcnemar": [
        mcnemar_case([[int(a), int(b)], [int(c), int(d)]])
        for a, b, c, d in [(30, 2, 9, 5), (0, 1, 0, 0), (101, 59, 121, 33), (800, 310, 250, 700)]
    ],
    "holm": [holm(count) for count in (1, 4, 30)],
}
target = Path(__file__).with_name("statistics.json")
target.write_text(json.dumps(golden, indent=1) + "\n", encoding="utf-8")
