"""Components of a diffusers folder and selection of their weight files.

Published folders may hold the same weights several times: complete, and as variants such as
``model.fp16.safetensors``. A variant is read if there are no complete weights. Components that are
null in ``model_index.json`` are left out of the model.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.adapters.models.model_settings import (
    CustomCode,
    ImplausibleSettings,
    check_folder,
    read_settings,
)

INDEX_FILE = "model_index.json"
TOKENIZER, TEXT_ENCODER = "tokenizer", "text_encoder"
SHARD = re.compile(r"-\d+-of-\d+")
SHARD_OF = re.compile(r"-\d+-of-(\d+)")
CONFIG_FILE = "config.json"
WEIGHT_PATTERNS = ("*.safetensors", "*.bin", "*.ckpt", "*.pt")
LIBRARIES = frozenset({"diffusers", "transformers"})
MAX_PARTS = 64
SAFE_NAME = re.compile(r"[^/\\]+\.safetensors")
"""Name of a file in the same folder."""


def read_index(folder: Path) -> dict[str, Any]:
    """Read the ``model_index.json`` of a folder.

    Raises:
        OSError: It cannot be read, is not a regular file, or is too large.
        ValueError, TypeError, RecursionError: It is damaged.
    """
    return read_settings(folder / INDEX_FILE)


def check_parts(folder: Path) -> None:
    """Check all files of a folder that libraries read whole, and that its parts contain no code.

    Raises:
        OSError: A file cannot be read, is not a regular file, or is too large.
        ValueError, TypeError, RecursionError: A file is damaged, implausible, or asks to run code.
    """
    index = read_index(folder)
    for name in parts_in_use(index):
        part = folder / name
        library = str(index[name][0])
        if library not in LIBRARIES and (part / f"{library}.py").exists():
            raise CustomCode
        if part.is_dir():
            check_folder(part)


def parts_in_use(index: Mapping[str, Any]) -> dict[str, str]:
    """Map the name of each part, which is also its folder's, to its class.

    A tokenizer without its text encoder is skipped.

    Raises:
        ValueError: A name points outside the folder.
    """
    parts = _parts(index).items()
    named = {name: str(value[-1]) for name, value in parts if value and all(value)}
    return {
        name: class_name
        for name, class_name in named.items()
        if not name.startswith(TOKENIZER) or name.replace(TOKENIZER, TEXT_ENCODER) in named
    }


def is_partial(folder: Path) -> bool:
    """Return True if an interrupted download has left out a part or weights of a model.

    Args:
        folder: A diffusers folder; another one is partial if links in it lead nowhere.
    """
    if any(path.is_symlink() and not path.exists() for path in folder.rglob("*")):
        return True
    if not (folder / INDEX_FILE).exists():
        return _lacks_weights(folder)
    try:
        parts = parts_in_use(read_index(folder))
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return False  # damaged
    return any(
        not (folder / part).is_dir()
        or (not part.startswith(TOKENIZER) and _lacks_weights(folder / part))
        for part in parts
    )


def _lacks_weights(part: Path) -> bool:
    """Return True for a model without weights, or with only some of its shards."""
    if not (part / CONFIG_FILE).exists():
        return False  # a scheduler or an image processor
    names = {file.name for pattern in WEIGHT_PATTERNS for file in part.glob(pattern)}
    totals = {
        (name[: found.start()], found.group(1))
        for name in names
        if (found := SHARD_OF.search(name))
    }
    counts = {stem: int(total) for stem, total in totals}
    is_cut = any(
        sum(name.startswith(stem) and bool(SHARD_OF.search(name)) for name in names) < total
        for stem, total in counts.items()
    )
    return is_cut or not names


def parts_left_out(index: Mapping[str, Any]) -> tuple[str, ...]:
    """List the parts that a model leaves out."""
    in_use = parts_in_use(index)
    return tuple(name for name in _parts(index) if name not in in_use)


def variant_of(folder: Path, parts: Iterable[str]) -> str | None:
    """Return the variant to read; None if all parts have complete weights.

    Args:
        folder: The model folder.
        parts: Names of the parts in use.
    """
    return _variant(_weights(folder, parts))


def weight_files(folder: Path, parts: Iterable[str]) -> tuple[Path, ...]:
    """List the weight files to read, in order.

    Args:
        folder: The model folder.
        parts: Names of the parts in use.
    """
    weights = _weights(folder, parts)
    variant = _variant(weights) or ""
    return tuple(file for kept in weights for file in kept.get(variant) or kept.get("", ()))


def refuse_stray_shards(folder: Path, parts: Iterable[str]) -> None:
    """Reject shard indexes that refer to pickles, or to files outside their folder.

    Args:
        folder: The model folder.
        parts: Names of the parts in use.

    Raises:
        OSError: An index cannot be read.
        ValueError, LookupError, TypeError, RecursionError: It is damaged or rejected.
    """
    for part in parts:
        for file in (folder / part).glob("*.safetensors.index*.json"):
            shards = set(read_settings(file)["weight_map"].values())
            if not all(map(SAFE_NAME.fullmatch, shards)):
                raise ValueError(file)


def _weights(folder: Path, parts: Iterable[str]) -> list[dict[str, Sequence[Path]]]:
    """List the weight files of each part by variant, with parts in alphabetical order."""
    return [_by_variant((folder / part).glob("*.safetensors")) for part in sorted(parts)]


def _variant(weights: Iterable[Mapping[str, Sequence[Path]]]) -> str | None:
    return next((min(kept) for kept in weights if kept and "" not in kept), None)


def _by_variant(files: Iterable[Path]) -> dict[str, Sequence[Path]]:
    """Group weight files by variant, the middle of their names; empty for complete weights."""
    kept: dict[str, list[Path]] = {}
    for file in sorted(files):
        _, *variant, _ = SHARD.sub("", file.name).split(".")
        kept.setdefault(".".join(variant), []).append(file)
    return dict(kept)


def _parts(index: Mapping[str, Any]) -> dict[str, list[Any]]:
    parts = {name: value for name, value in index.items() if isinstance(value, list)}
    if not all(name.isidentifier() for name in parts):
        raise ValueError(list(parts))
    if len(parts) > MAX_PARTS:
        raise ImplausibleSettings(INDEX_FILE)
    return parts
