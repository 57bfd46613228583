"""Characters in the text of a PDF file."""

import re
import zlib
from contextlib import suppress


def pdf_characters(pdf: bytes) -> set[str]:
    """Return the characters for which the fonts of a file of Qt have glyphs."""
    found = set[int]()
    for table in re.findall(rb"beginbfrange(.*?)endbfrange", pdf, re.DOTALL):
        for first, last, codes in re.findall(rb"<(\w+)> <(\w+)> (\[.*?\]|<\w+>)", table):
            begin, *others = (int(code, 16) for code in re.findall(rb"\w+", codes))
            count = int(last, 16) - int(first, 16) + 1
            found.update((begin, *others) if others else range(begin, begin + count))
    return set(map(chr, found))


def figure_text(pdf: bytes) -> str:
    """Return the text of an exported figure in one font, an item per line."""
    streams = re.findall(rb"stream\n(.*?)\nendstream", pdf, re.DOTALL)
    table = next(each for each in streams if b"beginbfchar" in each)
    pairs = re.findall(rb"<(\w{4})> <(\w+)>\n", table.partition(b"beginbfchar")[2])
    characters = {int(code, 16): chr(int(character, 16)) for code, character in pairs}
    items = []
    for stream in streams:
        with suppress(zlib.error):
            for shown in re.findall(
                rb"\(((?:\\.|[^\\)])*)\) Tj", zlib.decompress(stream), re.DOTALL
            ):
                codes = re.sub(rb"\\(.)", _unescaped, shown, flags=re.DOTALL)
                places = range(0, len(codes), 2)
                items.append("".join(characters[int.from_bytes(codes[n : n + 2])] for n in places))
    return "\n".join(items)


def _unescaped(found: re.Match[bytes]) -> bytes:
    return {b"r": b"\r", b"n": b"\n"}.get(found[1], found[1])
