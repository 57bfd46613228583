import pytest

from spatialstudio.domain.scene import ABOVE
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    REPRODUCE,
    Outcome,
)
from spatialstudio.science.checker.confidence import agreement_of, stability_of
from spatialstudio.science.checker.measurement import measure_relation
from tests.science.seen_things import perception, relation, seen

SAME = perception(seen("dog", 20, 50), seen("car", 80, 50))
SWAPPED = perception(seen("dog", 80, 50), seen("car", 20, 50))
SHIFTED = perception(seen("dog", 30, 50), seen("car", 80, 50))
LOST = perception(seen("dog", 20, 50))


def measured_relation(picture, relation_type=None):
    claim = relation(relation_type) if relation_type else relation()
    return measure_relation(claim, picture, REPRODUCE)


def stability(*looks, settings=REPRODUCE):
    return stability_of(relation(), measured_relation(SAME), looks, settings)


def test_an_answer_that_never_changes_is_stable():
    assert stability(SAME, SAME) == 1


@pytest.mark.parametrize("look", [LOST, None], ids=["an object is lost", "the detector fails"])
def test_an_object_missed_after_a_perturbation_lowers_stability(look):
    assert stability(look, look) == 0
    assert stability(SAME, look) == 0.75


def test_stability_mixes_equal_answers_with_the_overlap_of_boxes():
    overlap = (1 / 3 + 1) / 2
    assert stability(SHIFTED) == pytest.approx(0.5 + 0.5 * overlap)
    assert stability(SHIFTED, LOST) == pytest.approx(0.25 + 0.5 * overlap)
    assert stability(SWAPPED) == 0


def test_stability_can_count_the_answers_only():
    assert stability(SHIFTED, SHIFTED, LOST, SWAPPED, settings=RECOMMENDED) == 0.5


def test_a_second_detector_with_equal_boxes_agrees():
    assert agreement_of(Outcome.PASS, measured_relation(SAME), measured_relation(SAME)) == 1


def test_a_second_detector_with_swapped_boxes_disagrees():
    assert agreement_of(Outcome.PASS, measured_relation(SAME), measured_relation(SWAPPED)) == 0


def test_a_second_detector_that_misses_an_object_is_ignored():
    assert agreement_of(Outcome.PASS, measured_relation(SAME), measured_relation(LOST)) == 0.5


def test_the_same_side_counts_even_when_the_answer_differs():
    near = perception(seen("dog", 40, 45), seen("car", 40, 50))
    above = perception(seen("dog", 40, 20), seen("car", 40, 50))
    score = agreement_of(
        Outcome.UNDECIDABLE, measured_relation(near, ABOVE), measured_relation(above, ABOVE)
    )
    assert score == pytest.approx(0.25 + 0.25 * 1)
