"""Scan of a library's folders for runs and their index data."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG

from spatialstudio.adapters.storage.library.index import IndexedRun
from spatialstudio.adapters.storage.library.trash import TrashedRun
from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores.atomic_write import (
    PICTURE_ENDING,
    SIDECAR_ENDING,
    TRACE_ENDING,
)
from spatialstudio.adapters.storage.stores.run_folder import load_run_folder, run_folder_of
from spatialstudio.adapters.storage.stores.sidecar import (
    Sidecar,
    read_listing,
    summarise,
    with_verdicts,
)
from spatialstudio.adapters.storage.stores.verify_run import (
    is_there,
    proven_repetition,
    read_part,
    read_record,
)
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.judge_choice import STICKER_DETECTOR_ID
from spatialstudio.domain.library import Marks, RunId, RunSummary
from spatialstudio.domain.picture_settings import PictureSettings
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
            beside = seen.get(name.removesuffix(PICTURE_ENDING) + SIDECAR_ENDING)
            found[prefix + name] = "-".join(_mark(s) for s in (stat, beside) if s is not None)
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
        is_damaged=kept is None and _is_of_run(picture),
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


def _is_of_run(picture: Path) -> bool:
    """Return True if a picture has the trace or record of a run, damaged or not.

    A file with another ending may belong to another program.
    """
    return is_there(picture.with_suffix(TRACE_ENDING)) or run_folder_of(picture) is not None


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
