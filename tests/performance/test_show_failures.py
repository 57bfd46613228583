"""The sheet of failures asks for the pictures that its lines name."""

import numpy as np
import pytest

from tests.performance.label_pictures import LABELLED_FOLDER, SIDE, Label, read_labels
from tests.performance.show_failures import (
    CELL,
    COLUMNS,
    LINES_FILE,
    SHEET_FILE,
    failure_sheet,
    read_captions,
    wanted_again,
)

MOST_BYTES = 150_000


def test_pictures_are_requested_in_the_order_of_the_lines():
    labels = [Label(number=n, prompt=f"prompt {n}", seed=n, method="psg") for n in range(3)]
    captions = read_captions(["2: a cat: without its tail", "", "0:two dogs"])
    assert list(captions.values()) == ["a cat: without its tail", "two dogs"]
    assert [wanted.prompt.text for wanted in wanted_again(labels, captions)] == [
        "prompt 2",
        "prompt 0",
    ]


def test_an_unlabelled_picture_is_rejected():
    with pytest.raises(KeyError):
        wanted_again([], {5: "nothing"})


def test_every_picture_has_its_place():
    bright = np.full((SIDE, SIDE, 3), 40, dtype=np.uint8)
    sheet = failure_sheet([bright] * (COLUMNS + 1), ["one"] * (COLUMNS + 1))
    assert sheet.size == (COLUMNS * CELL[0], 2 * CELL[1])
    below_first = (CELL[0] // 2, CELL[1] + SIDE // 2)
    assert sheet.convert("RGB").getpixel(below_first) == (40, 40, 40)


def test_the_card_shows_the_listed_failures():
    captions = read_captions(LINES_FILE.read_text(encoding="utf-8").splitlines())
    assert len(wanted_again(read_labels(LABELLED_FOLDER), captions)) == len(captions)
    assert SHEET_FILE.stat().st_size < MOST_BYTES
    assert "failures.png" in SHEET_FILE.with_name("README.md").read_text(encoding="utf-8")
