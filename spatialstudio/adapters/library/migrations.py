"""Brings libraries of earlier versions up to date, one dated step after the other.

What was done stands in ``.library.json``. A step keeps what it takes away in ``.backup/``; it is
whole or was never begun, and doing it twice does no harm.
"""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.stores.json_text import json_bytes, parse_json
from spatialstudio.adapters.stores.run_files import RunFiles
from spatialstudio.adapters.stores.run_folder import is_run_folder, load_run_folder
from spatialstudio.domain.errors import StoreError, StudioError

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
    path = root / STATE
    try:
        plain = parse_json(path.read_bytes(), path.name) if path.exists() else {}
    except (OSError, StoreError):
        plain = {}
    names = plain.get("migrations") if isinstance(plain, dict) else None
    return tuple(map(str, names)) if isinstance(names, list) else ()


def _folders_to_files(root: Path, backup: Path) -> None:
    """Store every run of version 1, which was a folder, as files of today."""
    for folder in sorted(path for path in root.iterdir() if is_run_folder(path)):
        try:
            record, events = load_run_folder(folder)
        except StudioError:
            continue  # a damaged run stays as it is, where its owner can find it
        month = root / f"{record.created:%Y}" / f"{record.created:%m}"
        if not any(month.glob(f"{record.id}.png")):
            RunFiles().save(record, events, month)
        backup.mkdir(parents=True, exist_ok=True)
        shutil.move(folder, backup / folder.name)


MIGRATIONS: Mapping[str, Callable[[Path, Path], None]] = {
    "2026-11-20-folders-to-files": _folders_to_files,
}
