import struct

import pytest

from spatialstudio.adapters.backends.sentence_pieces import read_pieces
from tests.adapters.backends.tiny_tokenizers import pieces_message

MANY = tuple((f"▁word{number}" * 20, -float(number)) for number in range(300))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "spiece.model"


def test_pieces_and_scores_come_in_order_whatever_else_is_told(file):
    file.write_bytes(pieces_message(MANY))
    assert read_pieces(file).pieces == MANY


def test_the_map_of_characters_is_found_where_there_is_one(file):
    file.write_bytes(pieces_message(MANY[:2], character_map=b"\x00\x80\xff"))
    assert read_pieces(file).character_map == b"\x00\x80\xff"
    file.write_bytes(pieces_message(MANY[:2], character_map=b""))
    assert read_pieces(file).character_map is None


def test_fields_of_eight_bytes_are_passed_over(file):
    unknown = bytes([9 << 3 | 1]) + struct.pack("<d", 1.0)
    file.write_bytes(unknown + pieces_message(MANY[:2]))
    assert read_pieces(file).pieces == MANY[:2]


@pytest.mark.parametrize("cut", [1, 5, 25])
def test_a_file_that_was_cut_short_is_told(file, cut):
    file.write_bytes(pieces_message(MANY)[:-cut])
    with pytest.raises(ValueError, match="cut short"):
        read_pieces(file)


def test_a_file_of_another_kind_is_told(file):
    file.write_bytes(b"\x0f{}")
    with pytest.raises(ValueError, match="no field is of kind 7"):
        read_pieces(file)
