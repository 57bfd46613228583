"""The catalogue of recommended models, and the selection of a repository's files.

Only safetensors weights and configuration are selected. Of weights that a repository holds in
several formats, one is chosen.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.hub import CatalogueEntry, ModelTask

CATALOGUE = Path("hub", "catalogue.toml")
WEIGHTS = ".safetensors"
SETTINGS_SUFFIXES = frozenset({".json", ".txt", ".model", ".jinja"})
"""Endings of configuration and tokenizer files."""

DIFFUSERS_FILES = ("model_index.json", "*/*.json", "*/*.txt", "*/*.model", "*/*.jinja")
TRANSFORMERS_FILES = ("*.json", "*.txt", "*.model", "*.jinja")
HALF = "fp16"
"""The weight variant preferred in a repository that the catalogue does not name."""

SHARD = re.compile(r"-\d+-of-\d+")


def read_catalogue(resources: Path) -> tuple[CatalogueEntry, ...]:
    """Read the catalogue.

    Raises:
        SettingsError: The file is missing or damaged.
    """
    try:
        tables = tomllib.loads((resources / CATALOGUE).read_text(encoding="utf-8"))
        return tuple(_entry(row, tables["sets"]) for row in tables["model"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise SettingsError(
            "The model catalogue cannot be read.", hint="Install Spatial Studio again."
        ) from error


def _entry(row: Mapping[str, Any], sets: Mapping[str, Sequence[str]]) -> CatalogueEntry:
    values = {**row}
    files = values.pop("files")
    return CatalogueEntry(
        task=ModelTask(values.pop("task")),
        is_gated=values.pop("gated", False),
        files=tuple(sets[files] if isinstance(files, str) else files),
        **values,
    )


def select_diffusers(
    names: Iterable[str], parts: Iterable[str], patterns: Sequence[str] = ()
) -> tuple[str, ...]:
    """Select the files of a diffusers folder.

    Args:
        names: All files of the repository.
        parts: Folders that its ``model_index.json`` uses.
        patterns: Of the catalogue; empty for a repository that it does not name.
    """
    folders = {*parts, "."}
    inside = [name for name in names if str(PurePosixPath(name).parent) in folders]
    wanted = select(inside, patterns or (*DIFFUSERS_FILES, f"*/*{WEIGHTS}"))
    weights: dict[str, dict[str, list[str]]] = {}
    for name in wanted:
        if name.endswith(WEIGHTS):
            by_variant = weights.setdefault(str(PurePosixPath(name).parent), {})
            by_variant.setdefault(variant_of_name(name), []).append(name)
    variant = _variant(weights, prefers_half=not patterns)
    chosen = {name for kept in weights.values() for name in kept.get(variant) or kept.get("") or []}
    return tuple(name for name in wanted if name in chosen or not name.endswith(WEIGHTS))


def select_transformers(names: Iterable[str], patterns: Sequence[str] = ()) -> tuple[str, ...]:
    """Select the files of a transformers model, whose weights lie in the main folder.

    Args:
        names: All files of the repository.
        patterns: Of the catalogue; empty for a repository that it does not name.
    """
    wanted = select(names, patterns or (*TRANSFORMERS_FILES, f"*{WEIGHTS}"))
    weights = [name for name in wanted if name.endswith(WEIGHTS)]
    standard = [name for name in weights if SHARD.sub("", name) == f"model{WEIGHTS}"]
    chosen = [name for name in standard if SHARD.search(name)] or standard or weights
    return tuple(name for name in wanted if name in chosen or not name.endswith(WEIGHTS))


def select(names: Iterable[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return the safe files that match a pattern; ``*`` does not match "/"."""
    return tuple(name for name in names if is_safe_kind(name) and _matches(name, patterns))


def is_safe_kind(name: str) -> bool:
    """Return True for weights and settings that contain no code."""
    suffix = PurePosixPath(name).suffix
    return suffix == WEIGHTS or suffix in SETTINGS_SUFFIXES


def variant_of_name(name: str) -> str:
    """Return the variant in the name of a weight file, "fp16" for example; empty for none."""
    _, *variant, _ = SHARD.sub("", PurePosixPath(name).name).split(".")
    return ".".join(variant)


def _matches(name: str, patterns: Sequence[str]) -> bool:
    depth = name.count("/")
    path = PurePosixPath(name)
    return any(depth == pattern.count("/") and path.match(pattern) for pattern in patterns)


def _variant(weights: Mapping[str, Mapping[str, Sequence[str]]], *, prefers_half: bool) -> str:
    """Choose the variant to download: as the loader does, but half precision if asked for."""
    if prefers_half and weights and all(HALF in kept for kept in weights.values()):
        return HALF
    return next((min(kept) for kept in weights.values() if "" not in kept), "")
