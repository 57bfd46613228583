from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.inspect.inspection import relation_in_words
from spatialstudio.application.inspect.map_reading import read_relation, relation_between
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_RIGHT_OF,
    BEHIND,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    MentionId,
)
from tests.fakes import scene_of

LEFT = np.array([[3, 1], [0, 0]], np.float32)
RIGHT = np.array([[0, 0], [1, 3]], np.float32)


def read(relation_type, subject=LEFT, other=RIGHT):
    scene = scene_of(relation_type=relation_type)
    maps = {scene.mentions[0].id: subject, scene.mentions[1].id: other}
    return read_relation(scene.relations[0], scene, maps)


def test_pos_is_described():
    # left of: P(u<v) = 3/4 * 3/4, ties 2 * 3/16 in halves
    reading = read(LEFT_OF)
    assert reading.pos == pytest.approx(9 / 16 + 3 / 16)
    assert (
        reading.sentence
        == "Attention PoS 75 %: the maps show that the dog is to the left of the car."
    )


@pytest.mark.parametrize(
    ("pos", "finding"),
    [
        (1.0, "100 %: the maps show that"),
        (0.999, "more than 99 %: the maps show that"),
        (0.994, "99 %: the maps show that"),
        (0.75, "75 %: the maps show that"),
        (0.74, "74 %: the maps do not show whether"),
        (0.26, "26 %: the maps do not show whether"),
        (0.25, "25 %: the maps contradict that"),
        (0.004, "less than 1 %: the maps contradict that"),
        (0.0, "0 %: the maps contradict that"),
    ],
)
def test_a_pos_is_described_with_what_it_shows(pos, finding):
    scene = scene_of()
    told = relation_in_words(scene.relations[0], pos, scene)
    assert told == f"Attention PoS {finding} the dog is to the left of the car."


def test_the_crossing_is_described():
    (detail,) = read(LEFT_OF).details
    assert detail == (
        "The curves cross at 50 % of the width: 75 % of the attention to dog is left of it, "
        "and 75 % of the attention to car is right of it."
    )


def test_the_object_claimed_to_come_second_has_the_falling_curve():
    (axis,) = read(RIGHT_OF).axes
    assert (axis.first, axis.second) == ("m2", "m1")
    assert axis.falling == pytest.approx([1, 0.25, 0])


def test_above_is_read_along_y():
    (axis,) = read(ABOVE).axes
    assert axis.rising == pytest.approx([0, 1, 1])
    assert axis.line.share == pytest.approx(1)
    assert "is above it" in read(ABOVE).details[0]


def test_a_diagonal_has_a_reading_for_each_axis():
    assert [axis.axis.value for axis in read(ABOVE_RIGHT_OF).axes] == ["x", "y"]


def test_near_has_a_value_and_no_crossing():
    reading = read(NEAR)
    assert reading.pos is not None
    assert reading.axes == ()


def test_depth_cannot_be_read_from_attention_maps():
    reading = read(BEHIND)
    assert reading.pos is None
    assert "two-dimensional" in reading.sentence


def test_without_attention_there_is_no_value():
    assert read(LEFT_OF, other=0 * RIGHT).pos is None


def test_two_words_of_one_relation_are_recognised_in_either_order():
    scene = scene_of()
    first, second = (mention.id for mention in scene.mentions)
    assert relation_between(scene, second, first) is scene.relations[0]
    assert relation_between(scene, first, MentionId("m9")) is None
    assert relation_between(replace(scene, relations=()), first, second) is None
