from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.perception import DepthMap
from spatialstudio.domain.prompt import ObjectMention, Prompt, TextSpan
from spatialstudio.domain.relation import (
    ABOVE,
    ABOVE_LEFT_OF,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    SceneGraph,
)
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.center_scores import (
    MENDED,
    PUBLISHED,
    CenterScores,
    center_scores,
    hrs_of_scene,
)
from tests.science.seen_things import SIDE, perception, relation, seen

PLACED = seen("dog", 20, 50), seen("car", 80, 50), seen("cup", 5, 50)
SLOPE = DepthMap(values=np.tile(np.arange(SIDE, dtype=np.float32), (SIDE, 1)), estimator_id="x")


def asked(kind, *detections, rules=PUBLISHED, depth=None):
    picture = perception(*detections, depth=depth)
    return center_scores(relation(kind), picture, REPRODUCE, rules)


def scores(visor, compbench, hrs, geneval, found=True):
    known = None if compbench is None else pytest.approx(compbench)
    return CenterScores(found=found, visor=visor, compbench=known, hrs=hrs, geneval=geneval)


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
    assert asked(LEFT_OF, PLACED[0]) == scores(False, 0, False, False, found=False)


def test_a_second_instance_counts_as_published_or_not_at_all():
    dogs = seen("dog", 90, 50), seen("dog", 20, 50, 0.5)
    assert asked(LEFT_OF, *dogs, PLACED[1]) == scores(True, 0, True, False)
    assert asked(LEFT_OF, *dogs, PLACED[1], rules=MENDED) == scores(False, 0, False, False)


def test_what_is_too_unsure_does_not_count():
    assert asked(LEFT_OF, seen("dog", 20, 50, 0.1), PLACED[1]).visor is False


def picture_of_four(*relations):
    """A dog left of a car, which stands left of a cup, above a hat."""
    names = "dog", "car", "cup", "hat"
    span = TextSpan(start=0, stop=1)
    scene = SceneGraph(
        prompt=Prompt(text="a test"),
        mentions=tuple(ObjectMention(id=name, phrase=name, head=name, span=span) for name in names),
        relations=relations,
        extractor_id="test",
    )
    places = (10, 20), (40, 20), (70, 20), (10, 70)
    return scene, perception(*(seen(n, *at) for n, at in zip(names, places, strict=True)))


def test_hrs_judges_a_picture_by_all_its_claims_and_things():
    scene, picture = picture_of_four(relation(LEFT_OF), relation(ABOVE, "dog", "hat"))
    assert hrs_of_scene(scene, picture, REPRODUCE, MENDED.hrs) is True
    without_hat = replace(picture, detections=picture.detections[:3])
    assert hrs_of_scene(scene, without_hat, REPRODUCE, MENDED.hrs) is False


def test_hrs_looks_one_object_too_far_among_four_as_published():
    scene, picture = picture_of_four(relation(LEFT_OF), relation(ABOVE, "dog", "hat"))
    assert hrs_of_scene(scene, picture, REPRODUCE) is False
    only_left, picture = picture_of_four(relation(LEFT_OF))
    assert hrs_of_scene(only_left, picture, REPRODUCE) is True


def test_hrs_has_nothing_to_say_of_what_it_does_not_know():
    scene, picture = picture_of_four(relation(NEAR))
    assert hrs_of_scene(scene, picture, REPRODUCE) is None
