"""Gallery queries in background threads, so that the window never waits for the library.

Results are grid cells with days and stacks; the contents of a cell are read when it becomes
visible.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobId,
    BackgroundJobs,
    LatestJob,
    Progress,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import (
    Cells,
    Day,
    EntryId,
    LibraryEntry,
    Listing,
    Marks,
    Truth,
    Whole,
)


def arrange_runs(
    listing: Listing, *, is_stacked: bool = True, opened: Collection[EntryId] = ()
) -> tuple[Cells, tuple[Day, ...]]:
    """Group runs into grid cells, and return the first cell of each day.

    Args:
        listing: Query result, newest first.
        is_stacked: Whether consecutive runs of one prompt share a tile.
        opened: Runs whose stacks are expanded, with a tile for each run.
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
    """Return where a column differs from its previous value; True for the first."""
    is_new = np.ones(len(column), bool)
    is_new[1:] = column[1:] != column[:-1]
    return is_new


def _tops(listing: Listing, starts: Whole) -> Whole:
    """Return the first guided run of each stack, else its first run."""
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


FINDING = "Finding runs"
READING = 8
"""Number of tiles per event."""


@frozen
class GalleryQuery:
    """A gallery query.

    Attributes:
        line: Filter line; empty for all runs.
        is_stacked: Whether consecutive runs of one prompt share a tile.
        opened: Runs whose stacks are expanded.
    """

    line: str = ""
    is_stacked: bool = True
    opened: frozenset[EntryId] = frozenset()


@frozen(eq=False)
class RunsFound:
    """The result of a query. Published by the gallery; may cross threads."""

    request: GalleryQuery
    cells: Cells
    days: tuple[Day, ...]
    runs: int


@frozen
class FilterRefused:
    """A filter line is invalid. Published by the gallery; may cross threads."""

    request: GalleryQuery
    error: ErrorReport


@frozen(eq=False)
class TileRead:
    """The contents of a tile. Created by the gallery; may cross threads.

    Attributes:
        id: Id of the run.
        entry: Library entry of the run.
        thumbnail: (h, w, 3) uint8; None if the image is not readable.
    """

    id: EntryId
    entry: LibraryEntry
    thumbnail: RgbImage | None


@frozen(eq=False)
class TilesRead:
    """Contents of newly visible tiles. Published by the gallery; may cross threads."""

    tiles: tuple[TileRead, ...]


class Gallery:
    """Queries runs, reads tiles and writes marks in background threads.

    Args:
        library: Library of runs.
        publish: Receives the gallery's events, on its threads.
    """

    def __init__(self, library: Library, publish: Callable[[object], None]) -> None:
        self._library = library
        self._publish = publish
        self._finding = LatestJob("gallery", self._find)
        self._reading = LatestJob("thumbnails", self._read)
        self._writing = BackgroundJobs(publish)

    def find(self, request: GalleryQuery) -> None:
        """Run a query, answered with ``RunsFound`` or ``FilterRefused`` unless replaced."""
        self._finding.ask(request)

    def read(self, ids: Sequence[EntryId]) -> None:
        """Read tiles; answered with ``TilesRead`` in this order. Replaces an earlier request."""
        self._reading.ask(tuple(ids))

    def mark(self, marks: Mapping[Path, Marks]) -> BackgroundJobId:
        """Store marks of runs; ``BackgroundJobEnded`` is published when they are on disk."""

        def write(progress: Progress) -> None:
            for done, (picture, said) in enumerate(marks.items()):
                progress(done, len(marks))
                self._library.mark(picture, said)

        return self._writing.run("Updating runs", write)

    def close(self) -> None:
        """Write pending marks and stop the threads."""
        self._finding.close()
        self._reading.close()
        self._writing.finish()

    def _find(self, request: GalleryQuery) -> None:
        try:
            listing = self._library.listing(request.line)
        except StudioError as error:
            self._publish(FilterRefused(request=request, error=report_on(error, FINDING)))
            return
        cells, days = arrange_runs(listing, is_stacked=request.is_stacked, opened=request.opened)
        if not self._finding.is_out_of_date:
            self._publish(RunsFound(request=request, cells=cells, days=days, runs=len(listing)))

    def _read(self, ids: tuple[EntryId, ...]) -> None:
        for start in range(0, len(ids), READING):
            if self._reading.is_out_of_date:
                return
            some = ids[start : start + READING]
            tiles = tuple(self._tiles(some))
            if tiles:
                self._publish(TilesRead(tiles=tiles))

    def _tiles(self, ids: Sequence[EntryId]) -> Iterator[TileRead]:
        for entry_id in ids:
            for entry in self._library.entries([entry_id]):
                thumbnail = None if entry.is_missing else self._library.thumbnail(entry.path)
                yield TileRead(id=entry_id, entry=entry, thumbnail=thumbnail)
