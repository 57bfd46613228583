"""Labelled pictures are stored, read and scored as they were drawn and typed."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER
from tests.performance import label_pictures
from tests.performance.label_pictures import (
    ON_SHEET,
    SIDE,
    Label,
    compared,
    f1_of,
    labelled,
    large_sheets,
    read_labels,
    read_pictures,
    read_typed,
    write_labels,
    write_pictures,
)

LEAST_F1 = 0.94
"""What the shipped segmenter reached, less what another machine's rounding may cost."""


@pytest.fixture
def golden(tmp_path, monkeypatch):
    monkeypatch.setattr(label_pictures, "LABELLED_FOLDER", tmp_path / "labelled")


@pytest.fixture
def pictures():
    """More than one sheet of plain pictures, each of its own brightness."""
    return [np.full((SIDE, SIDE, 3), 10 * number, dtype=np.uint8) for number in range(23)]


def test_pictures_come_back_in_their_order(golden, pictures):
    write_pictures(pictures)
    again = read_pictures()
    assert len(again) == 2 * ON_SHEET
    assert [picture.mean().round(-1) for picture in again[:23]] == [
        10.0 * number for number in range(23)
    ]


def test_large_sheets_hold_all_pictures(pictures):
    assert len(large_sheets(pictures)) == 2


def test_typed_lines_are_read_by_any_name():
    assert read_typed(["3: kitten, phone", "", "4:"]) == {3: ("cat", "cell phone"), 4: ()}


def test_a_strange_name_is_refused():
    with pytest.raises(SystemExit, match="xylophone"):
        read_typed(["3: xylophone"])


def test_only_what_was_typed_is_labelled(golden, pictures):
    write_pictures(pictures)
    labels = [Label(number=n, prompt="a cat", seed=n, method="none") for n in range(2)]
    write_labels(labelled(labels, {1: ("cat",)}))
    assert [label.visible for label in read_labels()] == [None, ("cat",)]


@pytest.mark.parametrize(
    ("every", "least"), [(5, 0.9), pytest.param(1, LEAST_F1, marks=pytest.mark.slow)]
)
def test_the_segmenter_names_what_a_stranger_names(every, least):
    labels, pictures = read_labels()[::every], read_pictures()
    segmenter = StickerSegmenter(WORLD_FOLDER.parent / StickerSegmenter.id)
    comparisons = [compared(segmenter, label, pictures[label.number]) for label in labels]
    assert f1_of([each.sums for each in comparisons]).value >= least


def test_f1_weighs_what_is_missed_and_what_is_invented():
    assert f1_of([(2, 2, 2)]).value == 1
    assert f1_of([(1, 2, 1), (1, 1, 2)]).value == pytest.approx(2 / 3)
