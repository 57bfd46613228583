"""The library's trash: deleted runs in a hidden folder on the same disk.

    .trash/<deletion>/deletion.json      time of deletion and original paths
    .trash/<deletion>/0.png, 0.strace, 0.json, 1.png, ...

The place of the picture is authoritative: after an interruption, ``recover`` moves the other files
to it. The library may come from someone else: links are not followed, a deletion is identified by
its folder, and nothing outside the library is moved, written or deleted, whatever its file says.
"""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

from spatialstudio.adapters.durable_files import (
    explained_writing,
    is_draft,
    sync_folder,
    write_whole,
)
from spatialstudio.adapters.storage.stores.atomic_write import (
    COMPANION_ENDINGS,
    ENDINGS,
    PICTURE_ENDING,
)
from spatialstudio.adapters.storage.stores.json_codec import decode, encode, json_bytes, read_json
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import Deletion
from spatialstudio.domain.safe_files import is_inside, is_regular

FOLDER = ".trash"
RECORD = "deletion.json"
MAX_RUNS = 200_000
"""Limit per deletion; a record with more runs is damaged."""

_GONE = "The deleted run is no longer in the trash."
_GONE_HINT = "It was deleted permanently or restored."
_OUTSIDE_HINT = "A symbolic link in the library points outside it. Remove the link."


class TrashedRun(NamedTuple):
    """A run in the trash.

    Attributes:
        was: Original path of its picture.
        deleted: Time of deletion, UTC.
    """

    was: Path
    deleted: datetime


@frozen
class _Record:
    """The content of a deletion's file; paths are relative to the library."""

    id: str
    deleted: datetime
    paths: tuple[str, ...]


