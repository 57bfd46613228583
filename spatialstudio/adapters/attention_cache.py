"""The cache of recorded layers on disk: one folder per run, one NumPy file per layer."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np

from spatialstudio.domain.attention import MOST_CACHE_BYTES, AttentionCacheUse, AttentionFile

LONGEST_HEADER_BYTES = 4096
_CHUNK_BYTES = 1024**2


def cache_use(root: Path) -> AttentionCacheUse:
    """Return the size of the cache.

    Args:
        root: The cache; may be missing.
    """
    runs = _runs(root)
    return AttentionCacheUse(
        size_bytes=sum(map(_size_of, runs)), limit_bytes=MOST_CACHE_BYTES, runs=len(runs)
    )


def make_room(root: Path, needed_bytes: int, most_bytes: int = MOST_CACHE_BYTES) -> int:
    """Remove the oldest runs until a new one fits.

    Args:
        root: The cache; may be missing.
        needed_bytes: Size of the new run.
        most_bytes: Limit on the total size of all runs.

    Returns:
        The number of removed runs.
    """
    room, removed = most_bytes - needed_bytes, 0
    for folder in sorted(_runs(root), key=lambda each: each.stat().st_mtime, reverse=True):
        room -= _size_of(folder)
        if room < 0:
            shutil.rmtree(folder, ignore_errors=True)
            removed += 1
    return removed


@contextmanager
def written_run(root: Path, name: str) -> Iterator[Callable[[str, IO[bytes]], None]]:
    """Yield a function that writes a layer's file of a run; the run appears when the block ends.

    Args:
        root: The cache; created if missing.
        name: Name of the run's folder, which does not exist.

    Raises:
        OSError: The cache cannot be written; then nothing has changed.
    """
    staging = root / f".{name}.{os.getpid()}.part"
    staging.mkdir(parents=True)

    def write(file_name: str, source: IO[bytes]) -> None:
        with (staging / file_name).open("xb") as target:
            shutil.copyfileobj(source, target, _CHUNK_BYTES)

    try:
        yield write
        staging.rename(root / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def holds_layer(start: bytes, size_bytes: int, file: AttentionFile) -> bool:
    """Return True if a .npy file has the shape and number type of a layer.

    Args:
        start: Its first bytes, up to ``LONGEST_HEADER_BYTES``.
        size_bytes: Its size.
        file: The layer.
    """
    source = BytesIO(start)
    try:
        version = np.lib.format.read_magic(source)
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(source)
    except (ValueError, SyntaxError, RecursionError, TypeError, MemoryError):
        return False
    is_same = (version, shape, dtype.str) == ((1, 0), file.shape, np.dtype(file.dtype).str)
    return is_same and not is_fortran and size_bytes == source.tell() + file.size_bytes


def _runs(root: Path) -> list[Path]:
    return [folder for folder in root.glob("[!.]*") if folder.is_dir() and not folder.is_symlink()]


def _size_of(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.npy"))
