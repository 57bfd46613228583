import pytest

from spatialstudio.domain.assertion import Assertion, AssertionScore
from spatialstudio.domain.prompt import ObjectMention, Prompt, TextSpan
from spatialstudio.domain.relation import BETWEEN, SceneGraph
from spatialstudio.science.da_score import (
    assertions_of,
    da_score,
    score_by_perception,
    yes_probability,
)
from tests.science.seen_things import masked, perception, relation, seen


def thing(name, *attributes):
    span = TextSpan(start=0, stop=1)
    phrase = " ".join([*attributes, name])
    return ObjectMention(id=name, phrase=phrase, head=name, attributes=attributes, span=span)


def scene_of(*mentions, relations=()):
    return SceneGraph(
        prompt=Prompt(text="a test"), mentions=mentions, relations=relations, extractor_id="test"
    )


@pytest.fixture
def scene():
    return scene_of(thing("dog", "red"), thing("car"), relations=(relation(),))


def score(weight, chance):
    claim = Assertion(id="a", text="", question="", mention_id="dog", weight=weight)
    return AssertionScore(assertion=claim, probability_yes=chance)


def chances(found):
    return [answer.probability_yes for answer in found.scores]


def test_a_scene_asserts_things_attributes_and_relations(scene):
    assert [claim.text for claim in assertions_of(scene)] == [
        "there is a dog",
        "there is a car",
        "the dog is red",
        "the dog is to the left of the car",
    ]


def test_every_assertion_is_asked_as_a_question():
    three = scene_of(thing("dog"), thing("car"), thing("apple"), thing("cup"))
    full = scene_of(*three.mentions, relations=(relation(BETWEEN),))
    assert [claim.question for claim in assertions_of(full)] == [
        "is there a dog?",
        "is there a car?",
        "is there an apple?",
        "is there a cup?",
        "is the dog between the car and the cup?",
    ]


@pytest.mark.parametrize(
    ("yes", "no", "temperature", "expected"),
    [(1, 1, 1, 0.5), (2, 0, 1, 0.880797), (2, 0, 2, 0.731059), (-900, 900, 1, 0)],
    ids=["even", "rather yes", "less sure", "far apart"],
)
def test_yes_is_weighed_against_no(yes, no, temperature, expected):
    assert yes_probability(yes, no, temperature) == pytest.approx(expected, abs=1e-6)


def test_the_score_is_the_weighted_mean_of_what_was_answered():
    assert da_score([score(1, 1.0), score(3, 0.2), score(5, None)], "me").value == pytest.approx(
        0.4
    )


def test_without_any_answer_there_is_no_score():
    assert da_score([score(1, None)], "me").value is None


def test_the_perception_answers_by_detections_and_pos(scene):
    masks = masked("dog", 20, 50), masked("car", 80, 50)
    picture = perception(seen("dog", 20, 50, 0.8), seen("car", 80, 50, 0.5), masks=masks)
    assert chances(score_by_perception(scene, picture)) == [0.8, 0.5, None, pytest.approx(0.4)]


def test_a_missing_thing_is_in_no_relation(scene):
    found = score_by_perception(scene, perception(seen("dog", 20, 50, 0.8)))
    assert chances(found) == [0.8, 0, None, 0]
    assert found.value == pytest.approx(0.8 / 3)


def test_nobody_can_answer_for_a_class_that_the_detector_does_not_know(scene):
    picture = perception(seen("dog", 20, 50, 0.8), missing_classes=("car",))
    assert chances(score_by_perception(scene, picture)) == [0.8, None, None, None]


def test_without_masks_the_relation_stays_unanswered(scene):
    picture = perception(seen("dog", 20, 50, 0.8), seen("car", 80, 50, 0.5))
    assert chances(score_by_perception(scene, picture)) == [0.8, 0.5, None, None]
