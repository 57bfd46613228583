"""Type-checked values from the JSON and text of other programs; wrong types count as missing.

Guidance settings from before methods had options are converted.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited

LARGEST_NUMBER = 2**64
LARGEST_JSON_BYTES = 4 * MEBIBYTE
MOST_VALUES = 200_000
"""Limit per JSON text; a large ComfyUI graph has ten thousand."""
LONGEST_NUMBER = 40
"""Limit in characters for texts parsed as numbers."""


@frozen(eq=False)
class Dialect:
    """How a program writes its settings into pictures.

    Attributes:
        order: Priority among the dialects; the first that recognises a picture wins, so the most
            specific ones come first.
        read: Returns the settings from a picture's texts by name; None if they are in another
            dialect.
    """

    order: int
    read: Callable[[Mapping[str, str]], PictureSettings | None]


def parse_json_text(text: str) -> Any:
    """Parse a JSON text; None if it is invalid, too large or too deep."""
    try:
        content = text.encode("utf-8", "surrogatepass")
        return parse_limited(content, LARGEST_JSON_BYTES, MOST_VALUES, with_constants=True)
    except ValueError:
        return None


def parse_object(text: str) -> Mapping[str, Any]:
    """Parse a JSON object; an empty one if the text holds none."""
    value = parse_json_text(text) if text.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else {}


def parse_text(value: object) -> str:
    """Return a text unchanged, and an empty one for any other type."""
    return value if isinstance(value, str) else ""


def parse_int(value: object) -> int | None:
    """Return an integer, also from a text or from a float without fraction."""
    number = parse_float(value)
    if number is None or not number.is_integer():
        return None
    return int(value) if isinstance(value, int | str) and _is_digits(str(value)) else int(number)


def parse_float(value: object) -> float | None:
    """Return a finite number, also from a text."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    if isinstance(value, str) and len(value) > LONGEST_NUMBER:
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and abs(number) <= LARGEST_NUMBER else None


def parse_extras(values: Mapping[str, Any], known: frozenset[str]) -> dict[str, str]:
    """Return all values with unknown names, as text."""
    return {
        str(name): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in values.items()
        if name not in known and value is not None
    }


def _is_digits(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


_FIELDS = {"paper_loss": {"psg", "psg-presence"}, "presence_weight": {"psg-presence"}}
"""Maps a field to the methods whose option it is now; it had no effect on the others."""


def with_options(guidance: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the JSON object of guidance settings with the older fields moved to its options.

    Args:
        guidance: As read from a file; returned unchanged if it has options.
    """
    if "options" in guidance or not guidance.keys() & _FIELDS:
        return guidance
    method_id = str(guidance.get("method_id"))
    options = {n: guidance[n] for n in _FIELDS if n in guidance and method_id in _FIELDS[n]}
    return {n: value for n, value in guidance.items() if n not in _FIELDS} | {"options": options}
