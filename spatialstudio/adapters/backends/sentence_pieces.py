"""Reads the vocabulary out of SentencePiece's files, without its library.

PixArt's tokenizers are published as ``spiece.model`` alone. Such a file is one message of protocol
buffers: ``ModelProto`` in google/sentencepiece, ``src/sentencepiece_model.proto``.
"""

import struct
from collections.abc import Iterator
from pathlib import Path

from spatialstudio.adapters.model_settings import MAX_TABLE_BYTES
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.safe_files import read_regular

PIECES, NORMALIZER = 1, 3
TEXT, SCORE = 1, 2
CHARACTER_MAP = 2
LENGTH = "<I"

NUMBER, LENGTH_FIRST = 0, 2
WIDTHS = {1: 8, 5: 4}
"""Bytes of the kinds of fields that are always of one size."""

KIND_BITS, KIND_MASK = 3, 0b111
DIGIT_BITS, DIGIT_MASK, MORE_FOLLOWS = 7, 0x7F, 0x80
NUMBER_BYTES = 10
"""The most that a whole number takes."""

ZERO = bytes(4)


@frozen
class SentencePieces:
    """The vocabulary of one file.

    Attributes:
        pieces: Each with its score, the logarithm of how likely it is; in order of their numbers.
        character_map: How characters are made plain first, as SentencePiece compiles it; None for
            not at all.
    """

    pieces: tuple[tuple[str, float], ...]
    character_map: bytes | None


def read_pieces(file: Path) -> SentencePieces:
    """Read a vocabulary.

    Raises:
        OSError: The file is missing, no regular file, or too large.
        ValueError: It is damaged.
    """
    fields = list(_fields(read_regular(file, MAX_TABLE_BYTES)))
    normalizer = dict(_fields(b"".join(message for name, message in fields if name == NORMALIZER)))
    try:
        pieces = tuple(_piece(message) for name, message in fields if name == PIECES)
        character_map = _character_map(normalizer.get(CHARACTER_MAP, b""))
    except struct.error as error:
        raise ValueError("a number is of a wrong size") from error
    if not pieces:
        raise ValueError("the file holds no pieces")
    return SentencePieces(pieces=pieces, character_map=character_map)


def _character_map(message: bytes) -> bytes | None:
    """Return a map as it is, which begins with the length of its tree and ends in a text."""
    if not message:
        return None
    (length,) = struct.unpack_from(LENGTH, message)
    tree_end = struct.calcsize(LENGTH) + length
    if tree_end > len(message):
        raise ValueError("the file was cut short")
    message[tree_end:].decode()
    return message


def _piece(message: bytes) -> tuple[str, float]:
    told = dict(_fields(message))
    (score,) = struct.unpack("<f", told.get(SCORE, ZERO))
    return told.get(TEXT, b"").decode(), score


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Take a message apart into the numbers of its fields and what they hold; whole numbers not."""
    place = 0
    while place < len(message):
        key, place = _number(message, place)
        kind = key & KIND_MASK
        if kind == NUMBER:
            _, place = _number(message, place)
            continue
        if kind == LENGTH_FIRST:
            length, place = _number(message, place)
        elif kind in WIDTHS:
            length = WIDTHS[kind]
        else:
            raise ValueError(f"no field is of kind {kind}")
        end = place + length
        if end > len(message):
            raise ValueError("the file was cut short")
        yield key >> KIND_BITS, message[place:end]
        place = end


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Read a whole number, seven bits a byte, the lowest first; and say where it ends."""
    value = 0
    for count, digit in enumerate(message[place : place + NUMBER_BYTES]):
        value |= (digit & DIGIT_MASK) << (DIGIT_BITS * count)
        if digit < MORE_FOLLOWS:
            return value, place + count + 1
    raise ValueError("the file was cut short, or a number has no end")
