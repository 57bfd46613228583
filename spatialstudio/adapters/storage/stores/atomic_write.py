"""Atomic write of all files of a run to a folder: all of them, or none.

All files are written under hidden names and flushed to disk. Renaming the picture is the commit. An
interruption before it leaves hidden files, which ``recover`` deletes; an interruption after it
leaves files that ``recover`` only has to rename.
"""

import os
import time
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path

from spatialstudio.adapters.durable_files import (
    is_draft,
    sync_folder,
    write_synced,
)
from spatialstudio.domain.safe_files import is_regular

PICTURE_ENDING = ".png"
TRACE_ENDING = ".strace"
SIDECAR_ENDING = ".json"
COMPANION_ENDINGS = (TRACE_ENDING, SIDECAR_ENDING)
ENDINGS = (PICTURE_ENDING, *COMPANION_ENDINGS)

STALE_S = 3600
"""Age beyond which a hidden file belongs to no running program, seconds."""

_PART = ".part"


def write_run_files(folder: Path, name: str, files: Mapping[str, bytes]) -> Path:
    """Write the files of a run under the first free name like ``name``.

    Args:
        folder: Target folder; it exists.
        name: File name without extension.
        files: Extension to content, the picture included.

    Returns:
        The picture's file, once all files are on disk.

    Raises:
        OSError: The folder cannot be written or is full; then nothing is left behind.
    """
    for free in chain([name], (f"{name}_{number}" for number in count(2))):
        parts = {ending: _hidden(folder, free, ending) for ending in files}
        if not _reserve(parts[PICTURE_ENDING], folder, free):
            continue
        try:
            for ending, content in files.items():
                if ending != PICTURE_ENDING:
                    write_synced(parts[ending], content)
            _fill(parts[PICTURE_ENDING], files[PICTURE_ENDING])
            sync_folder(folder)
            picture = folder / f"{free}{PICTURE_ENDING}"
            parts[PICTURE_ENDING].rename(picture)
        except OSError:
            for part in parts.values():
                part.unlink(missing_ok=True)
            raise
        finish(folder, free)
        sync_folder(folder)
        return picture
    raise AssertionError("There is always a free number.")


def recover(folder: Path) -> None:
    """Complete or roll back interrupted writes in a folder.

    Hidden files with names of other programs stay.
    """
    for part in folder.glob(f".*{_PART}"):
        name, dot, ending = part.name.removeprefix(".").removesuffix(_PART).rpartition(".")
        if f"{dot}{ending}" in COMPANION_ENDINGS and is_regular(folder / f"{name}{PICTURE_ENDING}"):
            finish(folder, name)
        elif (f"{dot}{ending}" in ENDINGS or is_draft(part.name)) and is_stale(part):
            part.unlink(missing_ok=True)


def finish(folder: Path, name: str) -> None:
    """Rename the companion files of an existing picture."""
    for ending in COMPANION_ENDINGS:
        part, final = _hidden(folder, name, ending), folder / f"{name}{ending}"
        try:
            if final.exists():
                part.unlink(missing_ok=True)
            elif is_regular(part):
                part.rename(final)
        except FileNotFoundError:  # renamed concurrently by another program
            continue


def _reserve(part: Path, folder: Path, name: str) -> bool:
    """Reserve a name against other programs; the order of the two checks prevents a race."""
    try:
        part.touch(exist_ok=False)
    except FileExistsError:
        return False
    if any((folder / f"{name}{ending}").exists() for ending in ENDINGS):
        part.unlink()
        return False
    return True


def _fill(part: Path, content: bytes) -> None:
    with part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _hidden(folder: Path, name: str, ending: str) -> Path:
    return folder / f".{name}{ending}{_PART}"


def is_stale(part: Path) -> bool:
    """Return True if a hidden file was left by a program that no longer runs."""
    try:
        return time.time() - part.lstat().st_mtime > STALE_S
    except FileNotFoundError:
        return False
