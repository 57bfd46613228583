"""Looks through a library's folders: which runs are there, and what their files tell."""

import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from spatialstudio.adapters.library.index import IndexedRun
from spatialstudio.adapters.library.trash import Thrown
from spatialstudio.adapters.metadata.reader import settings_in
from spatialstudio.adapters.stores.arrival import PICTURE_ENDING, SIDECAR_ENDING, TRACE_ENDING
from spatialstudio.adapters.stores.run_folder import load_run_folder, run_folder_of
from spatialstudio.adapters.stores.run_summary import summarise
from spatialstudio.adapters.stores.sidecar import Sidecar, read_listing
from spatialstudio.adapters.stores.verify_run import proven_repetition, read_record
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.library import Marks, RunSummary
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.record import RunId


def folders_in(root: Path) -> Iterator[Path]:
    """Yield a library's folder and all below it; hidden ones are left out."""
    yield root
    try:
        inner = sorted(e.path for e in os.scandir(root) if e.is_dir(follow_symlinks=False))
    except OSError:
        return
    for path in inner:
        if not Path(path).name.startswith("."):
            yield from folders_in(Path(path))


def runs_in(folder: Path, root: Path) -> dict[str, str]:
    """Return the runs right in a folder: the picture's path in the library, and its stamp.

    The stamp changes when picture or sidecar do. Files whose names are no text are left out, as no
    index can name them.
    """
    found: dict[str, str] = {}
    seen: dict[str, os.stat_result] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.name.endswith(_ENDINGS):
                    seen[entry.name] = entry.stat()
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
    """Return how many pictures right in a folder are left out as their names are no text."""
    try:
        names = os.listdir(folder)  # noqa: PTH208 - names alone
    except OSError:
        return 0
    return sum(name.endswith(PICTURE_ENDING) and not _is_text(name) for name in names)


def read_run(picture: Path, path: str, stamp: str, thrown: Thrown | None = None) -> IndexedRun:
    """Read what the index needs of a run, from the best of its files that is there.

    Args:
        picture: The file.
        path: Of the picture in the library.
        stamp: As ``runs_in`` told.
        thrown: Where it was and since when it is in the trash; None for a run that is not there.
    """
    sidecar = _sidecar(picture)
    name = thrown.was.stem if thrown else picture.stem
    return IndexedRun(
        path=path,
        stamp=stamp,
        summary=replace(sidecar.summary, id=RunId(name)),
        marks=sidecar.marks,
        repetition=proven_repetition(picture, sidecar.repetition),
        deleted=thrown.deleted if thrown else None,
    )


_ENDINGS = (PICTURE_ENDING, SIDECAR_ENDING)


def _is_text(path: str) -> bool:
    """Say whether a path is text: bytes that are none become halves of characters."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def _mark(stat: os.stat_result) -> str:
    return f"{stat.st_mtime_ns:x}.{stat.st_size:x}"


def _sidecar(picture: Path) -> Sidecar:
    """Read the sidecar, else the trace, else the picture itself."""
    path = picture.with_suffix(SIDECAR_ENDING)
    try:
        return read_listing(path.read_bytes(), path.name)
    except (OSError, StudioError):
        pass
    try:
        if old := run_folder_of(picture):
            record, _ = load_run_folder(old)
            return Sidecar(summary=summarise(record, record.evaluation, (0, 0)), marks=Marks())
        if picture.with_suffix(TRACE_ENDING).is_file():
            return Sidecar(summary=summarise(read_record(picture), None, (0, 0)), marks=Marks())
    except StudioError:
        pass
    return Sidecar(summary=_by_picture(picture), marks=Marks())


def _by_picture(picture: Path) -> RunSummary:
    """Tell of a picture without its other files what it tells itself."""
    try:
        told = settings_in(picture.read_bytes())
        modified = picture.stat().st_mtime
    except OSError:
        told, modified = None, 0.0
    told = told or PictureSettings(dialect="")
    return RunSummary(
        id=RunId(picture.stem),
        request_id=RequestId(""),
        created=datetime.fromtimestamp(modified, UTC),
        prompt=told.prompt,
        model_id=told.model,
        seed=told.seed or 0,
        steps=told.steps or 0,
        method_id=told.method,
        strength=told.strength or 0.0,
        width=told.width or 0,
        height=told.height or 0,
        device="",
    )
