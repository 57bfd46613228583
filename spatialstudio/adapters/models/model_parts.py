"""The parts of a diffusers folder, and which of their weight files are read.

Published folders may hold the same weights several times: whole, and as variants such as
``model.fp16.safetensors``. A variant is read where the whole weights are not there. Parts that
``model_index.json`` calls null are those that a model goes without.
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
LIBRARIES = frozenset({"diffusers", "transformers"})
MAX_PARTS = 64
SAFE_NAME = re.compile(r"[^/\\]+\.safetensors")
"""Of a file in the same folder."""


def read_index(folder: Path) -> dict[str, Any]:
    """Read what a folder says of its parts.

    Raises:
        OSError: It cannot be read, is no regular file, or is too large.
        ValueError, TypeError, RecursionError: It is damaged.
    """
    return read_settings(folder / INDEX_FILE)


def check_parts(folder: Path) -> None:
    """Check all that libraries would read whole in a folder, and that its parts bring no code.

    Raises:
        OSError: A file cannot be read, is no regular file, or is too large.
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

    A tokenizer without its text encoder is of no use.

    Raises:
        ValueError: A name leads out of the folder.
    """
    parts = _parts(index).items()
    named = {name: str(value[-1]) for name, value in parts if value and all(value)}
    return {
        name: class_name
        for name, class_name in named.items()
        if not name.startswith(TOKENIZER) or name.replace(TOKENIZER, TEXT_ENCODER) in named
    }


def parts_left_out(index: Mapping[str, Any]) -> tuple[str, ...]:
    """List the parts that a model goes without."""
    in_use = parts_in_use(index)
    return tuple(name for name in _parts(index) if name not in in_use)


def variant_of(folder: Path, parts: Iterable[str]) -> str | None:
    """Return the variant that is read; None where all parts have their whole weights.

    Args:
        folder: Of the model.
        parts: Names of those in use.
    """
    return _variant(_weights(folder, parts))


def weight_files(folder: Path, parts: Iterable[str]) -> tuple[Path, ...]:
    """List the weights that are read, in order.

    Args:
        folder: Of the model.
        parts: Names of those in use.
    """
    weights = _weights(folder, parts)
    variant = _variant(weights) or ""
    return tuple(file for kept in weights for file in kept.get(variant) or kept.get("", ()))


def refuse_stray_shards(folder: Path, parts: Iterable[str]) -> None:
    """Refuse lists of shards that lead to pickles, or out of their folder.

    Args:
        folder: Of the model.
        parts: Names of those in use.

    Raises:
        OSError: A list cannot be read.
        ValueError, LookupError, TypeError, RecursionError: It is damaged or refused.
    """
    for part in parts:
        for file in (folder / part).glob("*.safetensors.index*.json"):
            shards = set(read_settings(file)["weight_map"].values())
            if not all(map(SAFE_NAME.fullmatch, shards)):
                raise ValueError(file)


def _weights(folder: Path, parts: Iterable[str]) -> list[dict[str, Sequence[Path]]]:
    """List the weight files of each part by variant, the parts in alphabetical order."""
    return [_by_variant((folder / part).glob("*.safetensors")) for part in sorted(parts)]


def _variant(weights: Iterable[Mapping[str, Sequence[Path]]]) -> str | None:
    return next((min(kept) for kept in weights if kept and "" not in kept), None)


def _by_variant(files: Iterable[Path]) -> dict[str, Sequence[Path]]:
    """Sort weight files by variant, which is the middle of their names; empty for whole weights."""
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
