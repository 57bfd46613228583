"""Words that others wrote, made safe where they would act: in terminals, tables and pages.

A prompt, a tag, a file name or what a server says may hold escape sequences, signs that turn the
direction of writing, or the beginning of a formula.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")
"""What makes a spreadsheet take a cell for a formula, in full width as well."""
TEXT_MARK = "'"
"""Makes a spreadsheet take a cell for text."""
CONTROLS = frozenset({"Cc", "Zl", "Zp"})
INVISIBLE = frozenset(
    chr(code)
    for first, last in (
        *((0x061C, 0x061C), (0x180E, 0x180E), (0x200B, 0x200B), (0x200E, 0x200F)),
        *((0x202A, 0x202E), (0x2060, 0x206F), (0xFEFF, 0xFEFF), (0xFFF9, 0xFFFB)),
        *((0x1D173, 0x1D17A), (0xE0000, 0xE007F)),
    )
    for code in range(first, last + 1)
)
"""Signs that change the direction of writing or hide what is there; joiners of letters are none."""


def is_acting(character: str) -> bool:
    """Say whether a character acts on a terminal or page instead of being shown."""
    return unicodedata.category(character) in CONTROLS or character in INVISIBLE


def shown(text: str, *, keep: str = "") -> str:
    r"""Write characters that act as their escapes, as in "\x1b"; others stay.

    Args:
        text: Of others.
        keep: Characters that may act all the same, such as the line breaks of a table.
    """
    if text.isprintable():
        return text
    return "".join(
        _escape(character) if is_acting(character) and character not in keep else character
        for character in text
    )


def table_text(
    rows: Iterable[Sequence[object]],
    *,
    delimiter: str = ",",
    line_end: str = "\r\n",
    number_format: str = "",
) -> str:
    """Write a table whose texts no spreadsheet takes for formulas; the first row is the heading.

    Args:
        rows: Of texts and numbers; a None is an empty cell.
        delimiter: Between cells.
        line_end: Of each row.
        number_format: Of numbers that are not whole, as in ``format``.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([_cell(value, number_format) for value in row] for row in rows)
    return text.getvalue()


def _cell(value: object, number_format: str) -> object:
    if isinstance(value, float):
        return format(value, number_format)
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(FORMULA_STARTS)
    return f"{TEXT_MARK}{value}" if is_formula else value


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
