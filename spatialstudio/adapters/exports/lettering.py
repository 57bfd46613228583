"""Text fitting for figures by mean letter width, independent of the font."""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from unicodedata import east_asian_width

from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.figure_template import INTER

LETTER_WIDTH = 0.52
"""Mean width of a letter, relative to the font size."""

WIDE_LETTER = 1.04
"""Width of a full-width letter, such as Chinese characters and emoji."""

ELLIPSIS = "…"


def width_of(text: str, size: float) -> float:
    """Return the approximate width of a text, points."""
    return size * sum(WIDE_LETTER if _is_wide(letter) else LETTER_WIDTH for letter in text)


def wrap_lines(text: str, width: float, size: float) -> list[str]:
    """Wrap a text at a width in points, between words if possible."""
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
    """Truncate a text to a width in points, with an ellipsis."""
    if width_of(text, size) <= width:
        return text
    first, *_ = _cut(text, width - width_of(ELLIPSIS, size), size)
    return f"{first.rstrip()}{ELLIPSIS}"


def _is_wide(letter: str) -> bool:
    return east_asian_width(letter) in {"W", "F"}


def _pieces(text: str) -> Iterator[str]:
    """Yield unbreakable units: words with their leading space, and single wide letters."""
    piece = ""
    for letter in text:
        if piece.strip() and (letter == " " or _is_wide(letter) or _is_wide(piece[-1])):
            yield piece
            piece = ""
        piece += letter
    yield piece


def _cut(text: str, width: float, size: float) -> list[str]:
    """Split a text between any letters into parts that fit, at least one letter each."""
    parts = [""]
    for letter in text:
        if parts[-1] and width_of(parts[-1] + letter, size) > width:
            parts.append("")
        parts[-1] += letter
    return parts


KNOWN = (
    "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/noto-cjk/NotoSansCJK-Regular.ttc",
    "/usr/share/fonts/truetype/wqy/wqy-microhei.ttc",
    "/usr/share/fonts/truetype/droid/DroidSansFallbackFull.ttf",
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/System/Library/Fonts/Hiragino Sans GB.ttc",
    "/System/Library/Fonts/Supplemental/Arial Unicode.ttf",
    "C:/Windows/Fonts/msyh.ttc",
    "C:/Windows/Fonts/seguisym.ttf",
)
"""Common locations of system fonts with many scripts."""

OWN, OWN_BOLD = "Inter-Regular.ttf", "Inter-SemiBold.ttf"
STAND_IN = "□"
"""Replacement for a letter that no font has."""

_LATIN = 0x250
"""All fonts cover the code points below this one."""


FAMILIES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Times New Roman": (
        ("C:/Windows/Fonts/times.ttf", "C:/Windows/Fonts/timesbd.ttf"),
        (
            "/System/Library/Fonts/Supplemental/Times New Roman.ttf",
            "/System/Library/Fonts/Supplemental/Times New Roman Bold.ttf",
        ),
    ),
    "Arial": (
        ("C:/Windows/Fonts/arial.ttf", "C:/Windows/Fonts/arialbd.ttf"),
        (
            "/System/Library/Fonts/Supplemental/Arial.ttf",
            "/System/Library/Fonts/Supplemental/Arial Bold.ttf",
        ),
    ),
    **{
        f"{family} {style}": tuple(
            (f"{folder}/{stem}-{regular}.ttf", f"{folder}/{stem}-Bold.ttf")
            for folder in (f"/usr/share/fonts/truetype/{place}", f"/usr/share/fonts/{place}")
        )
        for family, style, stem, regular, place in (
            ("Liberation", "Serif", "LiberationSerif", "Regular", "liberation"),
            ("Liberation", "Sans", "LiberationSans", "Regular", "liberation"),
        )
    },
    "DejaVu Serif": (
        (
            "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf",
            "/usr/share/fonts/truetype/dejavu/DejaVuSerif-Bold.ttf",
        ),
    ),
    "DejaVu Sans": (
        (
            "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
            "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
        ),
    ),
}
"""Common locations of system fonts for figures: regular and bold, TrueType."""


def font_families() -> tuple[str, ...]:
    """Return the fonts for figures on this machine, the shipped one first."""
    return (INTER, *(name for name in FAMILIES if _installed(name)))


def font_files(family: str, fonts: Path) -> tuple[Path, Path]:
    """Return the files of the regular and the bold font of a family.

    Args:
        family: One of ``font_families``.
        fonts: The folder of the studio's fonts.

    Raises:
        ExportError: There is no such font on this machine.
    """
    if family == INTER:
        return fonts / OWN, fonts / OWN_BOLD
    if found := _installed(family):
        return found
    raise ExportError(
        f'The font "{family}" is not available.', hint=f"Available: {', '.join(font_families())}."
    )


def _installed(family: str) -> tuple[Path, Path] | None:
    pairs = ((Path(one), Path(other)) for one, other in FAMILIES.get(family, ()))
    return next((pair for pair in pairs if pair[0].is_file() and pair[1].is_file()), None)


def fallback_fonts(text: str, fonts: Path, family: str = INTER) -> tuple[Path, ...]:
    """Return system fonts for letters that a font lacks; usually none.

    Args:
        text: All text to write.
        fonts: The folder of the studio's fonts.
        family: One of ``font_families``.
    """
    return tuple(_with_any_of(_beyond(text, fonts, family)))


def missing_letters(text: str, fonts: Path, family: str = INTER) -> str:
    """Return the letters of a text that neither the font nor a system font has.

    Arguments as for ``fallback_fonts``.
    """
    beyond = _beyond(text, fonts, family)
    known = frozenset[int]().union(*map(letters_of, _with_any_of(beyond)))
    return "".join(map(chr, sorted(beyond - known)))


def with_stand_ins(text: str, fonts: Path, family: str = INTER) -> str:
    """Replace letters that no font has."""
    missing = missing_letters(text, fonts, family)
    return text.translate({ord(letter): STAND_IN for letter in missing})


def _beyond(text: str, fonts: Path, family: str) -> frozenset[int]:
    """Return the letters that a font lacks."""
    beyond = {ord(letter) for letter in text if ord(letter) >= _LATIN and letter.isprintable()}
    return frozenset(beyond - letters_of(font_files(family, fonts)[0])) if beyond else frozenset()


def _with_any_of(letters: frozenset[int]) -> Iterator[Path]:
    left = set(letters)
    for name in KNOWN:
        path = Path(name)
        if left and path.exists() and (found := left & letters_of(path)):
            left -= found
            yield path


@cache
def letters_of(path: Path) -> frozenset[int]:
    """Return the code points of a font file; empty if it cannot be read."""
    library = import_module("fontTools.ttLib")
    try:
        with library.TTFont(path, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap())
    except (OSError, library.TTLibError):
        return frozenset()
