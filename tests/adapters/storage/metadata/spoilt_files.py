"""Spoils files the way disks, networks and mischief do."""

import struct
import zlib

PNG_START = b"\x89PNG\r\n\x1a\n"


def spoilt(content, chance):
    """Return a damaged copy; in PNG files, half of the time with checksums mended after it."""
    damage = chance.choice([flip, cut, insert, double, blank])
    changed = damage(bytearray(content), chance)
    is_mended = content.startswith(PNG_START) and chance.random() < 0.5
    return mended(changed) if is_mended else bytes(changed)


def flip(content, chance):
    for _ in range(chance.choice([1, 3, 20, 200])):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return content


def cut(content, chance):
    return content[: chance.randrange(len(content))]


def insert(content, chance):
    place = chance.randrange(len(content))
    content[place:place] = chance.randbytes(chance.choice([1, 8, 500]))
    return content


def double(content, chance):
    start, stop = sorted(chance.randrange(len(content)) for _ in range(2))
    return content[:stop] + content[start:]


def blank(content, chance):
    start, stop = sorted(chance.randrange(len(content)) for _ in range(2))
    content[start:stop] = bytes(stop - start)
    return content


def mended(content):
    """Give every chunk of a PNG file the checksum that it should have."""
    place, parts = len(PNG_START), [bytes(content[: len(PNG_START)])]
    while place + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, place)
        if place + 12 + length > len(content):
            break
        body = bytes(content[place + 4 : place + 8 + length])
        parts += [struct.pack(">I", length), body, struct.pack(">I", zlib.crc32(body))]
        place += 12 + length
    return b"".join([*parts, bytes(content[place:])])
