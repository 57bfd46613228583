"""Makes the tiles of a grid from found runs: stacks of one prompt, day by day."""

from collections.abc import Collection
from datetime import date
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.library import EntryId
from spatialstudio.domain.listing import Cells, Day, Listing, Truth, Whole


def arrange_runs(
    listing: Listing, *, is_stacked: bool = True, opened: Collection[EntryId] = ()
) -> tuple[Cells, tuple[Day, ...]]:
    """Make the cells of a grid, and say where each day begins.

    Args:
        listing: What was found, newest first.
        is_stacked: Whether runs that follow each other and draw one prompt are one tile.
        opened: Runs whose stacks are open: each of their runs has a tile.
    """
    is_new_day = _is_new(listing.days)
    is_new = is_new_day | _is_new(listing.batches) if is_stacked else np.ones_like(is_new_day)
    starts = np.flatnonzero(is_new)
    sizes = np.diff(starts, append=len(listing))
    is_open = _any_of_each(np.isin(listing.ids, list(opened)), starts) & (sizes > 1)
    tiles = np.where(is_open, sizes, 1)
    stack = np.repeat(np.arange(len(starts)), tiles)
    within = np.arange(len(stack)) - np.searchsorted(stack, stack)
    tops = np.where(is_open[stack], starts[stack] + within, _tops(listing, starts)[stack])
    cells = Cells(
        runs=listing.ids,
        tops=tops,
        starts=starts[stack],
        stops=(starts + sizes)[stack],
        is_open=is_open[stack],
        ratios=listing.ratios[tops],
    )
    return cells, _days(listing, np.flatnonzero(is_new_day), cells)


def _is_new(column: Whole) -> Truth:
    """Return where a column differs from the place before; the first place does."""
    is_new = np.ones(len(column), bool)
    is_new[1:] = column[1:] != column[:-1]
    return is_new


def _tops(listing: Listing, starts: Whole) -> Whole:
    """Return the first guided run of each stack, else its first."""
    behind = len(listing)
    guided = np.where(listing.is_guided, np.arange(behind), behind)
    first = np.minimum.reduceat(guided, starts) if len(starts) else starts
    return np.where(first < np.append(starts[1:], behind), first, starts)


def _any_of_each(is_so: npt.NDArray[np.bool_], starts: Whole) -> Truth:
    return np.logical_or.reduceat(is_so, starts) if len(starts) else np.zeros(0, bool)


def _days(listing: Listing, starts: Whole, cells: Cells) -> tuple[Day, ...]:
    firsts = np.searchsorted(cells.starts, starts)
    bounds = pairwise((*starts.tolist(), len(listing)))
    return tuple(
        Day(date.fromordinal(int(listing.days[start])), int(cell), stop - start)
        for (start, stop), cell in zip(bounds, firsts, strict=True)
    )