class Trash:
    """Deleted runs of one library.

    Args:
        root: The library's folder.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = root / FOLDER

    def throw(self, pictures: Sequence[Path]) -> Deletion:
        """Move all files of runs to the trash.

        Raises:
            StoreError: The library cannot be written, or a link points outside it.
        """
        paths = tuple(picture.relative_to(self._root).as_posix() for picture in pictures)
        for folder in {self._folder, *(picture.parent for picture in pictures)}:
            self._require_inside(folder)
        record = _Record(id=uuid4().hex, deleted=datetime.now(UTC), paths=paths)
        folder = self._folder / record.id
        with explained_writing(self._root):
            folder.mkdir(parents=True)
            write_whole(folder / RECORD, json_bytes(encode(record, {})))
            for number, picture in enumerate(pictures):
                _move(picture, folder / f"{number}{PICTURE_ENDING}")
        return self._deletion(record)

    def restore(self, inside: Sequence[Path]) -> tuple[Path, ...]:
        """Restore runs to their former places and return their pictures.

        If a name is taken, the run gets a numbered one.

        Args:
            inside: Their pictures in the trash.

        Raises:
            StoreError: A run is no longer in the trash, the library cannot be written, or a link
                points outside it.
        """
        thrown = self.thrown()
        if any(place not in thrown or not place.exists() for place in inside):
            raise StoreError(_GONE, hint=_GONE_HINT)
        restored = []
        with explained_writing(self._root):
            for place in inside:
                target = _free(thrown[place].was)
                self._require_inside(target.parent)
                target.parent.mkdir(parents=True, exist_ok=True)
                _move(place, target)
                restored.append(target)
        for folder in {place.parent for place in inside}:
            _delete_when_empty(folder)
        return tuple(restored)

    def folders(self) -> Iterator[Path]:
        """Yield the folder of each deletion."""
        if self._folder.is_symlink():
            return
        try:
            with os.scandir(self._folder) as entries:
                inner = sorted(e.path for e in entries if e.is_dir(follow_symlinks=False))
        except OSError:
            return
        yield from (Path(path) for path in inner if is_regular(Path(path) / RECORD))

    def thrown(self) -> Mapping[Path, TrashedRun]:
        """Return the origin of each picture in the trash."""
        return {
            inside: TrashedRun(was, deletion.deleted)
            for deletion in self.deletions()
            for inside, was in zip(deletion.inside, deletion.paths, strict=True)
        }

    def deletions(self) -> tuple[Deletion, ...]:
        """List the deletions that can be restored, newest first."""
        records = sorted(self._records(), key=lambda record: record.deleted, reverse=True)
        return tuple(self._deletion(record) for record in records)

    def empty(self, older_than: timedelta = timedelta(0)) -> tuple[Path, ...]:
        """Permanently delete old enough deletions; return the original paths of the pictures."""
        limit = datetime.now(UTC) - older_than
        old = [deletion for deletion in self.deletions() if deletion.deleted <= limit]
        pictures = tuple(path for deletion in old for path in deletion.inside if path.exists())
        for deletion in old:
            _delete(self._folder / deletion.id)
        return pictures

    def recover(self) -> None:
        """Complete interrupted deletions and restorations."""
        for record in self._records():
            with suppress(OSError):
                self._recover(record)

    def _recover(self, record: _Record) -> None:
        folder = self._folder / record.id
        for number in sorted(_numbers_in(folder) & set(range(len(record.paths)))):
            inside = folder / f"{number}{PICTURE_ENDING}"
            outside = self._root / record.paths[number]
            if not is_inside(outside.parent, self._root):
                continue
            if inside.exists() and not outside.exists():
                _follow(outside, inside)
            elif outside.exists() and not inside.exists():
                _follow(inside, outside)
        _delete_when_empty(folder)

    def _records(self) -> Iterator[_Record]:
        for folder in self.folders():
            try:
                yield _read_record(folder)
            except (OSError, StoreError):
                continue

    def _require_inside(self, folder: Path) -> None:
        if not is_inside(folder, self._root) or self._folder.is_symlink():
            raise StoreError(f'"{folder}" is outside the library.', hint=_OUTSIDE_HINT)

    def _deletion(self, record: _Record) -> Deletion:
        folder = self._folder / record.id
        return Deletion(
            id=record.id,
            deleted=record.deleted,
            paths=tuple(self._root / path for path in record.paths),
            inside=tuple(
                folder / f"{number}{PICTURE_ENDING}" for number in range(len(record.paths))
            ),
        )


def is_in_trash(path: str) -> bool:
    """Return True if a library path is inside its trash."""
    return path.startswith(f"{FOLDER}/")


def move_run(picture: Path, folder: Path) -> Path:
    """Move all files of a run to another folder; return the picture's new path.

    Raises:
        StoreError: The folder cannot be written.
    """
    with explained_writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        target = _free(folder / picture.name)
        _move(picture, target)
    return target


def _read_record(folder: Path) -> _Record:
    """Read the file of a deletion.

    Raises:
        OSError: It cannot be read.
        StoreError: It is damaged, belongs to another folder, or names paths that no library lists.
    """
    record = decode(_Record, read_json(folder / RECORD), {})
    if record.id != folder.name or len(record.paths) > MAX_RUNS:
        raise StoreError(f'The trash of "{folder.name}" is damaged.')
    if not all(map(_is_listed, record.paths)):
        raise StoreError("The trash refers to a file outside the library.")
    return record


def _is_listed(path: str) -> bool:
    """Return True if a library could list a picture at that path."""
    place = Path(path)
    return (
        place.suffix == PICTURE_ENDING
        and not place.anchor
        and "\0" not in path
        and not any(part.startswith(".") for part in place.parts)
    )


def _numbers_in(folder: Path) -> set[int]:
    """Return the numbers of all runs with a file in a deletion's folder."""
    stems = (path.stem for path in folder.iterdir() if path.suffix in ENDINGS)
    return {int(stem) for stem in stems if _is_number(stem)}


def _is_number(stem: str) -> bool:
    return stem.isascii() and stem.isdecimal() and len(stem) <= len(str(MAX_RUNS))


def _move(picture: Path, target: Path) -> None:
    """Move a run's files, the picture first because its place is authoritative."""
    if picture.exists():
        shutil.move(picture, target)
    _follow(picture, target)
    sync_folder(target.parent)


def _delete_when_empty(folder: Path) -> None:
    if not any(folder.glob(f"*{PICTURE_ENDING}")):
        _delete(folder)


def _delete(folder: Path) -> None:
    """Delete a deletion's files, and its folder if it holds no others."""
    with suppress(OSError):
        own = [path for path in folder.iterdir() if _is_own(path)]
        for path in (*own, folder / RECORD):
            path.unlink(missing_ok=True)
        folder.rmdir()


def _is_own(path: Path) -> bool:
    is_numbered = path.suffix in ENDINGS and _is_number(path.stem)
    is_folder = path.is_dir() and not path.is_symlink()
    return (is_numbered or is_draft(path.name)) and not is_folder


def _follow(old: Path, new: Path) -> None:
    for ending in COMPANION_ENDINGS:
        if is_regular(old.with_suffix(ending)) and not new.with_suffix(ending).exists():
            shutil.move(old.with_suffix(ending), new.with_suffix(ending))


def _free(picture: Path) -> Path:
    """Return the path itself, or the first numbered variant with no existing file."""
    number, free = 1, picture
    while any(free.with_suffix(ending).exists() for ending in ENDINGS):
        number += 1
        free = picture.with_name(f"{picture.stem}_{number}{PICTURE_ENDING}")
    return free
