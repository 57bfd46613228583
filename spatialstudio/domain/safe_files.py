"""Safe handling of untrusted paths and files: no path traversal, blocking or memory exhaustion.

All readers of untrusted files open them with this module. A FIFO, a device or a link to one is
refused before it is read, as is a file above the size limit. JSON is parsed with limits on memory,
depth and number size; its memory is estimated from the bytes before parsing, as JSON can take a
hundred times its size as objects.
"""

import errno
import json
import os
import stat
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from spatialstudio.domain.errors import ExportError

MEBIBYTE = 1024 * 1024
MAX_NAME_BYTES = 255
"""Limit of common file systems for one path component."""

_SEPARATORS = frozenset("/\\:\0")
_RESERVED = frozenset({"", ".", ".."})


class NotARegularFile(OSError):  # noqa: N818 - the name states the fault
    """The path is a FIFO, a device, a socket or a folder."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "Not a regular file", str(path))


class FileTooLarge(OSError):  # noqa: N818 - the name states the fault
    """The file exceeds the size limit of its reader."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EFBIG, "File too large", str(path))


def is_path_component(name: str) -> bool:
    """Return True if an id or name is a valid path component on every system.

    Separators, drive letters, control characters, ``.`` and ``..`` are refused, and names longer
    than ``MAX_NAME_BYTES``.
    """
    return (
        name not in _RESERVED
        and not _SEPARATORS.intersection(name)
        and not any(unicodedata.category(character) == "Cc" for character in name)
        and len(os.fsencode(name)) <= MAX_NAME_BYTES
    )


def is_on_network(path: str) -> bool:
    """Return True if a path or URL names a computer, such as ``//host/x`` or ``file://host/x``.

    Opening such a path on Windows sends credentials of the user to the host.
    """
    return path.replace("\\", "/").startswith("//") or path.lower().startswith("file:")


def is_inside(path: Path, root: Path) -> bool:
    """Return True if a path, with links resolved, is a folder or inside it.

    A path that cannot be resolved, for example in a loop of links, is not inside any folder.
    """
    try:
        return path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError):
        return False


