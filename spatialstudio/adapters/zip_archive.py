"""Safe opening of untrusted zip archives: all members are checked before any is unpacked.

An archive of a few kilobytes can list one member a million times, unpack to terabytes, or use a
compression method without a size limit. Rejected content never reaches a decompressor.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from lzma import LZMAError
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo
from zlib import error as ZlibError  # noqa: N812 - an exception class in lower case

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.frozen import frozen

BROKEN = (
    *(BadZipFile, OSError, KeyError, ValueError, EOFError, NotImplementedError, RuntimeError),
    *(ZlibError, LZMAError, MemoryError),
)
"""Exceptions from reading a damaged zip file."""

_ENCRYPTED = 1
_BYTES_PER_ENTRY = 200
"""Limit per directory entry: 46 bytes, the member's name and extra fields."""
_MIN_READ_BYTES = 128 * 1024
"""The longest archive comment, and the end-of-directory records."""


class ArchiveTooLarge(BadZipFile):
    """The archive exceeds its limits."""


@frozen
class ArchiveLimits:
    """Limits on an archive.

    Attributes:
        members: Number of members.
        member_bytes: Unpacked size of each member.
        total_bytes: Unpacked size of all members.
    """

    members: int
    member_bytes: int
    total_bytes: int


@contextmanager
def open_archive(file: bytes | BinaryIO, limits: ArchiveLimits) -> Iterator[ZipFile]:
    """Open an archive whose members can all be read safely.

    Args:
        file: The archive, or its content.
        limits: Limits on its members.

    Raises:
        ArchiveTooLarge: It exceeds the limits.
        BadZipFile: It is damaged, or uses a compression other than ``ZIP_DEFLATED``.
    """
    source = _DirectoryReads(
        BytesIO(file) if isinstance(file, bytes) else file,
        max(limits.members * _BYTES_PER_ENTRY, _MIN_READ_BYTES),
    )
    stand_in: IO[bytes] = source  # type: ignore[assignment]
    with ZipFile(stand_in) as archive:
        source.begin_members()
        _check(archive.infolist(), limits)
        yield archive


def read_array(content: bytes) -> npt.NDArray[np.generic]:
    """Decode a .npy file, using no more memory than the file.

    Raises:
        ValueError: It is damaged, declares a wrong size, or holds objects.
    """
    file = BytesIO(content)
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError("The array has an unknown version.")
    try:
        shape, is_fortran, dtype = read_header(file)
    except (SyntaxError, RecursionError, TypeError, MemoryError) as error:
        raise ValueError("The header of the array is damaged.") from error
    count = 1
    for side in shape:
        count *= side
    rest = len(content) - file.tell()
    is_valid = not dtype.hasobject and min(shape, default=0) >= 0
    if not is_valid or count * dtype.itemsize != rest or (count and not dtype.itemsize):
        raise ValueError("The array's size does not match its header.")
    flat = np.frombuffer(content, dtype, count, file.tell()) if rest else np.empty(count, dtype)
    return flat.reshape(shape, order="F" if is_fortran else "C").copy()


def _check(members: list[ZipInfo], limits: ArchiveLimits) -> None:
    if len(members) > limits.members:
        raise ArchiveTooLarge("too many members")
    if len({member.filename for member in members}) < len(members):
        raise BadZipFile("a member is listed twice")
    if any(member.file_size > limits.member_bytes for member in members):
        raise ArchiveTooLarge("a member is too large")
    if sum(member.file_size for member in members) > limits.total_bytes:
        raise ArchiveTooLarge("the members are too large")
    _refuse_overlaps(members)
    if any(member.compress_type not in (ZIP_STORED, ZIP_DEFLATED) for member in members):
        raise BadZipFile("an unusual compression")  # other methods unpack without a limit
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise BadZipFile("an encrypted member")


def _refuse_overlaps(members: list[ZipInfo]) -> None:
    """Reject members that share bytes, so that none is unpacked twice under two names."""
    end = 0
    for member in sorted(members, key=lambda member: member.header_offset):
        if member.header_offset < end:
            raise BadZipFile("members overlap")
        end = member.header_offset + member.compress_size


class _DirectoryReads:
    """A file whose reads are limited until the archive's directory was read."""

    def __init__(self, file: BinaryIO, most_bytes: int) -> None:
        self._file = file
        self._most: int | None = most_bytes

    def begin_members(self) -> None:
        self._most = None

    def read(self, count: int = -1) -> bytes:
        if self._most is None:
            return self._file.read(count)
        content = self._file.read(min(count, self._most + 1) if count >= 0 else self._most + 1)
        if len(content) > self._most:
            raise ArchiveTooLarge("too many members")
        return content

    def seek(self, place: int, origin: int = 0) -> int:
        return self._file.seek(place, origin)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True

    def close(self) -> None:
        """Do nothing: the file is closed by its opener."""
