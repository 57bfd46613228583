"""Brings libraries of earlier versions up to date, one dated step after the other.

What was done stands in ``.library.json``. A step keeps what it takes away in ``.backup/``; it is
whole or was never begun, and doing it twice does no harm. Links are not followed: a step reads,
writes and moves inside the library only.
"""

import logging
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.storage.stores.json_text import json_bytes, read_json
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.run_folder import is_run_folder, load_run_folder
from spatialstudio.domain.errors import StoreError, StudioError
from spatialstudio.domain.safe_files import is_inside

log = logging.getLogger(__name__)

STATE = ".library.json"
BACKUP = ".backup"


def migrate(root: Path) -> tuple[str, ...]:
    """Do the steps that a library lacks; return their names.

    Raises:
        StoreError: The library cannot be written.
    """
    done = _done(root)
    steps = [name for name in MIGRATIONS if name not in done]
    for name in steps:
        with explained_writing(root):
            MIGRATIONS[name](root, root / BACKUP / name)
        done = (*done, name)
        write_whole(root / STATE, json_bytes({"migrations": list(done)}))
    return tuple(steps)


def _done(root: Path) -> tuple[str, ...]:
    try:
        plain = read_json(root / STATE)
    except (OSError, StoreError):
        return ()
    names = plain.get("migrations") if isinstance(plain, dict) else None
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _folders_to_files(root: Path, backup: Path) -> None:
    """Store every run of version 1, which was a folder, as files of today.

    A damaged run stays as it is, where its owner can find it, and so does one that could only be
    stored outside of the library. When one cannot be written, the others are tried first.

    Raises:
        StoreError: A run cannot be written or moved.
    """
    unwritten: StoreError | None = None
    for folder in sorted(path for path in root.iterdir() if not path.is_symlink()):
        if is_run_folder(folder):
            try:
                _rewrite(folder, root, backup)
            except StoreError as error:
                unwritten = error
    if unwritten is not None:
        raise unwritten


def _rewrite(folder: Path, root: Path, backup: Path) -> None:
    try:
        record, events = load_run_folder(folder)
    except StudioError as error:
        log.info("A run of version 1 stays as it is: %s", error.message)
        return
    month = root / f"{record.created:%Y}" / f"{record.created:%m}"
    if not (is_inside(month, root) and is_inside(backup, root)):
        log.info("A run of version 1 stays as it is: a link leads out of the library.")
        return
    with explained_writing(month):
        if not (month / f"{record.id}.png").exists():
            RunFiles().save(record, events, month)
        backup.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, backup / folder.name)


MIGRATIONS: Mapping[str, Callable[[Path, Path], None]] = {
    "2026-11-20-folders-to-files": _folders_to_files,
}
