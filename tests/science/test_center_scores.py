import numpy as np
import pytest

from spatialstudio.domain.perception import DepthMap
from spatialstudio.domain.relation import (
    ABOVE_LEFT_OF,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.center_scores import CenterScores, center_scores
from tests.science.seen_things import SIDE, perception, relation, seen

PLACED = seen("dog", 20, 50), seen("car", 80, 50), seen("cup", 5, 50)
SLOPE = DepthMap(values=np.tile(np.arange(SIDE, dtype=np.float32), (SIDE, 1)), estimator_id="x")


def asked(kind, *detections, mended=False, depth=None):
    picture = perception(*detections, depth=depth)
    return center_scores(relation(kind), picture, REPRODUCE, mended=mended)


def scores(visor, compbench, hrs, geneval):
    known = None if compbench is None else pytest.approx(compbench)
    return CenterScores(visor=visor, compbench=known, hrs=hrs, geneval=geneval)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (LEFT_OF, scores(True, 0.95, True, True)),
        (RIGHT_OF, scores(False, 0, False, False)),
        (ABOVE_LEFT_OF, scores(False, None, False, False)),
        (NEAR, scores(None, 0.95, None, None)),
        (FAR_FROM, scores(None, None, None, None)),
        (BETWEEN, scores(None, None, True, None)),
        (IN_FRONT_OF, scores(None, None, None, None)),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_each_benchmark_answers_for_the_relations_it_knows(kind, expected):
    assert asked(kind, *PLACED) == expected


def test_depth_is_scored_where_there_is_a_depth_map():
    assert asked(IN_FRONT_OF, *PLACED, depth=SLOPE).compbench == pytest.approx(0.45)


def test_a_missing_object_is_wrong_everywhere():
    assert asked(LEFT_OF, PLACED[0]) == scores(False, 0, False, False)


def test_a_second_instance_counts_as_published_or_not_at_all():
    dogs = seen("dog", 90, 50), seen("dog", 20, 50, 0.5)
    assert asked(LEFT_OF, *dogs, PLACED[1]) == scores(True, 0, True, False)
    assert asked(LEFT_OF, *dogs, PLACED[1], mended=True) == scores(False, 0, False, False)


def test_what_is_too_unsure_does_not_count():
    assert asked(LEFT_OF, seen("dog", 20, 50, 0.1), PLACED[1]).visor is False
