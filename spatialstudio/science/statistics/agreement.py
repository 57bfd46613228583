"""Agreement of raters on nominal labels, and of the checker with people.

Sources: Cohen 1960, Educational and Psychological Measurement 20:37 (kappa of two raters); Fleiss
1971, Psychological Bulletin 76:378 (kappa of a fixed number of raters per unit); Krippendorff 2018,
Content Analysis, ch. 12 (alpha, any number of raters, labels may be missing). UNDECIDABLE is a
label as any other; the published confusion restricts itself to samples that both sides decide.

A coefficient is None where it is undefined: without units, or if chance agreement is complete.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import OUTCOMES, AuditedSample, Confusion

Labels: TypeAlias = Sequence[Hashable | None]
"""Labels of one rater, one per unit; None is missing."""
Counts: TypeAlias = npt.NDArray[np.float64]
"""(units, categories), not negative: number of raters who chose a category."""


def confusion(samples: Sequence[AuditedSample]) -> Confusion:
    """Count the labelled samples by the checker's outcome and the label."""
    found = Counter((sample.checker, sample.human) for sample in samples)
    pairs = ((checker, human) for checker in OUTCOMES for human in OUTCOMES)
    return Confusion(counts={pair: found[pair] for pair in pairs})


def cohen_kappa(first: Labels, second: Labels) -> float | None:
    """Return Cohen's kappa, [-1, 1]: (p_o - p_e) / (1 - p_e), over units that both label.

    Raises:
        ValueError: The raters have different numbers of units.
    """
    pairs = [pair for pair in zip(first, second, strict=True) if None not in pair]
    if not pairs:
        return None
    codes = _codes(chain.from_iterable(pairs))
    table = np.zeros((len(codes), len(codes)))
    for one, other in pairs:
        table[codes[one], codes[other]] += 1
    shares = table / table.sum()
    observed = float(np.trace(shares))
    expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return _above_chance(observed, expected)


def fleiss_kappa(raters: Sequence[Labels]) -> float | None:
    """Return Fleiss' kappa, [-1, 1], over units that every rater labels.

    Args:
        raters: Labels of each rater, at least two raters.

    Raises:
        ValueError: The raters have different numbers of units, or there are fewer than two.
    """
    complete = [unit for unit in _units(raters) if None not in unit]
    if not complete:
        return None
    counts = category_counts(complete)
    per_unit = counts[0].sum()
    agreeing = (counts * (counts - 1)).sum(axis=1) / (per_unit * (per_unit - 1))
    shares = counts.sum(axis=0) / counts.sum()
    return _above_chance(float(agreeing.mean()), float((shares**2).sum()))


def krippendorff_alpha(raters: Sequence[Labels]) -> float | None:
    """Return Krippendorff's alpha of nominal labels, at most 1; missing labels are allowed.

    alpha = 1 - D_o / D_e over the coincidences of units with at least two labels.

    Raises:
        ValueError: The raters have different numbers of units, or there are fewer than two.
    """
    counts = category_counts(_units(raters))
    counts = counts[counts.sum(axis=1) >= MIN_LABELS]
    if not len(counts):
        return None
    per_unit = counts.sum(axis=1)
    totals = counts.sum(axis=0)
    labels = totals.sum()
    equal = (counts * (counts - 1)).sum(axis=1) / (per_unit - 1)
    observed = 1 - float(equal.sum()) / labels
    expected = 1 - float((totals * (totals - 1)).sum()) / (labels * (labels - 1))
    return 1 - observed / expected if expected else None


MIN_LABELS = 2
"""Labels of a unit without which it tells nothing about agreement."""


def category_counts(units: Sequence[Sequence[Hashable | None]]) -> Counts:
    """Return (units, categories) counts of labels; missing labels are not counted."""
    codes = _codes(label for label in chain.from_iterable(units) if label is not None)
    counts = np.zeros((len(units), len(codes)))
    for row, unit in enumerate(units):
        for label in unit:
            if label is not None:
                counts[row, codes[label]] += 1
    return counts


def raw_agreement(first: Labels, second: Labels) -> float | None:
    """Return the share of equal labels among units that both label, [0, 1].

    Raises:
        ValueError: The raters have different numbers of units.
    """
    equal = [a == b for a, b in zip(first, second, strict=True) if None not in (a, b)]
    return sum(equal) / len(equal) if equal else None


def _units(raters: Sequence[Labels]) -> list[tuple[Hashable | None, ...]]:
    if len(raters) < MIN_LABELS:
        raise ValueError("Agreement needs at least two raters.")
    return list(zip(*raters, strict=True))


def _codes(labels: Iterable[Hashable]) -> dict[Hashable, int]:
    return {label: code for code, label in enumerate(dict.fromkeys(labels))}


def _above_chance(observed: float, expected: float) -> float | None:
    return (observed - expected) / (1 - expected) if expected < 1 else None
