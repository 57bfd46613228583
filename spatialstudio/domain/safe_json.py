"""Parsing of untrusted JSON with limits on memory, depth and number size.

Memory is estimated from the bytes before parsing: JSON can take a hundred times its size as
objects.
"""

import json
from typing import Any

from spatialstudio.domain.safe_files import MEBIBYTE

MAX_BYTES = 64 * MEBIBYTE
MAX_MEMORY_BYTES = 224 * MEBIBYTE
"""Estimated peak during parsing, the input included."""
MAX_VALUES = 400_000
"""Objects, arrays, names and leaves; a run of a thousand steps has about fifty thousand."""
MAX_DEPTH = 64
MAX_INTEGER_BITS = 1024
"""Larger integers overflow a float."""

_VALUE_BYTES = 100
_SEPARATORS = (b"[", b"{", b",", b":")
_CONTINUATION = bytes(range(0x80, 0xC0))
_BELOW_TWO_BYTES = bytes(range(0xC4))
_BELOW_FOUR_BYTES = bytes(range(0xF0))


class JsonTooLarge(ValueError):  # noqa: N818 - the name states the fault
    """The JSON exceeds the limit on memory or nesting."""


def parse_limited(
    content: bytes,
    max_bytes: int = MAX_BYTES,
    max_values: int = MAX_VALUES,
    *,
    with_constants: bool = False,
) -> Any:
    """Parse JSON as plain Python values.

    Args:
        content: UTF-8; lone surrogates are accepted.
        max_bytes: Maximum size of the input.
        max_values: Maximum number of values and names.
        with_constants: Whether NaN and Infinity, which are not JSON, are parsed as None.

    Raises:
        JsonTooLarge: A limit is exceeded.
        ValueError: The content is not JSON, or contains a number that overflows a float.
    """
    values = sum(map(content.count, _SEPARATORS)) if len(content) <= max_bytes else 0
    is_large = len(content) > max_bytes or values > max_values
    if is_large or _peak_bytes(content, values) > MAX_MEMORY_BYTES:
        raise JsonTooLarge("too large")
    try:
        text = content.decode("utf-8", "surrogatepass")
        plain = json.loads(text, parse_constant=_as_none if with_constants else _refuse)
    except RecursionError as error:
        raise JsonTooLarge("nested too deeply") from error
    _check(plain)
    return plain


def _peak_bytes(content: bytes, values: int) -> int:
    """Estimate the total size of the input, its text and the parsed values."""
    characters, width = len(content), 1
    if not content.isascii():
        characters = len(content.translate(None, _CONTINUATION))
        is_wide = bool(content.translate(None, _BELOW_TWO_BYTES + _CONTINUATION))
        width = 2 if is_wide else 1
        width = 4 if content.translate(None, _BELOW_FOUR_BYTES) else width
    return len(content) + 2 * characters * width + _VALUE_BYTES * values


def _check(plain: Any) -> None:
    """Check depth and numbers of all values, level by level.

    Raises:
        JsonTooLarge: The values are nested too deeply.
        ValueError: A number is too large for a float.
    """
    level: list[Any] = [plain]
    for _ in range(MAX_DEPTH + 1):
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif isinstance(value, float):
                if value in _INFINITE:
                    raise ValueError("a number is too large")
            elif isinstance(value, int) and value.bit_length() > MAX_INTEGER_BITS:
                raise ValueError("a number is too large")
        if not inner:
            return
        level = inner
    raise JsonTooLarge("nested too deeply")


_INFINITE = (float("inf"), float("-inf"))


def _as_none(_name: str) -> None:
    return None


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")
