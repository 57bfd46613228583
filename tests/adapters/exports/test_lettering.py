"""Texts are broken and cut so that they fit; nothing of a wrapped one is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.adapters.exports.lettering import (
    ELLIPSIS,
    elided,
    width_of,
    wrap_lines,
)

SIZE = 10.0
WIDTH = 60.0
TEXTS = st.text(st.sampled_from("abc de\nf猫。🐈"), max_size=200)


@given(TEXTS)
def test_lines_fit_and_hold_every_letter(text):
    lines = wrap_lines(text, WIDTH, SIZE)
    assert all(width_of(line, SIZE) <= WIDTH for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())


@given(TEXTS)
def test_elided_text_fits_and_is_complete_if_there_is_room(text):
    short = elided(text, WIDTH, SIZE)
    assert width_of(short, SIZE) <= WIDTH
    assert (short == text) == (width_of(text, SIZE) <= WIDTH)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a red cat", ["a red cat"]),
        ("a red cat left of it", ["a red cat", "left of it"]),
        ("abcdefghijklmno", ["abcdefghijk", "lmno"]),
        ("cat 猫猫猫猫 x", ["cat 猫猫猫", "猫 x"]),
    ],
)
def test_lines_break_between_words(text, lines):
    assert wrap_lines(text, WIDTH, SIZE) == lines


def test_cut_text_ends_with_an_ellipsis():
    assert elided("abcdefghijklmno", WIDTH, SIZE) == f"abcdefghij{ELLIPSIS}"
