"""Migrations of libraries from earlier versions, as a sequence of dated steps.

Completed steps are listed in ``.library.json``. A step moves what it replaces to ``.backup/``, and
is atomic and idempotent. Links are not followed: a step reads, writes and moves only inside the
library.
"""

import logging
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.storage.stores.json_codec import json_bytes, read_json
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.adapters.storage.stores.run_folder import is_run_folder, load_run_folder
from spatialstudio.domain.errors import StoreError, StudioError
from spatialstudio.domain.safe_files import is_inside

log = logging.getLogger(__name__)

STATE = ".library.json"
BACKUP = ".backup"


def migrate(root: Path) -> tuple[str, ...]:
    """Run the steps that a library lacks; return their names.

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
    """Convert every run of version 1, stored as a folder, to the current files.

    A damaged run stays in place for its owner, and so does one whose files would lie outside the
    library. If one run cannot be written, the others are still converted.

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
        log.info("A version 1 run was not migrated: %s", error.message)
        return
    month = root / f"{record.created:%Y}" / f"{record.created:%m}"
    if not (is_inside(month, root) and is_inside(backup, root)):
        log.info("A version 1 run was not migrated: a symbolic link points outside the library.")
        return
    with explained_writing(month):
        if not (month / f"{record.id}.png").exists():
            RunFiles().save(record, events, month)
        backup.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, backup / folder.name)


MIGRATIONS: Mapping[str, Callable[[Path, Path], None]] = {
    "2026-11-20-folders-to-files": _folders_to_files,
}
