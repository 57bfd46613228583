"""Values out of other programs' JSON and text: of the wanted kind, or not told."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.safe_files import MEBIBYTE
from spatialstudio.domain.safe_json import parse_limited

LARGEST_NUMBER = 2**64
LARGEST_JSON_BYTES = 4 * MEBIBYTE
MOST_VALUES = 200_000
"""Of one text of JSON; a large graph of ComfyUI has ten thousand."""
LONGEST_NUMBER = 40
"""Characters; longer texts are no numbers that anybody wrote."""


@frozen(eq=False)
class Dialect:
    """How a program writes its settings into pictures.

    Attributes:
        order: Its place in the row of dialects; the first that understands a picture is believed,
            so the surest come first.
        read: Returns the settings, given a picture's texts by name; None when they are not in this
            form.
    """

    order: int
    read: Callable[[Mapping[str, str]], PictureSettings | None]


def parse_json_text(text: str) -> Any:
    """Return the values of a text of JSON; None when it is none, or too large or deep."""
    try:
        content = text.encode("utf-8", "surrogatepass")
        return parse_limited(content, LARGEST_JSON_BYTES, MOST_VALUES, with_constants=True)
    except ValueError:
        return None


def parse_object(text: str) -> Mapping[str, Any]:
    """Return the JSON object in a text; an empty one when there is none."""
    value = parse_json_text(text) if text.lstrip().startswith("{") else None
    return value if isinstance(value, dict) else {}


def parse_text(value: object) -> str:
    """Return a text as it is, and nothing of anything else."""
    return value if isinstance(value, str) else ""


def parse_int(value: object) -> int | None:
    """Return a whole number, also from a text or from a float without fraction."""
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
    """Return all that is told beside the known names, in words."""
    return {
        str(name): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in values.items()
        if name not in known and value is not None
    }


def _is_digits(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()
