"""Labelled pictures are stored, read and scored as they were drawn and typed."""

import numpy as np
import pytest

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER
from tests.performance.label_pictures import (
    CALIBRATION_FOLDER,
    LABELLED_FOLDER,
    ON_SHEET,
    SIDE,
    Label,
    best_cut,
    best_scores,
    compared,
    f1_of,
    labelled,
    labelled_pictures,
    large_sheets,
    read_labels,
    read_pictures,
    read_typed,
    write_labels,
    write_pictures,
)

CUT = 0.82
"""The least score that does best on other pictures."""

LEAST_F1 = 0.95
"""What the shipped segmenter reached, less what another machine's rounding may cost."""


@pytest.fixture
def pictures():
    """More than one sheet of plain pictures, each of its own brightness."""
    return [np.full((SIDE, SIDE, 3), 10 * number, dtype=np.uint8) for number in range(23)]


def test_pictures_keep_their_order(tmp_path, pictures):
    write_pictures(pictures, tmp_path)
    again = read_pictures(tmp_path)
    assert len(again) == 2 * ON_SHEET
    assert [picture.mean().round(-1) for picture in again[:23]] == [
        10.0 * number for number in range(23)
    ]


def test_large_sheets_hold_all_pictures(pictures):
    assert len(large_sheets(pictures)) == 2


def test_typed_lines_are_read_by_any_name():
    assert read_typed(["3: kitten, phone", "", "4:"]) == {3: ("cat", "cell phone"), 4: ()}


def test_an_unknown_name_is_rejected():
    with pytest.raises(SystemExit, match="xylophone"):
        read_typed(["3: xylophone"])


def test_only_typed_labels_are_stored(tmp_path, pictures):
    write_pictures(pictures, tmp_path)
    labels = [Label(number=n, prompt="a cat", seed=n, method="none") for n in range(2)]
    write_labels(labelled(labels, {1: ("cat",)}), tmp_path)
    assert [label.visible for label in read_labels(tmp_path)] == [None, ("cat",)]


@pytest.mark.parametrize(
    ("every", "least"), [(5, 0.9), pytest.param(1, LEAST_F1, marks=pytest.mark.slow)]
)
def test_the_segmenter_agrees_with_the_labels(every, least):
    segmenter = StickerSegmenter(WORLD_FOLDER.parent / StickerSegmenter.id)
    some = list(labelled_pictures(LABELLED_FOLDER))[::every]
    answers = [(label, best_scores(segmenter, picture)) for label, picture in some]
    comparisons = [compared(label, best, CUT) for label, best in answers]
    assert f1_of([each.sums for each in comparisons]).value >= least


@pytest.mark.slow
def test_the_threshold_is_the_best_one_on_other_pictures():
    assert best_cut(CALIBRATION_FOLDER) == CUT


def test_only_detections_above_the_threshold_count():
    label = Label(number=0, prompt="", seed=0, method="none", visible=("cat", "dog"))
    comparison = compared(label, {"cat": 0.8, "dog": 0.7, "bus": 0.6}, 0.7)
    assert (comparison.missed, comparison.invented) == (frozenset(), frozenset())
    assert compared(label, {"bus": 0.8}, 0.7).sums == (0, 1, 2)


def test_f1_counts_missed_and_false_detections():
    assert f1_of([(2, 2, 2)]).value == 1
    assert f1_of([(1, 2, 1), (1, 1, 2)]).value == pytest.approx(2 / 3)