def is_one_of(path: Path, others: Iterable[Path]) -> bool:
    """Return True if a path refers to one of the files, under any spelling or link."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return False
    return any(os.path.samestat(status, other.stat()) for other in others if other.exists())


def check_not_source(targets: Iterable[Path], sources: Sequence[Path]) -> None:
    """Check that no target refers to a source, under any spelling or link.

    Raises:
        ExportError: A target is one of the sources.
    """
    for target in targets:
        if is_one_of(target, sources):
            raise ExportError(
                f'"{target}" is an input file and is never overwritten.',
                hint="Choose another name or folder.",
            )


def is_regular(path: Path) -> bool:
    """Return True if a path, with links resolved, is a regular file; nothing is opened."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Return True if a path, with links resolved, is a folder; False for an invalid path."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def open_regular(path: Path, max_bytes: int | None = None) -> BinaryIO:
    """Open a regular file for reading, links resolved, without blocking on a FIFO.

    Args:
        path: Path of the file.
        max_bytes: Maximum size of the file; None for no limit.

    Raises:
        NotARegularFile: The path is not a regular file.
        FileTooLarge: The file is larger than ``max_bytes``.
        OSError: The file cannot be opened.
    """
    if not stat.S_ISREG(path.stat().st_mode):  # before opening: opening some devices has effects
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
        NotARegularFile: The path is not a regular file.
        FileTooLarge: The file is larger than ``max_bytes``, or grows beyond it while it is read.
        OSError: The file cannot be read.
    """
    with open_regular(path, max_bytes) as file:
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1)  # reading up to the limit would reserve as much memory
        if len(content) > size:  # the file grows
            content += file.read(max_bytes + 1 - len(content))
    if len(content) > max_bytes:
        raise FileTooLarge(path)
    return content


def append_json_lines(
    path: Path, rows: Iterable[object], max_bytes: int, *, is_synced: bool = False
) -> None:
    """Append rows to a file of JSON lines.

    A missing file is created with its folder. The line of an interrupted write is ended first, so
    that it alone is damaged.

    Args:
        path: The file.
        rows: Values that JSON can express.
        max_bytes: Largest size of the file.
        is_synced: Whether to wait until the rows are on disk.

    Raises:
        NotARegularFile: The path is not a regular file.
        FileTooLarge: The file would be larger than ``max_bytes``.
        OSError: The file cannot be written.
    """
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    room = max_bytes - len(lines)  # JSON is ASCII
    is_torn = os.path.lexists(path) and _is_torn(path, room)
    with path.open("ab") as file:
        file.write((f"\n{lines}" if is_torn else lines).encode())
        if is_synced:
            file.flush()
            os.fsync(file.fileno())


def _is_torn(path: Path, max_bytes: int) -> bool:
    """Return True if the last line was not written to its end."""
    with open_regular(path, max_bytes) as file:
        if file.seek(0, os.SEEK_END) == 0:
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


MAX_BYTES = 64 * MEBIBYTE
MAX_MEMORY_BYTES = 224 * MEBIBYTE
"""Estimated peak during parsing, the input included."""
MAX_VALUES = 400_000
"""Objects, arrays, names and leaves; a run of a thousand steps has about fifty thousand."""
MAX_DEPTH = 64
MAX_INTEGER_BITS = 1024
"""Larger integers overflow a float."""

_VALUE_BYTES = 100
_JSON_SEPARATORS = (b"[", b"{", b",", b":")
_CONTINUATION = bytes(range(0x80, 0xC0))
_BELOW_TWO_BYTES = bytes(range(0xC4))
_BELOW_FOUR_BYTES = bytes(range(0xF0))


class JsonTooLarge(ValueError):  # noqa: N818 - the name states the fault
    """The JSON exceeds the limit on memory or nesting."""


def parse_limited(
    content: bytes,
    max_bytes: int = MAX_BYTES,
    max_values: int = MAX_VALUES,
    *,
    with_constants: bool = False,
) -> Any:
    """Parse JSON as plain Python values.

    Args:
        content: UTF-8; lone surrogates are accepted.
        max_bytes: Maximum size of the input.
        max_values: Maximum number of values and names.
        with_constants: Whether NaN and Infinity, which are not JSON, are parsed as None.

    Raises:
        JsonTooLarge: A limit is exceeded.
        ValueError: The content is not JSON, or contains a number that overflows a float.
    """
    values = sum(map(content.count, _JSON_SEPARATORS)) if len(content) <= max_bytes else 0
    is_large = len(content) > max_bytes or values > max_values
    if is_large or _peak_bytes(content, values) > MAX_MEMORY_BYTES:
        raise JsonTooLarge("too large")
    try:
        text = content.decode("utf-8", "surrogatepass")
        plain = json.loads(text, parse_constant=(lambda _: None) if with_constants else _refuse)
    except RecursionError as error:
        raise JsonTooLarge("nested too deeply") from error
    _check(plain)
    return plain


def _peak_bytes(content: bytes, values: int) -> int:
    """Estimate the total size of the input, its text and the parsed values."""
    characters, width = len(content), 1
    if not content.isascii():
        characters = len(content.translate(None, _CONTINUATION))
        is_wide = bool(content.translate(None, _BELOW_TWO_BYTES + _CONTINUATION))
        width = 2 if is_wide else 1
        width = 4 if content.translate(None, _BELOW_FOUR_BYTES) else width
    return len(content) + 2 * characters * width + _VALUE_BYTES * values


def _check(plain: Any) -> None:
    """Check depth and numbers of all values, level by level.

    Raises:
        JsonTooLarge: The values are nested too deeply.
        ValueError: A number is too large for a float.
    """
    level: list[Any] = [plain]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, float):
                if value in _INFINITE:
                    raise ValueError("a number is too large")
            elif isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError("a number is too large")
        if not inner:
            return
        level = inner
    raise JsonTooLarge("nested too deeply")


_INFINITE = (float("inf"), float("-inf"))


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
