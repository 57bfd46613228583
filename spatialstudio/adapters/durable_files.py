"""Atomic writing of files that survive a power cut."""

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO
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
    """Translate write errors on a folder; signals are deferred until the block ends.

    Raises:
        StoreError: The block raised an ``OSError``.
    """
    try:
        with FILE_GATE.passed():
            yield
    except OSError as error:
        raise _refusal(error, folder) from error


def write_whole(path: Path, content: bytes, *, overwrite: bool = True) -> None:
    """Write a file atomically through a temporary file in the same folder.

    Args:
        path: The file.
        content: Its content.
        overwrite: Whether to replace an existing file.

    Raises:
        TargetExists: The path exists and ``overwrite`` is False.
        StoreError: The folder cannot be written or is full, or the path is a folder or a device.
    """
    with explained_writing(path.parent):
        if not path.name or (path.exists() and not is_regular(path)):
            raise StoreError(
                f'"{path}" is not a file.', hint=("Pass the path of a new or existing file.")
            )
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
    """Return True if a name is that of a temporary file of ``write_whole``."""
    return _DRAFT_NAME.fullmatch(name) is not None


@contextmanager
def written_together(
    folder: Path, *, overwrite: bool = False
) -> Iterator[Callable[[str, bytes | Callable[[BinaryIO], None]], None]]:
    """Yield a function that writes files of a folder by name; they appear when the block ends.

    It takes bytes, or a function that writes the open file and may take long.

    Everything is written into a hidden folder first. A new folder appears complete, in one step.
    In an existing folder, files are renamed one by one once all are on disk, and never mixed with
    older ones of the same set. After an error nothing has changed.

    Args:
        folder: Target folder; created with its parents if missing.
        overwrite: Whether to replace files of the same names.

    Raises:
        TargetExists: A name is taken and ``overwrite`` is False.
        StoreError: The folder cannot be written or is full.
    """
    is_new = not os.path.lexists(folder)
    with explained_writing(folder):
        home = folder.parent if is_new else folder
        home.mkdir(parents=True, exist_ok=True)
        staging = _draft(home)
        staging.mkdir()
    names: list[str] = []

    def write(name: str, content: bytes | Callable[[BinaryIO], None]) -> None:
        if isinstance(content, bytes):
            with explained_writing(folder):
                write_synced(staging / name, content)
        else:
            _write_stream(staging / name, content, folder)
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
    """Check that targets are free, before their content is created.

    Raises:
        TargetExists: A path exists and ``overwrite`` is False.
        StoreError: An existing path is not a file.
    """
    taken = [path for path in paths if os.path.lexists(path)]
    if taken and not overwrite:
        raise TargetExists(taken)
    for path in taken:
        if not path.is_file():
            raise StoreError(f'"{path}" is not a file.', hint="Choose another name.")


def _publish(staging: Path, folder: Path, names: Sequence[str], *, overwrite: bool) -> None:
    """Rename finished files to their names; older files of these names are moved away first."""
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
    """Rename a finished file unless the name is taken.

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
    """Write a file and flush it to disk; the caller renames it afterwards."""
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _write_stream(path: Path, write: Callable[[BinaryIO], None], folder: Path) -> None:
    """Write a file of unknown size; the process may exit meanwhile, as it is in staging."""
    try:
        with path.open("x+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise _refusal(error, folder) from error


def sync_folder(folder: Path) -> None:
    """Flush a folder's directory entries to disk."""
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
