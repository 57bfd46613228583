"""Reading of a model's tokenizers in every published file format."""

import gzip
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import transformers

from spatialstudio.adapters.models.model_parts import (
    TOKENIZER,
    parts_in_use,
    read_index,
)
from spatialstudio.adapters.models.model_settings import (
    MAX_TABLE_BYTES,
    check_folder,
    read_settings,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.safe_files import read_regular

PIECES, NORMALIZER = 1, 3
TEXT, SCORE = 1, 2
CHARACTER_MAP = 2
LENGTH = "<I"

NUMBER, LENGTH_FIRST = 0, 2
WIDTHS = {1: 8, 5: 4}
"""Size in bytes of the fixed-width wire types."""

KIND_BITS, KIND_MASK = 3, 0b111
DIGIT_BITS, DIGIT_MASK, MORE_FOLLOWS = 7, 0x7F, 0x80
NUMBER_BYTES = 10
"""Maximum length of a varint, bytes."""

ZERO = bytes(4)


@frozen
class SentencePieces:
    """The vocabulary of a SentencePiece file.

    Attributes:
        pieces: Pieces with their log probabilities, in id order.
        character_map: Character normalisation compiled by SentencePiece; None for no normalisation.
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
        raise ValueError("a number has the wrong size") from error
    if not pieces:
        raise ValueError("the file contains no vocabulary pieces")
    return SentencePieces(pieces=pieces, character_map=character_map)


def _character_map(message: bytes) -> bytes | None:
    """Validate a character map: the length of a trie, the trie, then UTF-8 text."""
    if not message:
        return None
    (length,) = struct.unpack_from(LENGTH, message)
    tree_end = struct.calcsize(LENGTH) + length
    if tree_end > len(message):
        raise ValueError("the file is truncated")
    message[tree_end:].decode()
    return message


def _piece(message: bytes) -> tuple[str, float]:
    fields = dict(_fields(message))
    (score,) = struct.unpack("<f", fields.get(SCORE, ZERO))
    return fields.get(TEXT, b"").decode(), score


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the field numbers and contents of a protobuf message, except varint fields."""
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
            raise ValueError("the file is truncated")
        yield key >> KIND_BITS, message[place:end]
        place = end


def _number(message: bytes, place: int) -> tuple[int, int]:
    """Decode a little-endian base-128 varint; return its value and end position."""
    value = 0
    for count, digit in enumerate(message[place : place + NUMBER_BYTES]):
        value |= (digit & DIGIT_MASK) << (DIGIT_BITS * count)
        if digit < MORE_FOLLOWS:
            return value, place + count + 1
    raise ValueError("the file is truncated, or a number does not terminate")


WHOLE_FILE = "tokenizer.json"
PIECES_FILE = "spiece.model"
FORMS = ((WHOLE_FILE,), ("vocab.json", "merges.txt"))
"""Complete vocabularies other than pieces; without one, transformers would build its own."""

CLIP_MERGES = "clip_merges.txt.gz"
"""CLIP's merges, shared by the shipped configurations and stored next to their folders."""

MAX_MERGES_BYTES = 2**20
BYTES_AS_TEXT = (range(33, 127), range(161, 173), range(174, 324))
"""Characters that stand for the 256 bytes in CLIP's vocabulary: printable Latin-1, then others."""

CONFIG_FILE = "tokenizer_config.json"
LIMIT = "model_max_length"
SPECIAL_TOKENS = ("eos_token", "unk_token", "pad_token")
SENTINELS = 100
"""Default number of T5 sentinels; the denoiser never sees them."""

MOST_SENTINELS = 10_000


def read_tokenizers(folder: Path) -> dict[str, Any]:
    """Read the tokenizers of a diffusers folder; library errors are not translated.

    Returns:
        Folder name to tokenizer.
    """
    parts = parts_in_use(read_index(folder))
    return {
        name: _read(folder / name, class_name)
        for name, class_name in parts.items()
        if name.startswith(TOKENIZER)
    }


def _read(folder: Path, class_name: str) -> Any:
    check_folder(folder)
    pieces = folder / PIECES_FILE
    if pieces.is_file() and not (folder / WHOLE_FILE).is_file():
        return _read_t5(pieces, folder / CONFIG_FILE)
    if not any(all((folder / name).is_file() for name in form) for form in FORMS):
        return _read_shared_clip(folder)
    kind = getattr(transformers, class_name, transformers.AutoTokenizer)
    return kind.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def _read_shared_clip(folder: Path) -> transformers.CLIPTokenizer:
    """Create CLIP's tokenizer from the shared merges, with the settings of a folder.

    The vocabulary is that of Radford et al. 2021, arXiv:2103.00020: the bytes, the bytes at the
    end of a word, the merges in order, and the two special tokens.
    """
    config = read_settings(folder / CONFIG_FILE)
    with gzip.open(folder.parent.parent / CLIP_MERGES) as content:
        lines = content.read(MAX_MERGES_BYTES).decode().splitlines()
    merges: Any = [tuple(line.split()) for line in lines]
    single_bytes = [chr(code) for codes in BYTES_AS_TEXT for code in codes]
    pieces = [
        *single_bytes,
        *(f"{each}</w>" for each in single_bytes),
        *map("".join, merges),
        config["bos_token"],
        config["eos_token"],
    ]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    settings = {name: config[name] for name in (*SPECIAL_TOKENS, LIMIT)}
    return transformers.CLIPTokenizer(
        vocab=vocabulary, merges=merges, bos_token=config["bos_token"], **settings
    )


def _read_t5(file: Path, config_file: Path) -> transformers.T5Tokenizer:
    """Create a T5 tokenizer; its sentinels follow the pieces in reverse order."""
    config = read_settings(config_file) if config_file.is_file() else {}
    sentinels = int(config.get("extra_ids", SENTINELS))
    if not 0 <= sentinels <= MOST_SENTINELS:
        raise ValueError(sentinels)
    pieces = read_pieces(file)
    ends = [(f"<extra_id_{number}>", 0.0) for number in reversed(range(sentinels))]
    special = {name: _text(config[name]) for name in SPECIAL_TOKENS if config.get(name)}
    limit = {LIMIT: config[LIMIT]} if LIMIT in config else {}
    return transformers.T5Tokenizer(
        vocab=[*pieces.pieces, *ends],
        extra_ids=sentinels,
        _spm_precompiled_charsmap=pieces.character_map,
        **special,
        **limit,
    )


def _text(token: str | Mapping[str, Any]) -> str:
    """Return a special token as text; older files store it as a mapping."""
    return token if isinstance(token, str) else str(token["content"])
