"""Model folders of other programs: ComfyUI and AUTOMATIC1111.

ComfyUI lists its folders in ``extra_model_paths.yaml``: sections of kinds of models, each with
folders relative to the ``base_path`` of its section.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.models.model_parts import INDEX_FILE
from spatialstudio.domain.safe_files import MEBIBYTE, is_folder, is_regular, read_regular

SETTINGS_FILE = "model_folders.json"
PATHS_FILE = "extra_model_paths.yaml"
CHECKPOINT_FOLDERS = ("models/checkpoints", "checkpoints", "models/Stable-diffusion")
"""Where ComfyUI and AUTOMATIC1111 keep checkpoints, relative to their main folder."""

CHECKPOINTS = "checkpoints"
MAX_FOLDERS = 64
MAX_LEVELS = 3
MAX_SEARCHED = 512


def stored_folders(settings: Path | None) -> tuple[Path, ...]:
    """Return the checkpoint folders that the user has added; missing ones are left out."""
    if settings is None:
        return ()
    with suppress(OSError, ValueError, TypeError, RecursionError):
        names = json.loads(read_regular(settings / SETTINGS_FILE, MEBIBYTE))
        folders = (Path(name) for name in names[:MAX_FOLDERS] if isinstance(name, str))
        return tuple(each for each in folders if each.is_absolute() and is_folder(each))
    return ()


def searched_folders(settings: Path | None) -> tuple[Path, ...]:
    """Return the added checkpoint folders, and the folders in them that hold checkpoints."""
    found: dict[Path, None] = {}
    for root in stored_folders(settings):
        found |= dict.fromkeys(_with_subfolders(root, MAX_LEVELS))
    return tuple(found)[:MAX_SEARCHED]


def _with_subfolders(folder: Path, levels: int) -> Iterator[Path]:
    """Yield a folder and its folders, except those of models and of hidden names."""
    yield folder
    if levels == 0:
        return
    with suppress(OSError):
        for each in sorted(folder.iterdir()):
            is_model = is_regular(each / INDEX_FILE)
            if is_folder(each) and not is_model and not each.name.startswith("."):
                yield from _with_subfolders(each, levels - 1)


def store_folders(settings: Path, folders: tuple[Path, ...]) -> None:
    """Store the checkpoint folders of other programs.

    Raises:
        StoreError: The settings folder cannot be written.
    """
    with explained_writing(settings):
        settings.mkdir(parents=True, exist_ok=True)
    names = [str(each) for each in folders]
    write_whole(settings / SETTINGS_FILE, json.dumps(names, indent=1).encode())


def checkpoint_folders(place: Path) -> tuple[Path, ...]:
    """Return the checkpoint folders of a program, without duplicates.

    Args:
        place: Its main folder, its models folder, or an ``extra_model_paths.yaml``.

    Raises:
        OSError: The file cannot be read.
        ValueError: The file is not YAML of this form.
    """
    found = list(_listed_in(place) if is_regular(place) else _folders_of(place))
    unique = {folder.resolve(): folder for folder in found if is_folder(folder)}
    return tuple(unique)[:MAX_FOLDERS]


def _folders_of(place: Path) -> Iterator[Path]:
    yield from (place / name for name in CHECKPOINT_FOLDERS)
    yield place / "Stable-diffusion"
    if is_regular(place / PATHS_FILE):
        yield from _listed_in(place / PATHS_FILE)
    if any(is_regular(file) for file in place.glob("*.safetensors")):
        yield place


def _listed_in(file: Path) -> Iterator[Path]:
    from spatialstudio.adapters.safe_yaml import parse_yaml  # slow to import

    try:
        sections = parse_yaml(read_regular(file, MEBIBYTE).decode("utf-8-sig"))
    except RecursionError as error:
        raise ValueError(file) from error
    if not isinstance(sections, Mapping):
        raise ValueError(file)  # noqa: TRY004 - the content is invalid, not an argument
    for section in sections.values():
        if isinstance(section, Mapping):
            yield from _folders_in(section, file.parent)


def _folders_in(section: Mapping[str, Any], home: Path) -> Iterator[Path]:
    base = home / _expanded(str(section.get("base_path") or "."))
    for line in str(section.get(CHECKPOINTS) or "").splitlines():
        if line.strip():
            yield base / _expanded(line.strip())


def _expanded(path: str) -> Path:
    """Expand environment variables and "~", as ComfyUI does; an unknown user's home stays."""
    return Path(os.path.expanduser(os.path.expandvars(path)))  # noqa: PTH111 - raises no error
