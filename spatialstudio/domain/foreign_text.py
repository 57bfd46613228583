"""Escaping of untrusted text for terminals, tables and pages.

A prompt, tag, file name or server response may contain escape sequences, bidirectional control
characters, or the start of a spreadsheet formula.
"""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence

FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20", "\t", "\r", "\n")
"""Prefixes, full-width forms included, that make a spreadsheet treat a cell as a formula."""
TEXT_MARK = "'"
"""Prefix that makes a spreadsheet treat a cell as text."""
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
"""Bidirectional controls and zero-width characters; letter joiners are not included."""


def is_acting(character: str) -> bool:
    """Return True if a character controls a terminal or page instead of being displayed."""
    return unicodedata.category(character) in CONTROLS or character in INVISIBLE


def shown(text: str, *, keep: str = "") -> str:
    r"""Replace control and invisible characters with their escapes, such as "\x1b".

    Args:
        text: Untrusted text.
        keep: Control characters to leave as they are, such as the line breaks of a table.
    """
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if is_acting(character) and character not in keep
        else character
        for character in text
    )


def plain_text(text: str) -> str:
    """Replace control characters by spaces and lone surrogates by question marks.

    The result is valid in XML and PDF.
    """
    kept = "".join(c if c.isprintable() else " " for c in text)
    return kept.encode("utf-8", "replace").decode("utf-8")


def table_text(
    rows: Iterable[Sequence[object]],
    *,
    delimiter: str = ",",
    line_end: str = "\r\n",
    number_format: str = "",
) -> str:
    """Format rows as delimited text in which no spreadsheet reads a text cell as a formula.

    Args:
        rows: Strings and numbers, the header first; None is an empty cell.
        delimiter: Separator between cells.
        line_end: Line terminator.
        number_format: Format specification for floats, as in ``format``.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter=delimiter, lineterminator=line_end)
    writer.writerows([_cell(value, number_format) for value in row] for row in rows)
    return text.getvalue()


def latex_text(text: str) -> str:
    r"""Return a text with the special characters of LaTeX escaped, control characters as spaces.

    Those that "\\" takes as its arguments, "[" and "*", are in braces: a row may begin with them.
    """
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    plain = {character: f"\\{character}" for character in "&%$#_{}"}
    braced = {character: f"{{{character}}}" for character in "[]*"}
    escapes = {**special, **plain, **braced}
    return "".join(escapes.get(character, character) for character in plain_text(text))


def _cell(value: object, number_format: str) -> object:
    if isinstance(value, float):
        return format(value, number_format)
    is_formula = isinstance(value, str) and value.lstrip(" ").startswith(FORMULA_STARTS)
    return f"{TEXT_MARK}{value}" if is_formula else value
