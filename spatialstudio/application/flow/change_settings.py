"""Single settings of the checker or of the DA-score, changed by name."""

from collections.abc import Sequence
from dataclasses import fields, replace
from enum import Enum
from math import isfinite
from typing import Any, TypeVar

from spatialstudio.domain.assertion import DaSettings
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.verdict import CheckerSettings

SettingsT = TypeVar("SettingsT", CheckerSettings, DaSettings)

FIXED = {"preset", "perturbations", "weights"}
ABOVE_ZERO = {"temperature"}
MOST = {CheckerSettings: 1.0, DaSettings: 1000.0}
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def change_settings(settings: SettingsT, changes: Sequence[str]) -> SettingsT:
    """Return settings that differ in some values; their name tells which.

    Args:
        settings: To start from.
        changes: As "margin=0.05", "overlap_bars_vertical=yes" or "temperature=2".

    Raises:
        SettingsError: A setting is not known, or cannot have this value.
    """
    if not changes:
        return settings
    values = dict(_read(settings, change) for change in changes)
    told = ", ".join(f"{name}={_told(value)}" for name, value in values.items())
    return replace(settings, preset=f"{settings.preset}, {told}", **values)


def _read(settings: CheckerSettings | DaSettings, change: str) -> tuple[str, Any]:
    name, _, word = (part.strip() for part in change.partition("="))
    known = [field.name for field in fields(settings) if field.name not in FIXED]
    if name not in known:
        raise SettingsError(
            f'There is no setting "{name}" here.', hint=f"Known are: {', '.join(known)}."
        )
    present = getattr(settings, name)
    value = _value(present, word.lower(), MOST[type(settings)])
    if value is None or (name in ABOVE_ZERO and not value):
        raise SettingsError(
            f'The setting "{name}" cannot be "{word}".', hint=f"It is {_told(present)} now."
        )
    return name, value


def _value(present: object, word: str, most: float) -> object:
    """Read a value of the kind that the setting has now; None when it is none."""
    if isinstance(present, bool):
        return WORDS.get(word)
    if isinstance(present, Enum):
        return next((choice for choice in type(present) if choice.value == word), None)
    try:
        number = float(word)
    except ValueError:
        return None
    return number if isfinite(number) and 0 <= number <= most else None


def _told(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)
