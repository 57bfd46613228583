"""The gallery: asks the library in threads of its own, so that the window never waits for it.

What is found comes as cells of a grid, days and stacks already made; what a cell shows is read
when it comes into sight.
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


FINDING = "Finding runs"
READING = 8
"""Tiles that are told of at once."""


@frozen
class GalleryQuery:
    """What shall be shown.

    Attributes:
        line: The filter; empty for all runs.
        is_stacked: Whether runs that follow each other and draw one prompt are one tile.
        opened: Runs whose stacks are open.
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
    """A filter line cannot be read. Published by the gallery; may cross threads."""

    request: GalleryQuery
    error: ErrorReport


@frozen(eq=False)
class TileRead:
    """What a tile shows. Made by the gallery; may cross threads.

    Attributes:
        id: Of the run.
        entry: All that the library knows of it.
        thumbnail: (h, w, 3) uint8; None when there is no picture that can be read.
    """

    id: EntryId
    entry: LibraryEntry
    thumbnail: RgbImage | None


@frozen(eq=False)
class TilesRead:
    """Some tiles that came into sight. Published by the gallery; may cross threads."""

    tiles: tuple[TileRead, ...]


class Gallery:
    """Finds runs, reads their tiles and writes their marks beside the window.

    Args:
        library: All runs.
        publish: Takes the gallery's events, from its threads.
    """

    def __init__(self, library: Library, publish: Callable[[object], None]) -> None:
        self._library = library
        self._publish = publish
        self._finding = LatestJob("gallery", self._find)
        self._reading = LatestJob("thumbnails", self._read)
        self._writing = BackgroundJobs(publish)

    def find(self, request: GalleryQuery) -> None:
        """Answer with ``RunsFound`` or ``FilterRefused``; an older query may get no answer."""
        self._finding.ask(request)

    def read(self, ids: Sequence[EntryId]) -> None:
        """Answer with ``TilesRead`` in this order; what was asked for before is given up."""
        self._reading.ask(tuple(ids))

    def mark(self, marks: Mapping[Path, Marks]) -> BackgroundJobId:
        """Keep what the user says of runs; ``BackgroundJobEnded`` tells when it is on disk."""

        def write(progress: Progress) -> None:
            for done, (picture, said) in enumerate(marks.items()):
                progress(done, len(marks))
                self._library.mark(picture, said)

        return self._writing.run("Marking runs", write)

    def close(self) -> None:
        """Write what is still to be written, and stop."""
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
