"""Reader of the checker settings of SpatialBench-UC in their original format (YAML)."""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite
from pathlib import Path
from reprlib import repr as short_repr
from typing import Any

import yaml  # type: ignore[import-untyped]

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.safe_files import read_regular
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings, Perturbation, PerturbationKind

CONFIG_FILE = "checker_config.yaml"
LARGEST_BYTES = 64 * 1024
MOST_LEVELS = 16

SHARES = {
    "margin": ("geometry", "margin"),
    "detection_score": ("thresholds", "detection_score"),
    "min_area_fraction": ("thresholds", "min_area_fraction"),
    "ambiguity_delta": ("thresholds", "ambiguity_delta"),
    "max_overlap_iou": ("thresholds", "max_overlap_iou"),
    "min_stability": ("stability", "consistency_threshold"),
    "geometry_slope": ("confidence", "geom_slope"),
}
"""Our settings in [0, 1], with their keys in the file."""

CHANGED_PRESET = f"{REPRODUCE.preset}, other thresholds"
"""Preset name of settings that differ from the published ones."""

WEIGHTS = ("detection", "geometry", "stability", "agreement")
AMOUNTS = ("factor", "sigma", "scale")
"""Keys for the amount of a perturbation, depending on its kind."""


def read_checker_config(path: Path) -> CheckerSettings:
    """Read a settings file; missing values default to the published ones.

    Raises:
        SettingsError: It cannot be read or holds an invalid value.
    """
    try:
        tables = _parsed(read_regular(path, LARGEST_BYTES).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise SettingsError(
            f'The settings file "{path.name}" cannot be read.',
            hint="It must be a checker configuration of SpatialBench-UC, in YAML.",
        ) from error
    if not isinstance(tables, Mapping):
        raise _unusable("the file", tables)
    shares: dict[str, Any] = {
        name: _share(_at(tables, *place), ".".join(place))
        for name, place in SHARES.items()
        if _at(tables, *place) is not None
    }
    settings = replace(
        REPRODUCE, weights=_weights(tables), perturbations=_perturbations(tables), **shares
    )
    return settings if settings == REPRODUCE else replace(settings, preset=CHANGED_PRESET)


def _parsed(text: str) -> Any:
    """Parse YAML without aliases, which a few lines can expand a billion times.

    Raises:
        YAMLError: It is not YAML.
        ValueError: It has aliases, is nested deeply, or holds an invalid number or date.
    """
    depth = 0
    for event in yaml.parse(text, yaml.SafeLoader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.AliasEvent) or depth > MOST_LEVELS:
            raise ValueError("aliases, or nested too deeply")
    return yaml.safe_load(text)


def _at(tables: Mapping[str, Any], *names: str) -> Any:
    found: Any = tables
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _weights(tables: Mapping[str, Any]) -> tuple[float, float, float, float]:
    table = _at(tables, "confidence", "weights")
    if table is None:
        return REPRODUCE.weights
    detection, geometry, stability, agreement = (
        _share(_at(tables, "confidence", "weights", name), f"confidence.weights.{name}")
        for name in WEIGHTS
    )
    return detection, geometry, stability, agreement


def _perturbations(tables: Mapping[str, Any]) -> tuple[Perturbation, ...]:
    if _at(tables, "stability", "enabled") is False:
        return ()
    listed = _at(tables, "stability", "perturbations")
    if listed is None:
        return REPRODUCE.perturbations
    if not isinstance(listed, list):
        raise _unusable("stability.perturbations", listed)
    return tuple(_perturbation(entry) for entry in listed)


def _perturbation(entry: Any) -> Perturbation:
    if isinstance(entry, Mapping):
        amounts = [entry[name] for name in AMOUNTS if name in entry]
        kinds = {kind.value: kind for kind in PerturbationKind}
        kind = kinds.get(str(entry.get("type")))
        if kind and len(amounts) == 1 and _is_number(amounts[0]) and amounts[0] > 0:
            return Perturbation(kind=kind, amount=float(amounts[0]))
    raise _unusable("stability.perturbations", entry)


def _share(value: Any, name: str) -> float:
    if not _is_number(value) or not 0 <= value <= 1:
        raise _unusable(name, value)
    return float(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _unusable(name: str, value: Any) -> SettingsError:
    return SettingsError(
        f'The setting "{name}" cannot be {short_repr(value)}.',
        hint="Shares lie between 0 and 1; see the release's checker_config.yaml.",
    )
