"""Agreement of raters on nominal labels, and of the checker with people.

Sources: Cohen 1960, Educational and Psychological Measurement 20:37 (kappa of two raters); Fleiss
1971, Psychological Bulletin 76:378 (kappa of a fixed number of raters per unit); Krippendorff 2018,
Content Analysis, ch. 12 (alpha, any number of raters, labels may be missing). UNDECIDABLE is a
label as any other; the published confusion restricts itself to samples that both sides decide.

A coefficient is None where it is undefined: without units, or if chance agreement is complete.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.audit_figures import OUTCOMES, AuditedSample, Confusion

Labels: TypeAlias = Sequence[Hashable | None]
"""Labels of one rater, one per unit; None is missing."""
Codes: TypeAlias = npt.NDArray[np.intp]
"""(raters, units): number of a label, from 0; ``MISSING`` for none."""
Counts: TypeAlias = npt.NDArray[np.float64]
"""(units, categories), not negative: number of raters who chose a category."""

MISSING = -1
MIN_LABELS = 2
"""Labels of a unit without which it tells nothing about agreement."""


def confusion(samples: Sequence[AuditedSample]) -> Confusion:
    """Count the labelled samples by the checker's outcome and the label."""
    found = Counter((sample.checker, sample.human) for sample in samples)
    pairs = ((checker, human) for checker in OUTCOMES for human in OUTCOMES)
    return Confusion(counts={pair: found[pair] for pair in pairs})


def label_codes(raters: Sequence[Labels]) -> Codes:
    """Return labels as (raters, units) codes.

    Raises:
        ValueError: The raters have different numbers of units.
    """
    found = dict.fromkeys(label for unit in zip(*raters, strict=True) for label in unit)
    found.pop(None, None)
    codes = {None: MISSING, **{label: code for code, label in enumerate(found)}}
    return np.array([[codes[label] for label in rater] for rater in raters], np.intp)


def shared_units(codes: Codes) -> Codes:
    """Return the (raters, n) codes of the units that have at least two labels."""
    return codes[:, (codes != MISSING).sum(axis=0) >= MIN_LABELS]


def cohen_kappa(codes: Codes) -> float | None:
    """Return Cohen's kappa of two raters, [-1, 1]: (p_o - p_e) / (1 - p_e).

    Args:
        codes: (2, units); units that only one labels are left out.

    Raises:
        ValueError: There are not two raters.
    """
    first, second = codes[:, (codes != MISSING).all(axis=0)]
    if not len(first):
        return None
    size = int(codes.max()) + 1
    table = np.bincount(first * size + second, minlength=size * size).reshape(size, size)
    shares = table / table.sum()
    observed = float(np.trace(shares))
    expected = float(shares.sum(axis=0) @ shares.sum(axis=1))
    return _above_chance(observed, expected)


def fleiss_kappa(codes: Codes) -> float | None:
    """Return Fleiss' kappa, [-1, 1], over units that every rater labels.

    Args:
        codes: (raters, units), at least two raters.

    Raises:
        ValueError: There are fewer than two raters.
    """
    _check_raters(codes)
    counts = category_counts(codes[:, (codes != MISSING).all(axis=0)])
    if not len(counts):
        return None
    per_unit = len(codes)
    agreeing = (counts * (counts - 1)).sum(axis=1) / (per_unit * (per_unit - 1))
    shares = counts.sum(axis=0) / counts.sum()
    return _above_chance(float(agreeing.mean()), float((shares**2).sum()))


def krippendorff_alpha(codes: Codes) -> float | None:
    """Return Krippendorff's alpha of nominal labels, at most 1; missing labels are allowed.

    alpha = 1 - D_o / D_e over the coincidences of units with at least two labels.

    Args:
        codes: (raters, units), at least two raters.

    Raises:
        ValueError: There are fewer than two raters.
    """
    _check_raters(codes)
    counts = category_counts(shared_units(codes))
    if not len(counts):
        return None
    per_unit = counts.sum(axis=1)
    totals = counts.sum(axis=0)
    labels = totals.sum()
    equal = (counts * (counts - 1)).sum(axis=1) / (per_unit - 1)
    observed = 1 - float(equal.sum()) / labels
    expected = 1 - float((totals * (totals - 1)).sum()) / (labels * (labels - 1))
    return 1 - observed / expected if expected else None


def category_counts(codes: Codes) -> Counts:
    """Return (units, categories) counts of the labels in (raters, units) codes."""
    categories = np.arange(int(codes.max(initial=MISSING)) + 1)
    return np.sum(codes[:, :, None] == categories, axis=0, dtype=np.float64)


def _check_raters(codes: Codes) -> None:
    if len(codes) < MIN_LABELS:
        raise ValueError("Agreement needs at least two raters.")


def _above_chance(observed: float, expected: float) -> float | None:
    return (observed - expected) / (1 - expected) if expected < 1 else None
