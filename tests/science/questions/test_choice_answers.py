from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.science.checker.instances import Region
from spatialstudio.science.questions.choice_answers import ShownObjects, answer, names_in
from spatialstudio.science.questions.perception_answers import CannotTellError
from spatialstudio.science.questions.spatialgeneval import read_question

SIDE = 100


def region(left, top, right, bottom, score=1.0, most=1):
    pixels = np.zeros((SIDE, SIDE), np.bool_)
    pixels[top:bottom, left:right] = True
    return Region(pixels=pixels, score=score, has_mask=True, most=most)


DOG, CAT = region(0, 40, 30, 70), region(60, 40, 90, 70)
SHOWN = ShownObjects(
    height=SIDE,
    width=SIDE,
    regions={"dog": [DOG], "dogs": [DOG], "cat": [CAT], "bus": []},
    depth=np.tile(np.linspace(0, 1, SIDE, dtype=np.float32), (SIDE, 1)),
    colours={"dog": {"red": 0.8, "brown": 0.2}},
)
SIDES = "Options: A: to the right of it, B: above it, C: to the left of it, D: below it, E: None"


def option(text, shown=SHOWN):
    question = read_question(text, "A")
    letter, _ = answer(question, shown)
    return dict(question.options)[letter]


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("Which of these objects is in the picture? Options: A: bus, B: dog, E: None", "dog"),
        ("How many dogs are in the picture? Options: A: 2, B: 1, C: 3, E: None", "1"),
        ("Which colour is the dog? Options: A: blue, B: red, E: None", "red"),
        (f"Where is the dog in relation to the cat? {SIDES}", "to the left of it"),
        (f"Where is the CAT in relation to the Dog? {SIDES}", "to the right of it"),
        (
            "Where is the dog in relation to the cat? Options: A: in front of it, B: behind it, "
            "E: None",
            "in front of it",
        ),
        (
            "Which of these objects is nearest to the viewer? Options: A: dog, B: cat, E: None",
            "dog",
        ),
        (
            "Which of these objects partly hides the dog? Options: A: cat, B: no object, E: None",
            "no object",
        ),
    ],
    ids=["present", "count", "colour", "left", "right", "depth", "nearest", "hiding"],
)
def test_a_plain_picture_is_answered(text, right):
    assert option(text) == right


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Why is the dog sad? Options: A: rain, B: food, E: None", "another form"),
        ("Which way does the dog face? Options: A: to the left, B: up, E: None", "orientation"),
        (f"Where is the dog in relation to the unicorn? {SIDES}", "does not know the unicorn"),
        (f"Where is the bus in relation to the dog? {SIDES}", "not found exactly once"),
        (
            "Where is the dog in relation to the cat? Options: A: above it, B: below it, E: None",
            "level with each other",
        ),
        (
            "Where is the dog in relation to the cat? Options: A: above it, B: behind it, E: None",
            "different kinds",
        ),
        ("Which colour is the bus? Options: A: blue, B: red, E: None", "not found exactly once"),
        (
            "Which of these objects is in the picture? Options: A: cat, B: dog, E: None",
            "not exactly one",
        ),
        (
            "Which of these objects takes up the most space in the picture? "
            "Options: A: cat, B: dog, E: None",
            "plainly the largest",
        ),
    ],
    ids=["form", "facing", "class", "missing", "no option", "mixed", "colour", "two", "tie"],
)
def test_everything_else_cannot_be_told_with_a_reason(text, reason):
    with pytest.raises(CannotTellError, match=reason):
        option(text)


@pytest.mark.parametrize(
    "dogs",
    [[DOG, region(60, 0, 90, 30)], [replace(DOG, most=2)], [replace(DOG, score=0.5)]],
    ids=["two", "maybe two", "unsure"],
)
def test_an_object_that_is_not_surely_one_is_not_measured(dogs):
    shown = replace(SHOWN, regions={**SHOWN.regions, "dog": dogs})
    with pytest.raises(CannotTellError, match="exactly once"):
        option(f"Where is the dog in relation to the cat? {SIDES}", shown)


def test_two_that_touch_in_one_mask_are_not_counted_as_one():
    pixels = region(0, 40, 20, 60).pixels | region(20, 48, 24, 52).pixels
    touching = replace(DOG, pixels=pixels | region(24, 40, 44, 60).pixels)
    shown = replace(SHOWN, regions={"dogs": [touching]})
    with pytest.raises(CannotTellError, match="several that touch"):
        option("How many dogs are in the picture? Options: A: 2, B: 1, C: 3, E: None", shown)


def test_diagonal_objects_have_no_plain_side():
    shown = replace(SHOWN, regions={**SHOWN.regions, "dog": [region(30, 0, 50, 20)]})
    with pytest.raises(CannotTellError, match="diagonally"):
        option(f"Where is the dog in relation to the cat? {SIDES}", shown)


def test_diagonal_objects_have_a_plain_side_among_the_options_of_one_axis():
    shown = replace(SHOWN, regions={**SHOWN.regions, "dog": [region(30, 0, 50, 20)]})
    asked = "Where is the dog in relation to the cat? Options: A: {}, B: {}, E: None"
    sideways = option(asked.format("to the left of it", "to the right of it"), shown)
    upright = option(asked.format("above it", "below it"), shown)
    assert (sideways, upright) == ("to the left of it", "above it")


def test_without_depth_nothing_is_said_about_depth():
    with pytest.raises(CannotTellError, match="no depth model"):
        option(
            "Which of these objects is nearest to the viewer? Options: A: dog, B: cat, E: None",
            replace(SHOWN, depth=None),
        )


def test_only_objects_that_a_question_needs_are_searched_for():
    place = read_question(f"Where is the dog in relation to the cat? {SIDES}", "A")
    order = read_question(
        "In which order are these objects from left to right? Options: A: dog, cat, B: cat, dog, "
        "E: None",
        "A",
    )
    facing = read_question("Which way does the dog face? Options: A: a, B: b, E: None", "A")
    assert names_in(place) == names_in(order) == {"dog", "cat"}
    assert names_in(facing) == set()
