"""Reader of theme files, the only source of colours."""

import re
import tomllib
from pathlib import Path
from typing import Any

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.palette import (
    HEAT_STOPS,
    MENTION_COLOURS,
    Palette,
)
from spatialstudio.domain.safe_files import MEBIBYTE, read_regular

ROLES = (
    *("surface", "raised", "sunken", "text", "muted", "faint", "line", "hover"),
    *("accent", "on_accent", "good", "bad", "unsure", "warning", "warning_ground", "bad_ground"),
    *(f"mention_{number}" for number in range(1, MENTION_COLOURS + 1)),
)
_COLOUR = re.compile(r"#[0-9a-f]{6}")


def load_theme(path: Path) -> Palette:
    """Read a theme file.

    Raises:
        SettingsError: The file is missing, is not TOML, or lacks a colour.
    """
    try:
        theme = tomllib.loads(read_regular(path, MEBIBYTE).decode("utf-8"))
        return _palette(theme)
    except (OSError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise SettingsError(
            f"The theme {path.name} cannot be read: {error}.",
            hint="Compare it with resources/themes/light.toml.",
        ) from error


def _palette(theme: dict[str, Any]) -> Palette:
    stops = theme["heat_map"]["stops"]
    if len(stops) != HEAT_STOPS:
        raise ValueError(f"the heat map needs {HEAT_STOPS} stops, not {len(stops)}")
    named = theme["colours"] | {f"heat_{number}": stop for number, stop in enumerate(stops, 1)}
    for role in ROLES:
        if role not in named:
            raise ValueError(f"the colour {role} is missing")
    for role, colour in named.items():
        if not _COLOUR.fullmatch(colour):
            raise ValueError(f'{role} is "{colour}", not a colour like "#" and six hex digits')
    return Palette(
        name=theme["name"],
        is_dark=theme["is_dark"],
        colours=named,
        heat_map=theme["heat_map"]["name"],
    )
