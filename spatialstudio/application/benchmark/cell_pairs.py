"""Two methods on the same prompts and seeds: differences, tests, and what changed most."""

import numpy as np
import numpy.typing as npt

from spatialstudio.application.benchmark.choose_method import MethodChoice, choose_among
from spatialstudio.domain.benchmark_cells import CellState, CellTable
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.library import Whole
from spatialstudio.science.benchmark.figures import Comparison, compare
from spatialstudio.science.benchmark.opse import ERROR

PASS, PSE = "pass", "pse"
"""Values that methods are compared by."""
ENOUGH = 0.5
"""Scores of a method as a share of those of the method with the most."""
Scores = npt.NDArray[np.float64]


@frozen(eq=False)
class PairedMethods:
    """Two methods on the prompts and seeds that both have.

    Attributes:
        first: Name of the first method.
        second: Name of the second method.
        difference: Mean of second - first, with a bootstrap interval over prompts.
        only_first: Pairs where only the first passes; None for values that are not yes or no.
        only_second: Pairs where only the second passes; None as for ``only_first``.
        exact_p: McNemar's exact p-value; None as for ``only_first``.
        adjusted_p: After Holm's correction over all pairs of methods; None as for ``only_first``.
    """

    first: str
    second: str
    difference: Interval
    only_first: int | None = None
    only_second: int | None = None
    exact_p: float | None = None
    adjusted_p: float | None = None


@frozen(eq=False)
class ChangedCells:
    """Cells of two methods with the same prompt and seed, the largest change first.

    Attributes:
        first: (K,) cells of the first method.
        second: (K,) cells of the second method.
        change: (K,) PSE of the second minus that of the first; NaN where one was not measured.
    """

    first: Whole
    second: Whole
    change: Scores


def scores_of(table: CellTable, value: str) -> Scores:
    """Return (M, P S) scores of pictures, NaN before they are judged.

    Args:
        table: The cells.
        value: "pass", 1 for a PASS and 0 for others; "pse", the mean of a picture's relations.
    """
    if value == PASS:
        scores = np.where(table.is_judged, (table.state == CellState.PASS).astype(float), np.nan)
    else:
        is_known = np.isfinite(table.pse)
        sums = np.where(is_known, table.pse, 0.0).sum(1)
        scores = np.where(is_known.any(1), sums / np.maximum(is_known.sum(1), 1), np.nan)
    return scores.reshape(len(table.grid.methods), -1)


def compare_all(table: CellTable, value: str) -> tuple[PairedMethods, ...]:
    """Compare every two methods; takes seconds for many pictures.

    Args:
        table: The cells.
        value: "pass" or "pse".
    """
    grid = table.grid
    keys = [(prompt.id, seed) for prompt in grid.prompts for seed in grid.seeds]
    values = {
        name: {key: float(own) for key, own in zip(keys, row, strict=True) if not np.isnan(own)}
        for name, row in zip(grid.methods, scores_of(table, value), strict=True)
    }
    judged = {name: own for name, own in values.items() if own}
    return tuple(map(_plain, compare(judged, value, is_yes_no=value == PASS)))


def _plain(made: Comparison) -> PairedMethods:
    test = made.test
    return PairedMethods(
        first=made.first,
        second=made.second,
        difference=made.difference,
        only_first=test.only_first if test else None,
        only_second=test.only_second if test else None,
        exact_p=test.exact_p if test else None,
        adjusted_p=made.adjusted_p,
    )


def changed_cells(table: CellTable, first: str, second: str) -> ChangedCells:
    """Return pairs of judged cells: changed verdicts first, then by the change of PSE."""
    names = table.grid.methods
    passes, pse = scores_of(table, PASS), scores_of(table, PSE)
    one, other = names.index(first), names.index(second)
    verdict, change = passes[other] - passes[one], pse[other] - pse[one]
    rows = np.flatnonzero(np.isfinite(verdict))
    size = np.abs(np.nan_to_num(change[rows]))
    order = rows[np.lexsort((-size, -np.abs(verdict[rows])))]
    width = passes.shape[1]
    return ChangedCells(
        first=one * width + order, second=other * width + order, change=change[order]
    )


def choose_best(
    table: CellTable, value: str, error: float = ERROR, *, is_published: bool = False
) -> MethodChoice:
    """Choose the best method from the pictures that all methods have, in a random order.

    Methods with less than half as many scores as another are left out.

    Args:
        table: The cells.
        value: "pass" or "pse".
        error: Largest probability of dropping the best method, (0, 1).
        is_published: Replays the published procedure, which has no stopping rule.

    Raises:
        StoreError: There are no two methods with scores on the same prompts and seeds.
    """
    scores = scores_of(table, value)
    counts = np.isfinite(scores).sum(1)
    has_scores = (counts > 0) & (counts >= ENOUGH * counts.max(initial=0))
    shared = np.isfinite(scores[has_scores]).all(0)
    if has_scores.sum() < 2 or not shared.any():  # noqa: PLR2004 - a choice has two sides
        raise StoreError(
            "No two methods have scores on the same prompts and seeds.",
            hint="Wait until pictures of two methods are judged.",
        )
    names = tuple(table.grid.methods[each] for each in np.flatnonzero(has_scores))
    return choose_among(names, scores[has_scores][:, shared], error, is_published=is_published)
