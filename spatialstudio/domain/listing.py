"""A hundred thousand found runs as columns, and the tiles that they become."""

from collections.abc import Iterator
from dataclasses import field
from datetime import date
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import EntryId

Whole: TypeAlias = npt.NDArray[np.int64]
Truth: TypeAlias = npt.NDArray[np.bool_]
Number: TypeAlias = npt.NDArray[np.float64]


def _whole() -> Whole:
    return np.zeros(0, np.int64)


def _truth() -> Truth:
    return np.zeros(0, np.bool_)


def _number() -> Number:
    return np.zeros(0)


class Cell(NamedTuple):
    """One tile of the grid: a run, or a stack with one run on top.

    Attributes:
        id: Of the run in sight.
        members: Ids of all runs of its stack, newest first; its own alone where there is none.
        is_open: Whether the other runs of the stack have tiles of their own.
    """

    id: EntryId
    members: tuple[EntryId, ...]
    is_open: bool = False

    @property
    def stacked(self) -> int:
        """How many runs lie on each other here; 0 for a tile that shows one alone."""
        return 0 if self.is_open or len(self.members) == 1 else len(self.members)


class Day(NamedTuple):
    """The runs of one day.

    Attributes:
        date: UTC.
        start: Its first cell.
        runs: How many were drawn.
    """

    date: date
    start: int
    runs: int


@frozen(eq=False)
class Listing:
    """What a filter found, newest first, with as much as a grid of it needs; may cross threads.

    Attributes:
        ids: (N,) of the runs.
        days: (N,) on which they were drawn, UTC, as ``date.toordinal`` counts them.
        batches: (N,) equal for runs of one prompt and model.
        is_guided: (N,) whether their layout was held.
        ratios: (N,) width of the pictures over their height.
    """

    ids: Whole = field(default_factory=_whole)
    days: Whole = field(default_factory=_whole)
    batches: Whole = field(default_factory=_whole)
    is_guided: Truth = field(default_factory=_truth)
    ratios: Number = field(default_factory=_number)

    def __len__(self) -> int:
        return len(self.ids)


@frozen(eq=False)
class Cells:
    """The tiles of a grid, in columns; a cell is made only when it is asked for.

    Attributes:
        runs: (N,) ids of all runs, newest first.
        tops: (M,) place in ``runs`` of the run that each tile shows.
        starts: (M,) where the stack of each begins in ``runs``.
        stops: (M,) one past its last.
        is_open: (M,) whether the stack's other runs have tiles of their own.
        ratios: (M,) width of the pictures over their height.
    """

    runs: Whole = field(default_factory=_whole)
    tops: Whole = field(default_factory=_whole)
    starts: Whole = field(default_factory=_whole)
    stops: Whole = field(default_factory=_whole)
    is_open: Truth = field(default_factory=_truth)
    ratios: Number = field(default_factory=_number)

    def __len__(self) -> int:
        return len(self.tops)

    def __getitem__(self, tile: int) -> Cell:
        members = self.runs[self.starts[tile] : self.stops[tile]].tolist()
        shown = EntryId(int(self.runs[self.tops[tile]]))
        return Cell(shown, tuple(map(EntryId, members)), bool(self.is_open[tile]))

    def __iter__(self) -> Iterator[Cell]:
        return map(self.__getitem__, range(len(self)))

    @property
    def ids(self) -> list[int]:
        """Ids of the runs that are shown, one a tile."""
        ids: list[int] = self.runs[self.tops].tolist()
        return ids

    def of(self, entry_id: EntryId) -> Cell | None:
        """Return the cell that shows a run; None when there is none."""
        tiles = np.flatnonzero(self.runs[self.tops] == entry_id)
        return self[int(tiles[0])] if len(tiles) else None
