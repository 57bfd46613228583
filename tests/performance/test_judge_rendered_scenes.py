import pytest

from spatialstudio.adapters.stickers.vocabulary import object_number
from spatialstudio.domain.scene import (
    ABOVE,
    FAR_FROM,
    LEFT_OF,
    NEAR,
)
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE
from tests.performance.judge_rendered_scenes import (
    answer_of,
    judged,
    sticker_judges,
    true_verdict,
)
from tests.performance.rendered_cases import (
    between_case,
    distance_case,
    ground_case,
    painted_case,
)

NUMBERS = [object_number(name) for name in ("cat", "car", "apple")]
PAIR = NUMBERS[:2]


@pytest.fixture(scope="module")
def judges():
    """The shipped models."""
    return sticker_judges()


def answer(case, judges, settings=REPRODUCE):
    (verdict,) = judged(case, judges, settings).verdicts
    return answer_of(verdict)


@pytest.mark.parametrize("relation_type", [LEFT_OF, ABOVE], ids=lambda kind: kind.id)
@pytest.mark.parametrize(
    ("offset", "expected"),
    [(-0.5, "PASS"), (-0.2, "PASS"), (0, "near_boundary"), (0.2, "FAIL"), (0.5, "FAIL")],
)
def test_a_painted_scene_is_judged_by_its_truth(judges, relation_type, offset, expected):
    case = painted_case(relation_type, PAIR, offset)
    (verdict,) = judged(case, judges, REPRODUCE).verdicts
    true = true_verdict(case, REPRODUCE)
    assert answer_of(verdict) == answer_of(true) == expected
    assert verdict.measurement.delta == pytest.approx(true.measurement.delta, abs=0.03)
    assert verdict.measurement.pse == pytest.approx(true.measurement.pse, abs=0.06)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        (ground_case(PAIR, 0.6), "PASS"),
        (ground_case(PAIR, -0.6), "FAIL"),
        (distance_case(NEAR, PAIR, 0.3), "PASS"),
        (distance_case(NEAR, PAIR, 0.53), "near_boundary"),
        (distance_case(FAR_FROM, PAIR, 0.73), "PASS"),
        (between_case(NUMBERS, 0.5), "PASS"),
        (between_case(NUMBERS, 0.3), "near_boundary"),
        (between_case(NUMBERS, 0.14), "FAIL"),
    ],
    ids=["in front", "behind", "near", "neither", "far", "between", "at a flank", "outside"],
)
def test_other_relations_are_judged_by_their_truth_too(judges, case, expected):
    assert answer_of(true_verdict(case, RECOMMENDED)) == expected
    assert answer(case, judges, RECOMMENDED) == expected


@pytest.mark.parametrize("settings", [REPRODUCE, RECOMMENDED], ids=lambda known: known.preset)
def test_a_twin_on_the_other_side_makes_ambiguous(judges, settings):
    case = painted_case(LEFT_OF, PAIR, -0.25, with_twin=True)
    assert answer(case, judges, settings) == "ambiguous"
