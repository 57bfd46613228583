import struct

import pytest

from spatialstudio.adapters.diffusion.tokenizers import read_pieces
from tests.adapters.diffusion.tiny_tokenizers import field, pieces_message

MANY = tuple((f"▁word{number}" * 20, -float(number)) for number in range(300))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "spiece.model"


def test_pieces_and_scores_come_in_order_whatever_else_is_told(file):
    file.write_bytes(pieces_message(MANY))
    assert read_pieces(file).pieces == MANY


def test_the_map_of_characters_is_found_where_there_is_one(file):
    tree, text = b"\x00\x80\xff\x00", "e\u0301\0".encode()
    character_map = struct.pack("<I", len(tree)) + tree + text
    file.write_bytes(pieces_message(MANY[:2], character_map=character_map))
    assert read_pieces(file).character_map == character_map
    file.write_bytes(pieces_message(MANY[:2], character_map=b""))
    assert read_pieces(file).character_map is None


def test_fields_of_eight_bytes_are_passed_over(file):
    unknown = bytes([9 << 3 | 1]) + struct.pack("<d", 1.0)
    file.write_bytes(unknown + pieces_message(MANY[:2]))
    assert read_pieces(file).pieces == MANY[:2]


@pytest.mark.parametrize("cut", [1, 5, 25])
def test_a_file_that_was_cut_short_is_told(file, cut):
    file.write_bytes(pieces_message(MANY)[:-cut])
    with pytest.raises(ValueError, match="truncated"):
        read_pieces(file)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        field(1, field(1, b"a") + field(2, b"abc")),
        pieces_message(MANY[:2], character_map=b"abc"),
        pieces_message(MANY[:2], character_map=b"\xff\xff\xff\x7f"),
        pieces_message(MANY[:2], character_map=bytes(4) + b"\xff"),
        b"\x80" * 1_000_000,
    ],
    ids=["nothing", "short score", "short map", "long tree", "map without text", "endless number"],
)
def test_a_damaged_file_is_told(file, content):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"truncated|wrong size|no vocabulary|decode"):
        read_pieces(file)


def test_a_score_that_is_not_told_is_nought_and_of_two_the_last_counts(file):
    told = field(1, b"b") + b"".join(b"\x15" + struct.pack("<f", score) for score in (1, 2))
    file.write_bytes(field(1, field(1, b"a")) + field(1, told))
    assert read_pieces(file).pieces == (("a", 0.0), ("b", 2.0))


def test_a_file_of_another_kind_is_told(file):
    file.write_bytes(b"\x0f{}")
    with pytest.raises(ValueError, match="no field is of kind 7"):
        read_pieces(file)
