import numpy as np
import pytest

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.application.evaluate.evaluate_image import JudgeSet
from tests.performance.judge_counts_colours import (
    PAINTS,
    coloured_case,
    count_row,
    counted_case,
    judged_by_truth,
    lines_of,
    scene_of,
    srgb_of,
)
from tests.performance.rendered_cases import MODELS


@pytest.mark.parametrize("colour", ["red", "blue", "brown", "white"])
def test_a_repainted_sticker_has_its_colour(colour):
    case = coloured_case(np.random.default_rng(3), colour)
    outcomes = {
        wanted: judged_by_truth(case, scene_of(case.number, colour=wanted)).outcome.value
        for wanted in PAINTS
    }
    assert {wanted for wanted, outcome in outcomes.items() if outcome == "PASS"} == {colour}


def test_touching_stickers_are_counted_and_shown_with_intervals():
    judges = JudgeSet(detector=StickerSegmenter(MODELS / "sticker-segmenter"))
    rng = np.random.default_rng(1)
    row = count_row(lambda: counted_case(rng, 2, "touching"), 2, 2, judges)
    assert row.total() == 4
    assert row["two", True, "PASS"] + row["three", False, "FAIL"] >= 3
    assert "right" in next(lines_of("two", row))


def test_srgb_is_the_inverse_of_lab():
    grey = srgb_of(np.array([[53.585, 0.0, 0.0]]))
    assert grey == pytest.approx(np.full((1, 3), 0.5), abs=0.002)
