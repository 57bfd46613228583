import pytest

from spatialstudio.adapters.stickers.vocabulary import object_number
from spatialstudio.domain.relation import ABOVE, LEFT_OF
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE
from tests.performance.judge_rendered_scenes import (
    answer_of,
    judged,
    painted_case,
    sticker_judges,
)

NUMBERS = object_number("cat"), object_number("car")


@pytest.fixture(scope="module")
def judges():
    """The shipped models."""
    return sticker_judges()


@pytest.mark.parametrize("relation_type", [LEFT_OF, ABOVE], ids=lambda kind: kind.id)
@pytest.mark.parametrize(
    ("offset", "answer"),
    [(-0.5, "PASS"), (-0.2, "PASS"), (0, "near_boundary"), (0.2, "FAIL"), (0.5, "FAIL")],
)
def test_a_painted_scene_is_judged_by_its_truth(judges, relation_type, offset, answer):
    case = painted_case(relation_type, NUMBERS, offset)
    evaluation = judged(case, judges, REPRODUCE)
    assert answer_of(evaluation) == answer
    assert evaluation.verdicts[0].measurement.delta == pytest.approx(case.delta, abs=0.03)
    assert evaluation.verdicts[0].measurement.pse == pytest.approx(case.pse, abs=0.06)


@pytest.mark.parametrize("settings", [REPRODUCE, RECOMMENDED], ids=lambda known: known.preset)
def test_a_twin_on_the_other_side_makes_ambiguous(judges, settings):
    case = painted_case(LEFT_OF, NUMBERS, -0.4, with_twin=True)
    assert answer_of(judged(case, judges, settings)) == "ambiguous"
