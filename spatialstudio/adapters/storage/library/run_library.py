"""The library of a folder of runs: list, search, mark, delete and restore.

The files are authoritative. ``refresh`` compares them with the index; a folder with an unchanged
modification time is skipped, since every write here renames a file.
"""

import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from itertools import chain
from os.path import lexists
from pathlib import Path
from stat import S_ISREG
from typing import TypeVar

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.library.index import IndexedRun, LibraryIndex, is_about_writing
from spatialstudio.adapters.storage.library.migrations import migrate
from spatialstudio.adapters.storage.library.thumbnails import Thumbnails
from spatialstudio.adapters.storage.library.trash import (
    Trash,
    TrashedRun,
    is_in_trash,
    move_run,
)
from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores import atomic_write
from spatialstudio.adapters.storage.stores.atomic_write import (
    PICTURE_ENDING,
    SIDECAR_ENDING,
    TRACE_ENDING,
)
from spatialstudio.adapters.storage.stores.judgement import recover_judgements
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.run_folder import load_run_folder, run_folder_of
from spatialstudio.adapters.storage.stores.sidecar import (
    Sidecar,
    read_listing,
    summarise,
    with_verdicts,
)
from spatialstudio.adapters.storage.stores.verify_run import (
    proven_repetition,
    read_part,
    read_record,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError, StoreError, StudioError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.judge_choice import STICKER_DETECTOR_ID
from spatialstudio.domain.library import (
    Deletion,
    EntryId,
    Filter,
    LibraryChange,
    LibraryEntry,
    Listing,
    Marks,
    RunId,
    RunSummary,
)
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import is_regular


def folders_in(root: Path) -> Iterator[Path]:
    """Yield a library's folder and all subfolders, except hidden and linked ones."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        yield folder
        try:
            with os.scandir(folder) as entries:
                inner = sorted(e.path for e in entries if e.is_dir(follow_symlinks=False))
        except OSError:
            continue
        waiting += [path for path in map(Path, reversed(inner)) if path.name[0] != "."]


def runs_in(folder: Path, root: Path) -> dict[str, str]:
    """Map each run directly in a folder, by its picture's path in the library, to its stamp.

    The stamp changes when picture or sidecar do. Names that are not valid text are left out because
    no index can hold them, and so is anything that does not resolve to a regular file.
    """
    found: dict[str, str] = {}
    seen: dict[str, os.stat_result] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name.endswith(_ENDINGS):
                    seen |= _regular(entry)
    except OSError:
        return found
    inside = folder.relative_to(root).as_posix()
    prefix = "" if inside == "." else f"{inside}/"
    for name, stat in seen.items():
        if name.endswith(PICTURE_ENDING) and _is_text(prefix + name):
            sidecar = seen.get(name.removesuffix(PICTURE_ENDING) + SIDECAR_ENDING)
            found[prefix + name] = "-".join(_mark(s) for s in (stat, sidecar) if s is not None)
    return found


def nameless_in(folder: Path) -> int:
    """Return how many pictures directly in a folder are left out for names that are not text."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError:
        return 0
    return sum(name.endswith(PICTURE_ENDING) and not _is_text(name) for name in names)


def read_run(
    picture: Path,
    path: str,
    stamp: str,
    thrown: TrashedRun | None = None,
    draws_stickers: Callable[[str], bool] = bool,
) -> IndexedRun:
    """Read the index data of a run from the best available of its files.

    Args:
        picture: The file.
        path: Of the picture in the library.
        stamp: As returned by ``runs_in``.
        thrown: Original place and time of deletion; None for a run outside the trash.
        draws_stickers: Returns whether the sticker models can judge the pictures of a model id.
    """
    kept = _sidecar(picture)
    sidecar = kept or Sidecar(summary=_by_picture(picture), marks=Marks())
    name = thrown.was.stem if thrown else picture.stem
    return IndexedRun(
        path=path,
        stamp=stamp,
        summary=replace(_fitting(sidecar, draws_stickers), id=RunId(name)),
        marks=sidecar.marks,
        repetition=proven_repetition(picture, sidecar.repetition),
        deleted=thrown.deleted if thrown else None,
        is_damaged=kept is None
        and (lexists(picture.with_suffix(TRACE_ENDING)) or run_folder_of(picture) is not None),
        is_unsuited=sidecar.is_unsuited,
    )


def _fitting(sidecar: Sidecar, draws_stickers: Callable[[str], bool]) -> RunSummary:
    """Drop verdicts that sticker models gave by default on pictures of other models.

    If a record names its detector, that detector was chosen explicitly for such a picture.
    """
    summary = sidecar.summary
    is_default = not sidecar.names_detector and sidecar.detector_ids <= {STICKER_DETECTOR_ID}
    if is_default and summary.outcome is not None and not draws_stickers(summary.model_id):
        return with_verdicts(summary, ())
    return summary


_ENDINGS = (PICTURE_ENDING, SIDECAR_ENDING)


def _regular(entry: os.DirEntry[str]) -> dict[str, os.stat_result]:
    """Map a regular file's name to its status; empty for anything else and broken links."""
    try:
        status = entry.stat()
    except OSError:
        return {}
    return {entry.name: status} if S_ISREG(status.st_mode) else {}


def _is_text(path: str) -> bool:
    """Return True if a path is valid text, without surrogate escapes."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _mark(stat: os.stat_result) -> str:
    return f"{stat.st_mtime_ns:x}.{stat.st_size:x}"


def _sidecar(picture: Path) -> Sidecar | None:
    """Read the sidecar, else the trace; None if neither can be read."""
    path = picture.with_suffix(SIDECAR_ENDING)
    try:
        return read_listing(read_part(path), path.name)
    except StudioError:
        pass
    try:
        if old := run_folder_of(picture):
            record, _ = load_run_folder(old)
            return Sidecar(summary=summarise(record, record.evaluation, (0, 0)), marks=Marks())
        if is_regular(picture.with_suffix(TRACE_ENDING)):
            return Sidecar(summary=summarise(read_record(picture), None, (0, 0)), marks=Marks())
    except StudioError:
        pass
    return None


def _by_picture(picture: Path) -> RunSummary:
    """Return the summary that a picture without its other files contains."""
    try:
        settings = settings_in(read_part(picture))
    except StudioError:
        settings = None
    settings = settings or PictureSettings(dialect="")
    return RunSummary(
        id=RunId(picture.stem),
        request_id=RequestId(""),
        created=_modified(picture),
        prompt=settings.prompt,
        model_id=settings.model,
        seed=settings.seed or 0,
        steps=settings.steps or 0,
        method_id=settings.method,
        strength=settings.strength or 0.0,
        width=settings.width or 0,
        height=settings.height or 0,
        device="",
    )


def _modified(picture: Path) -> datetime:
    """Return a file's modification time; the minimum datetime if out of range."""
    try:
        return datetime.fromtimestamp(picture.stat().st_mtime, UTC)
    except (OSError, ValueError, OverflowError):
        return datetime.fromtimestamp(0, UTC)


log = logging.getLogger(__name__)

T = TypeVar("T")

IN_MEMORY = "The library index is kept in memory because its folder is not writable."
BATCH = 500
"""Runs per index transaction."""


def build(_: Surroundings) -> "Libraries":
    """Create the opener of libraries."""
    return Libraries()


class Libraries:
    """Opener of libraries; implements ``RunLibraries``."""

    id = "files"

    def open(self, root: Path, cache: Path, draws_stickers: Callable[[str], bool]) -> "RunLibrary":
        """Open the library in a folder, which may not exist yet.

        Args:
            root: The folder of runs.
            cache: Folder for index and thumbnails; if it cannot be written, the index stays in
                memory.
            draws_stickers: Returns whether the sticker models can judge the pictures of a model id.
        """
        return RunLibrary(root, cache, draws_stickers)


class RunLibrary:
    """One library; implements the port of the same name. Thread-safe."""

    def __init__(
        self, root: Path, cache: Path, draws_stickers: Callable[[str], bool] = bool
    ) -> None:
        self.root = root
        self._draws_stickers = draws_stickers
        name = sha256(str(root.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._database = cache / "index" / f"{name}.sqlite3"
        self._runs = RunFiles()
        self._trash = Trash(root)
        self._thumbnails = Thumbnails(cache / "thumbnails")
        self._looked: dict[Path, int] = {}
        self._index = self._open_index()
        self._repair()

    def close(self) -> None:
        """Close the index."""
        self._index.close()

    def refresh(self, *, thorough: bool = False) -> LibraryChange:
        """Find runs that were added, changed, moved or removed since the last refresh.

        Args:
            thorough: Whether to scan folders with an unchanged modification time too.
        """
        if thorough:
            self._looked.clear()
        return self._mended(self._look)

    def _look(self) -> LibraryChange:
        within = chain(folders_in(self.root), self._trash.folders())
        folders = {folder: _changed_at(folder) for folder in within}
        looked = [f for f, at in folders.items() if at is None or self._looked.get(f) != at]
        gone_folders = self._looked.keys() - folders.keys()
        is_first = not self._looked
        self._looked = {folder: at for folder, at in folders.items() if at is not None}
        if not looked and not gone_folders:
            return LibraryChange()
        found = {p: s for folder in looked for p, s in runs_in(folder, self.root).items()}
        known = self._index.stamps()
        if not is_first:
            names = {_inside(folder, self.root) for folder in (*looked, *gone_folders)}
            known = {p: s for p, s in known.items() if p.rpartition("/")[0] in names}
        return replace(self._take_in(found, known), nameless=sum(map(nameless_in, looked)))

    def reindex(self) -> int:
        """Rebuild the index from the files; return the number of runs.

        Runs with missing pictures have no files; they are copied from the old index if it can be
        read.
        """
        missing: tuple[LibraryEntry, ...] = ()
        with suppress(sqlite3.Error, StoreError):
            missing = self._index.missing()
        self._index.clear()
        self._repair()
        count = len(self.refresh(thorough=True).added)
        self.recall([entry for entry in missing if not self._is_back(entry)])
        return count

    def find(self, wanted: Filter) -> tuple[EntryId, ...]:
        """Return the runs that match a filter, newest first."""
        return self._mended(lambda: self._index.find(wanted))

    def listing(self, wanted: Filter) -> Listing:
        """Return the matching runs with the fields that a grid of thumbnails needs."""
        return self._mended(lambda: self._index.listing(wanted))

    def entries(self, ids: Sequence[EntryId]) -> tuple[LibraryEntry, ...]:
        """Return runs by id, in the given order; unknown ids are left out."""
        return self._index.entries(ids)

    def entry_at(self, picture: Path) -> LibraryEntry | None:
        """Return the run of a picture; None if it is not in the library."""
        if not picture.is_relative_to(self.root):
            return None
        return self._index.entry_at(picture.relative_to(self.root).as_posix())

    def id_at(self, picture: Path) -> EntryId | None:
        """Return the id of a picture; None if it is not in the library."""
        if not picture.is_relative_to(self.root):
            return None
        return self._index.id_at(picture.relative_to(self.root).as_posix())

    def of_request(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the run of a request; None if there is none."""
        return self._index.of_request(request_id)

    def tags(self) -> tuple[str, ...]:
        """Return all tags in use, most frequent first."""
        return self._index.tags()

    def add(self, picture: Path) -> None:
        """Index a run that was just stored or changed."""
        if picture.is_relative_to(self.root):
            path = picture.relative_to(self.root).as_posix()
            if run := self._read_one(path):
                self._mended(lambda: self._index.put([run]))

    def mark(self, picture: Path, marks: Marks) -> None:
        """Save the user's marks of a run in its sidecar and in the index.

        Raises:
            StoreError: The run does not exist or cannot be written.
        """
        self._runs.mark(picture, marks)
        self.add(picture)

    def throw(self, pictures: Sequence[Path]) -> Deletion:
        """Move runs to the trash.

        Raises:
            StoreError: The library cannot be written.
        """
        deletion = self._trash.throw(pictures)
        self.forget(pictures)
        for inside in deletion.inside:
            self.add(inside)
        return deletion

    def restore(self, inside: Sequence[Path]) -> tuple[Path, ...]:
        """Restore runs to their former places and return their pictures.

        Args:
            inside: Their pictures in the trash.

        Raises:
            StoreError: A run is no longer in the trash, or the library cannot be written.
        """
        pictures = self._trash.restore(inside)
        self.forget(inside)
        for picture in pictures:
            self.add(picture)
        return pictures

    def deletions(self) -> tuple[Deletion, ...]:
        """List the deletions that can be restored, newest first."""
        return self._trash.deletions()

    def empty_trash(self, older_than: timedelta = timedelta(0)) -> int:
        """Permanently delete runs that have been in the trash long enough; return their number."""
        gone = self._trash.empty(older_than)
        self.forget(gone)
        return len(gone)

    def forget(self, pictures: Sequence[Path]) -> None:
        """Remove runs with missing pictures from the index."""
        paths = [path.relative_to(self.root).as_posix() for path in pictures]
        self._mended(lambda: self._index.remove(paths))

    def recall(self, missing: Sequence[LibraryEntry]) -> None:
        """Add runs with missing pictures to the index again."""
        runs = [
            IndexedRun(
                path=entry.path.relative_to(self.root).as_posix(),
                stamp="",
                summary=entry.summary,
                marks=entry.marks,
                repetition=entry.repetition,
                is_damaged=entry.is_damaged,
            )
            for entry in missing
        ]
        self._index.put(runs)
        self._index.miss([run.path for run in runs])

    def derived_from(self, run_id: str) -> tuple[LibraryEntry, ...]:
        """Return the runs that were derived from a run, outside the trash, newest first."""
        return self._index.children(run_id)

    def repetitions(self, run: RunSummary) -> tuple[LibraryEntry, ...]:
        """Return the runs that repeat a run exactly and were compared with it, newest first."""
        return tuple(entry for entry in self._index.children(run.id) if entry.repetition)

    def move(self, picture: Path, folder: Path) -> Path:
        """Move a run to another folder; return the picture's new path.

        Raises:
            StoreError: The folder cannot be written.
        """
        target = move_run(picture, folder)
        if picture.is_relative_to(self.root):
            self.forget([picture])
        self.add(target)
        return target

    def picture(self, path: Path) -> RgbImage | None:
        """Return a picture, (H, W, 3) uint8; None if the file cannot be read."""
        try:
            return PillowImages().read(path)
        except ImageError:
            return None

    def thumbnail(self, picture: Path) -> RgbImage | None:
        """Return a thumbnail, (h, w, 3) uint8; None if the file cannot be read."""
        return self._thumbnails.get(picture)

    def _open_index(self) -> LibraryIndex:
        try:
            return LibraryIndex(self._database, self.root, self._read_one)
        except (OSError, sqlite3.Error):
            log.warning(IN_MEMORY)
            return LibraryIndex(None, self.root, self._read_one)

    def _mended(self, ask: Callable[[], T]) -> T:
        """Run a query; if the index is damaged or cannot be written, rebuild it and retry."""
        try:
            return ask()
        except sqlite3.DatabaseError as error:
            if is_about_writing(error):
                log.warning(IN_MEMORY)
                self._index.leave_file()
            elif self._index.is_whole():
                raise
            else:
                log.warning("The library index is damaged and will be rebuilt.")
        self.reindex()
        return ask()

    def _repair(self) -> None:
        """Complete interrupted writes and migrations; a read-only library is left unchanged."""
        if not self.root.is_dir() or not os.access(self.root, os.W_OK):
            return
        steps = [lambda: migrate(self.root), self._trash.recover]
        for folder in folders_in(self.root):
            steps += [partial(atomic_write.recover, folder), partial(recover_judgements, folder)]
        for step in steps:
            try:
                step()
            except (StoreError, OSError):
                log.warning("The library could not be updated.")

    def _take_in(self, found: Mapping[str, str], known: Mapping[str, str]) -> LibraryChange:
        fresh = [path for path, stamp in found.items() if known.get(path) != stamp]
        gone = known.keys() - found.keys()
        requests = {request: path for path in gone if (request := self._request_at(path))}
        moved: dict[str, str] = {}
        for start in range(0, len(fresh), BATCH):
            batch = fresh[start : start + BATCH]
            runs = self._read({path: found[path] for path in batch})
            for run in runs:
                if run.deleted is None and (request := run.summary.request_id):
                    missing_at = self._index.missing_of(request)
                    if run.path in missing_at:
                        continue  # it is back, as after remounting a disk
                    old = requests.pop(request, None) or next(iter(missing_at), None)
                    moved |= {} if old is None else {old: run.path}
            self._index.put(runs)
        deleted = self._deleted(gone) if gone else set()
        self._index.remove([*moved, *deleted])
        missing = gone - moved.keys() - deleted
        self._index.miss(sorted(missing))
        before = known.keys() | moved.values()
        return LibraryChange(
            added=self._paths(p for p in fresh if p not in before and not is_in_trash(p)),
            changed=self._paths(p for p in fresh if p in known),
            moved={self.root / old: self.root / new for old, new in moved.items()},
            missing=self._paths(missing),
        )

    def _read_one(self, path: str) -> IndexedRun | None:
        """Read the index data of the run at a path; None if there is none."""
        stamp = runs_in((self.root / path).parent, self.root).get(path)
        return next(iter(self._read({path: stamp})), None) if stamp else None

    def _read(self, stamps: Mapping[str, str]) -> list[IndexedRun]:
        """Read the index data of runs, given by path and stamp."""
        thrown = self._trash.thrown() if any(map(is_in_trash, stamps)) else {}
        return [
            read_run(
                self.root / path, path, stamp, thrown.get(self.root / path), self._draws_stickers
            )
            for path, stamp in stamps.items()
            if self.root / path in thrown or not is_in_trash(path)
        ]

    def _deleted(self, gone: Set[str]) -> set[str]:
        """Return the paths that are gone because they were deleted or left the trash."""
        were = {thrown.was for thrown in self._trash.thrown().values()}
        return {path for path in gone if is_in_trash(path) or self.root / path in were}

    def _is_back(self, missing: LibraryEntry) -> bool:
        """Return True if a run exists again, at its old path or another."""
        request = missing.summary.request_id
        is_elsewhere = bool(request) and self._index.of_request(request) is not None
        return is_elsewhere or self.entry_at(missing.path) is not None

    def _request_at(self, path: str) -> RequestId | None:
        entry = self._index.entry_at(path)
        return entry.summary.request_id if entry else None

    def _paths(self, paths: Iterable[str]) -> tuple[Path, ...]:
        return tuple(self.root / path for path in sorted(paths))


def _changed_at(folder: Path) -> int | None:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return None


def _inside(folder: Path, root: Path) -> str:
    inside = folder.relative_to(root).as_posix()
    return "" if inside == "." else inside
