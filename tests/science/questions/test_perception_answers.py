import numpy as np
import pytest

from spatialstudio.domain.assertion import Assertion, Assertions
from spatialstudio.domain.scene import (
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.science.questions.perception_answers import score_by_perception
from tests.science.seen_things import SIDE, masked, perception, relation, seen

RED, BLUE = (220, 20, 20), (20, 20, 220)


def scene_with(*attributes):
    """A dog with attributes to the left of a car."""
    span = TextSpan(start=0, stop=1)
    dog = ObjectMention(id="dog", phrase="dog", head="dog", attributes=attributes, span=span)
    car = ObjectMention(id="car", phrase="car", head="car", span=span)
    return SceneGraph(
        prompt=Prompt(text="a test"),
        mentions=(dog, car),
        relations=(relation(),),
        extractor_id="test",
    )


def halves(left, right):
    """A picture with one colour on the left and another on the right."""
    image = np.full((SIDE, SIDE, 3), left, np.uint8)
    image[:, SIDE // 2 :] = right
    return image


PLACED = perception(
    seen("dog", 20, 50, 0.8),
    seen("car", 80, 50, 0.5),
    masks=(masked("dog", 20, 50), masked("car", 80, 50)),
)


def chances(found):
    return [one.probability_yes for one in found.scores]


def test_detections_and_pos_answer():
    found = score_by_perception(scene_with(), PLACED)
    assert chances(found) == [0.8, 0.5, pytest.approx(0.4)]
    assert (found.source_id, found.asserted_by) == ("perception", "scene")
    assert found.value == pytest.approx(1.7 / 3)


@pytest.mark.parametrize(
    ("attribute", "chance"), [("red", 0.8), ("crimson", 0.8), ("blue", 0.0)], ids=str
)
def test_colours_are_read_from_the_pixels_of_the_object(attribute, chance):
    found = score_by_perception(scene_with(attribute), PLACED, halves(RED, BLUE))
    assert chances(found)[2] == pytest.approx(chance)


def test_other_attributes_stay_unanswered_with_a_reason():
    found = score_by_perception(scene_with("wooden"), PLACED, halves(RED, BLUE))
    assert chances(found)[2] is None
    assert found.scores[2].note == 'A detector cannot tell what is "wooden".'


def test_without_the_picture_no_colour_is_answered():
    found = score_by_perception(scene_with("red"), PLACED)
    assert (chances(found)[2], found.scores[2].note) == (
        None,
        "Colours need the picture and a mask.",
    )


def test_a_missing_object_has_no_colour_and_no_relation():
    only_car = perception(seen("car", 80, 50, 0.5))
    assert chances(score_by_perception(scene_with("red"), only_car)) == [0, 0.5, 0, 0]


def test_an_unknown_class_has_no_answer():
    picture = perception(seen("dog", 20, 50, 0.8), missing_classes=("car",))
    found = score_by_perception(scene_with(), picture)
    assert chances(found) == [0.8, None, None]
    assert found.scores[1].note == 'The detector has no class for "car".'
    assert found.value == 0.8


def test_without_masks_the_relation_stays_unanswered():
    picture = perception(seen("dog", 20, 50, 0.8), seen("car", 80, 50, 0.5))
    assert chances(score_by_perception(scene_with(), picture)) == [0.8, 0.5, None]


def test_other_statements_stay_unanswered():
    night = Assertion(id="a1", text="it is night", question="is it night?")
    asked = Assertions(items=(night,), source_id="llm")
    found = score_by_perception(scene_with(), PLACED, assertions=asked)
    assert (found.value, found.asserted_by) == (None, "llm")
