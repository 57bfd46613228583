"""Writing files that survive a power cut: whole under their final name, or not there at all."""

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from spatialstudio.domain.errors import StoreError, TargetExists
from spatialstudio.domain.safe_files import is_regular
from spatialstudio.domain.write_gate import FILE_GATE

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.EEXIST})
_DRAFT_ENDING = ".part"
_DRAFT_NAME = re.compile(rf"\.[0-9a-f]{{32}}{re.escape(_DRAFT_ENDING)}")


@contextmanager
def explained_writing(folder: Path) -> Iterator[None]:
    """Say in a sentence why a folder could not be written; a signal waits for the work inside.

    Raises:
        StoreError: The work inside met an ``OSError``.
    """
    try:
        with FILE_GATE.passed():
            yield
    except OSError as error:
        raise _refusal(error, folder) from error


def write_whole(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Write a file through a temporary one beside it; the old content stays until the new is safe.

    Args:
        path: Of the file.
        content: Of the file.
        overwrite: Whether a file of this name is replaced.

    Raises:
        TargetExists: There is something of this name, and it is not to be replaced.
        StoreError: The folder cannot be written or is full, or the path is a folder or a device.
    """
    with explained_writing(path.parent):
        if not path.name or (path.exists() and not is_regular(path)):
            raise StoreError(f'"{path}" is not a file.', hint="Name a file, new or old.")
        draft = _draft(path.parent)
        try:
            write_synced(draft, content)
            if overwrite:
                draft.replace(path)
            else:
                _place(draft, path)
            sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)


def is_draft(name: str) -> bool:
    """Say whether ``write_whole`` names its temporary files like that."""
    return _DRAFT_NAME.fullmatch(name) is not None


@contextmanager
def written_together(
    folder: Path, *, overwrite: bool = False
) -> Iterator[Callable[[str, bytes], None]]:
    """Lend a function that writes files of a folder by name; they appear when the block ends.

    Everything is written into a hidden folder first. A new folder appears complete, in one step;
    files for a folder that is there get their names one after the other once all are on the disk,
    and never beside older ones of the same set. After an error nothing has changed.

    Args:
        folder: Where to; made with its parents when it is not there.
        overwrite: Whether files of the same names are replaced.

    Raises:
        TargetExists: A name is taken, and it is not to be replaced.
        StoreError: The folder cannot be written or is full.
    """
    is_new = not os.path.lexists(folder)
    with explained_writing(folder):
        home = folder.parent if is_new else folder
        home.mkdir(parents=True, exist_ok=True)
        staging = _draft(home)
        staging.mkdir()
    names: list[str] = []

    def write(name: str, content: bytes) -> None:
        with explained_writing(folder):
            write_synced(staging / name, content)
        names.append(name)

    with FILE_GATE.staging(staging):
        yield write
        with explained_writing(folder):
            sync_folder(staging)
            if is_new and not os.path.lexists(folder):
                staging.rename(folder)
            else:
                _publish(staging, folder, names, overwrite=overwrite)
            sync_folder(home)


def check_free(paths: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse targets that are taken, before anything is made for them.

    Raises:
        TargetExists: There is something of a name that is not to be replaced.
        StoreError: It is no file.
    """
    taken = [path for path in paths if os.path.lexists(path)]
    if taken and not overwrite:
        raise TargetExists(taken)
    for path in taken:
        if not path.is_file():
            raise StoreError(f'"{path}" is not a file.', hint="Choose another name.")


def _publish(staging: Path, folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Move finished files to their names; the older files of these names leave first."""
    check_free([folder / name for name in names], overwrite=overwrite)
    replaced = staging / uuid4().hex
    replaced.mkdir()
    try:
        for name in names:
            if os.path.lexists(folder / name):
                (folder / name).rename(replaced / name)
        for name in names:
            _place(staging / name, folder / name)
    except BaseException:
        for name in names:
            if not (staging / name).exists():
                (folder / name).unlink(missing_ok=True)
            if os.path.lexists(replaced / name):
                (replaced / name).replace(folder / name)
        raise


def _place(draft: Path, path: Path) -> None:
    """Give a finished file its name, unless something has that name.

    Raises:
        TargetExists: It is taken.
    """
    try:
        if os.name == "nt":
            draft.rename(path)
            return
        path.hardlink_to(draft)
    except FileExistsError as error:
        raise TargetExists([path]) from error
    except OSError:  # a file system without hard links
        check_free([path], overwrite=False)
        draft.rename(path)
        return
    draft.unlink()


def _draft(folder: Path) -> Path:
    return folder / f".{uuid4().hex}{_DRAFT_ENDING}"


def write_synced(path: Path, content: bytes) -> None:
    """Write a file and wait until the disk has it; the caller makes it visible afterwards."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the disk has the folder's list of names."""
    if os.name == "nt":  # NOTE: Windows cannot open folders; its renames are journalled.
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _refusal(error: OSError, folder: Path) -> StoreError:
    if error.errno in _FULL:
        return StoreError(
            f'The disk that holds "{folder}" is full.',
            hint="Free some space or choose a folder on another disk.",
        )
    if error.errno in _FORBIDDEN:
        return StoreError(
            f'The folder "{folder}" cannot be written.',
            hint="Choose a folder that you can write to.",
        )
    if error.errno in _NOT_A_FOLDER:
        return StoreError(f'"{folder}" is not a folder.', hint="Choose another folder.")
    return StoreError(
        f'The folder "{folder}" cannot be written: {error.strerror or error}.',
        hint="Check the disk or choose another folder.",
    )
