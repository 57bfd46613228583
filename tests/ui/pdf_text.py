"""Characters in the text of a PDF file."""

import re


def pdf_characters(pdf: bytes) -> set[str]:
    """Return the characters for which the fonts of a file of Qt have glyphs."""
    found = set[int]()
    for table in re.findall(rb"beginbfrange(.*?)endbfrange", pdf, re.DOTALL):
        for first, last, codes in re.findall(rb"<(\w+)> <(\w+)> (\[.*?\]|<\w+>)", table):
            begin, *others = (int(code, 16) for code in re.findall(rb"\w+", codes))
            count = int(last, 16) - int(first, 16) + 1
            found.update((begin, *others) if others else range(begin, begin + count))
    return set(map(chr, found))
