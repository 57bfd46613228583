"""Writing files that survive a power cut: whole under their final name, or not there at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.safe_files import is_regular
from spatialstudio.domain.write_gate import FILE_GATE

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NOT_A_FOLDER = frozenset({errno.ENOTDIR, errno.EEXIST})


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


def write_whole(path: Path, content: bytes) -> None:
    """Write a file through a temporary one beside it; the old content stays until the new is safe.

    Raises:
        StoreError: The folder cannot be written or is full, or the path is a folder or a device.
    """
    with explained_writing(path.parent):
        if not path.name or (path.exists() and not is_regular(path)):
            raise StoreError(f'"{path}" is not a file.', hint="Name a file, new or old.")
        draft = path.with_name(f".{uuid4().hex}.part")
        try:
            write_synced(draft, content)
            draft.replace(path)
            sync_folder(path.parent)
        finally:
            draft.unlink(missing_ok=True)


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
            f'The folder "{folder}" cannot be written.', hint="Choose a folder of your own."
        )
    if error.errno in _NOT_A_FOLDER:
        return StoreError(f'"{folder}" is not a folder.', hint="Choose another folder.")
    return StoreError(
        f'The folder "{folder}" cannot be written: {error.strerror or error}.',
        hint="Check the disk or choose another folder.",
    )
