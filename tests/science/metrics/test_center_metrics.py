from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import DepthMap, Evaluation
from spatialstudio.science.metrics import compbench, geneval, hrs, visor
from spatialstudio.science.metrics.hrs import hrs_of_scene
from spatialstudio.science.metrics.visor import ends_found
from tests.science.seen_things import SIDE, perception, relation, seen

PLACED = seen("dog", 20, 50), seen("car", 80, 50), seen("cup", 5, 50)
SLOPE = DepthMap(values=np.tile(np.arange(SIDE, dtype=np.float32), (SIDE, 1)), estimator_id="x")


def scene_saying(text, claim):
    """A scene of a dog, a car and a cup whose claim stands somewhere in a prompt."""
    span = TextSpan(start=0, stop=1)
    return SceneGraph(
        prompt=Prompt(text=text),
        mentions=tuple(
            ObjectMention(id=name, phrase=name, head=name, span=span)
            for name in ("dog", "car", "cup")
        ),
        relations=(claim,),
        extractor_id="test",
    )


def asked(kind, *detections, corrected=False, depth=None, words=""):
    """What all four say of a claim that stands in the prompt in some words."""
    picture = perception(*detections, depth=depth)
    claim = replace(relation(kind), span=TextSpan(start=6, stop=6 + len(words)) if words else None)
    return answers_on(claim, scene_saying(f"a dog {words} a car", claim), picture, corrected)


def answers_on(claim, scene, picture, corrected=False):
    evaluation = Evaluation(perception=picture, verdicts=())
    answers = {"found": ends_found(claim, picture)}
    for metric in (visor.METRIC, compbench.METRIC, hrs.METRIC, geneval.METRIC):
        rules = metric.corrected if corrected else metric.rules
        answers[metric.id] = metric.of_relation(claim, scene, evaluation, rules)
    return answers


def scores(visor, compbench, hrs, geneval, found=True):
    known = None if compbench is None else pytest.approx(compbench)
    return {"found": found, "visor": visor, "compbench": known, "hrs": hrs, "geneval": geneval}


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
def test_each_benchmark_scores_its_own_relations(kind, expected):
    assert asked(kind, *PLACED) == expected


def test_depth_is_scored_where_there_is_a_depth_map():
    assert asked(IN_FRONT_OF, *PLACED, depth=SLOPE)["compbench"] == pytest.approx(0.45)


def test_a_missing_object_is_wrong_everywhere():
    assert asked(LEFT_OF, PLACED[0]) == scores(False, 0, False, False, found=False)


def test_a_second_instance_counts_as_published_or_is_ignored():
    dogs = seen("dog", 90, 50), seen("dog", 20, 50, 0.6)
    assert asked(LEFT_OF, *dogs, PLACED[1]) == scores(True, 0, True, False)
    assert asked(LEFT_OF, *dogs, PLACED[1], corrected=True) == scores(False, 0, False, False)


@pytest.mark.parametrize(
    ("score", "visor", "compbench", "hrs", "geneval"),
    [
        (0.1, False, 0, False, False),
        (0.11, True, 0, False, False),
        (0.3, True, 0, False, False),
        (0.31, True, 0, False, True),
        (0.5, True, 0, False, True),
        (0.51, True, 0.8525, True, True),
    ],
)
def test_a_box_counts_above_the_published_threshold_of_each_benchmark(
    score, visor, compbench, hrs, geneval
):
    expected = scores(visor, compbench, hrs, geneval, found=visor)
    assert asked(LEFT_OF, seen("dog", 20, 50, score), PLACED[1]) == expected


def test_a_box_below_the_detection_threshold_counts_above_the_one_of_a_benchmark():
    claim = relation(LEFT_OF)
    picture = perception(seen("dog", 20, 50, 0.2), PLACED[1], cut=0.35)
    assert answers_on(claim, scene_saying("a dog", claim), picture)["visor"] is True


ON_TOP = seen("dog", 50, 20), seen("car", 50, 80)


@pytest.mark.parametrize("words", ["on top of", "On  Top of", "sits on top of"])
def test_on_top_of_is_never_met_as_published_and_scored_when_corrected(words):
    assert asked(ABOVE, *ON_TOP, words=words)["compbench"] == 0
    assert asked(ABOVE, *ON_TOP, words=words, corrected=True)["compbench"] == pytest.approx(0.95)


@pytest.mark.parametrize("words", ["on the top of", "above", "over", ""])
def test_other_words_for_above_are_scored_as_published(words):
    assert asked(ABOVE, *ON_TOP, words=words)["compbench"] == pytest.approx(0.95)


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


def test_hrs_judges_a_picture_by_all_claims_and_objects():
    scene, picture = picture_of_four(relation(LEFT_OF), relation(ABOVE, "dog", "hat"))
    assert hrs_of_scene(scene, picture, hrs.MENDED) is True
    without_hat = replace(picture, detections=picture.detections[:3])
    assert hrs_of_scene(scene, without_hat, hrs.MENDED) is False


def test_hrs_reads_one_object_too_far_with_four_as_published():
    scene, picture = picture_of_four(relation(LEFT_OF), relation(ABOVE, "dog", "hat"))
    assert hrs_of_scene(scene, picture) is False
    only_left, picture = picture_of_four(relation(LEFT_OF))
    assert hrs_of_scene(only_left, picture) is True


@pytest.mark.parametrize("first", [LEFT_OF, RIGHT_OF, ABOVE, BELOW], ids=lambda kind: kind.id)
@pytest.mark.parametrize("second", [LEFT_OF, RIGHT_OF, ABOVE, BELOW], ids=lambda kind: kind.id)
def test_no_picture_of_four_objects_in_order_is_correct_as_published(first, second):
    claims = (
        *(relation(first, subject, "cup") for subject in ("dog", "car")),
        *(relation(second, subject, "hat") for subject in ("dog", "car")),
    )
    scene, _ = picture_of_four(*claims)
    places = {LEFT_OF: (-30, 0), RIGHT_OF: (30, 0), ABOVE: (0, -30), BELOW: (0, 30)}
    cup, hat = ((50 - places[kind][0], 50 - places[kind][1]) for kind in (first, second))
    boxes = seen("dog", 50, 50), seen("car", 50, 50), seen("cup", *cup), seen("hat", *hat)
    assert hrs_of_scene(scene, perception(*boxes), hrs.MENDED) is True
    assert hrs_of_scene(scene, perception(*boxes)) is False


def test_hrs_has_no_score_for_unknown_relations():
    scene, picture = picture_of_four(relation(NEAR))
    assert hrs_of_scene(scene, picture) is None
