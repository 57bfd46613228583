"""The gallery: asks the library in threads of its own, so that the window never waits for it.

What is found comes as cells of a grid, days and stacks already made; what a cell shows is read
when it comes into sight.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from spatialstudio.application.errands import ErrandId, Errands, Progress
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.flow.arrange_runs import arrange_runs
from spatialstudio.application.library import Library
from spatialstudio.application.newest_wish import NewestWish
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import EntryId, LibraryEntry, Marks
from spatialstudio.domain.listing import Cells, Day

FINDING = "Finding runs"
READING = 8
"""Tiles that are told of at once."""


@frozen
class GalleryWish:
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
    """The answer to a wish. Published by the gallery; may cross threads."""

    wish: GalleryWish
    cells: Cells
    days: tuple[Day, ...]
    runs: int


@frozen
class FilterRefused:
    """A filter line cannot be read. Published by the gallery; may cross threads."""

    wish: GalleryWish
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
        self._finding = NewestWish("gallery", self._find)
        self._reading = NewestWish("thumbnails", self._read)
        self._writing = Errands(publish)

    def find(self, wish: GalleryWish) -> None:
        """Answer with ``RunsFound`` or ``FilterRefused``; an older wish may get no answer."""
        self._finding.ask(wish)

    def read(self, ids: Sequence[EntryId]) -> None:
        """Answer with ``TilesRead`` in this order; what was asked for before is given up."""
        self._reading.ask(tuple(ids))

    def mark(self, marks: Mapping[Path, Marks]) -> ErrandId:
        """Keep what the user says of runs; ``ErrandEnded`` tells when it is on disk."""

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

    def _find(self, wish: GalleryWish) -> None:
        try:
            listing = self._library.listing(wish.line)
        except StudioError as error:
            self._publish(FilterRefused(wish=wish, error=report_on(error, FINDING)))
            return
        cells, days = arrange_runs(listing, is_stacked=wish.is_stacked, opened=wish.opened)
        if not self._finding.is_out_of_date:
            self._publish(RunsFound(wish=wish, cells=cells, days=days, runs=len(listing)))

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
