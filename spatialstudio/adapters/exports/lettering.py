"""Fits text into figures by the mean width of letters, before anybody knows the font."""

from collections.abc import Iterator
from unicodedata import east_asian_width

LETTER_WIDTH = 0.52
"""Mean width of a letter, of its size."""

WIDE_LETTER = 1.04
"""Width of a letter that fills its square, as Chinese and emoji do."""

ELLIPSIS = "…"


def width_of(text: str, size: float) -> float:
    """Return about how wide a text is, points."""
    return size * sum(WIDE_LETTER if _is_wide(letter) else LETTER_WIDTH for letter in text)


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Break a text into lines that fit a width, points; between words where there are some."""
    lines: list[str] = []
    line = ""
    for piece in _pieces(" ".join(text.split())):
        if line and width_of(f"{line}{piece}", size) > width:
            lines.append(line)
            line = ""
        *full, line = _cut(line + (piece if line else piece.lstrip()), width, size)
        lines += full
    return [*lines, line] if line else lines


def elided(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits a width, points; an ellipsis stands for the rest."""
    if width_of(text, size) <= width:
        return text
    first, *_ = _cut(text, width - width_of(ELLIPSIS, size), size)
    return f"{first.rstrip()}{ELLIPSIS}"


def _is_wide(letter: str) -> bool:
    return east_asian_width(letter) in {"W", "F"}


def _pieces(text: str) -> Iterator[str]:
    """Yield what is not broken: words, each with the space before it, and single wide letters."""
    piece = ""
    for letter in text:
        if piece.strip() and (letter == " " or _is_wide(letter) or _is_wide(piece[-1])):
            yield piece
            piece = ""
        piece += letter
    yield piece


def _cut(text: str, width: float, size: float) -> list[str]:
    """Cut a text between any letters into parts that fit; a letter stands in each at least."""
    parts = [""]
    for letter in text:
        if parts[-1] and width_of(parts[-1] + letter, size) > width:
            parts.append("")
        parts[-1] += letter
    return parts
