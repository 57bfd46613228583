"""Checks on names and files that others wrote: nothing leaves its folder, blocks or fills memory.

Every reader of files from elsewhere opens them here. A FIFO, a device or a link to one is refused
before a byte is read, as is a file above the reader's limit.
"""

import errno
import os
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import BinaryIO

from spatialstudio.domain.errors import ExportError

MEBIBYTE = 1024 * 1024
MAX_NAME_BYTES = 255
"""What common file systems allow for one component of a path."""

_SEPARATORS = frozenset("/\\:\0")
_RESERVED = frozenset({"", ".", ".."})


class NotARegularFile(OSError):  # noqa: N818 - reads as a finding
    """The path leads to a FIFO, a device, a socket or a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "Not a regular file", str(path))


class FileTooLarge(OSError):  # noqa: N818 - reads as a finding
    """The file is larger than its reader allows."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EFBIG, "File too large", str(path))


def is_path_component(name: str) -> bool:
    """Say whether an id or name can be used as one component of a path on every system.

    Separators, drive letters, control characters, ``.`` and ``..`` are refused, and names longer
    than ``MAX_NAME_BYTES``.
    """
    return (
        name not in _RESERVED
        and not _SEPARATORS.intersection(name)
        and not any(unicodedata.category(character) == "Cc" for character in name)
        and len(os.fsencode(name)) <= MAX_NAME_BYTES
    )


def is_inside(path: Path, root: Path) -> bool:
    """Say whether a path lies in a folder, or is it, once all links are resolved.

    A path that cannot be resolved, as through a loop of links, lies nowhere.
    """
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def is_one_of(path: Path, others: Iterable[Path]) -> bool:
    """Say whether a path leads to one of some files, by whatever spelling or link, hard or not."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    return any(os.path.samestat(status, other.stat()) for other in others if other.exists())


def check_not_source(targets: Iterable[Path], sources: Sequence[Path]) -> None:
    """Refuse to write a result over what it is made from, by whatever name or link.

    Raises:
        ExportError: A target is one of the sources.
    """
    for target in targets:
        if is_one_of(target, sources):
            raise ExportError(
                f'"{target}" is an input of this result and is never replaced.',
                hint="Choose another name or folder.",
            )


def is_regular(path: Path) -> bool:
    """Say whether a path leads to a regular file, links resolved; nothing is opened."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Say whether a path leads to a folder, links resolved, whatever the path is."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def open_regular(path: Path, max_bytes: int | None = None) -> BinaryIO:
    """Open a regular file for reading, links resolved, without blocking on a FIFO.

    Args:
        path: Of the file.
        max_bytes: The largest size that is opened; None for no limit.

    Raises:
        NotARegularFile: The path leads to something else.
        FileTooLarge: The file is larger than ``max_bytes``.
        OSError: The file cannot be opened.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # before opening: some devices act on being opened
        raise NotARegularFile(path)
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    status = os.fstat(file.fileno())
    if stat.S_ISREG(status.st_mode) and (max_bytes is None or status.st_size <= max_bytes):
        return file
    file.close()
    raise FileTooLarge(path) if stat.S_ISREG(status.st_mode) else NotARegularFile(path)


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Read a whole regular file of limited size.

    Raises:
        NotARegularFile: The path leads to something else.
        FileTooLarge: The file is larger than ``max_bytes``, or grows beyond it while it is read.
        OSError: The file cannot be read.
    """
    with open_regular(path, max_bytes) as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise FileTooLarge(path)
    return content
