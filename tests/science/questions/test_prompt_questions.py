from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.grammar import build
from spatialstudio.application.paths import StudioPaths
from spatialstudio.domain.multiple_choice import ChoiceQuestion, QuestionState
from spatialstudio.domain.scene import Prompt
from spatialstudio.science.questions.prompt_questions import check_question, questions_of_prompt
from spatialstudio.science.questions.spatialgeneval import read_set, set_row

GRAMMAR = build(StudioPaths.usual().surroundings)
VOCABULARY = ("dog", "car", "cat", "bus", "tree", "cup", "vase")
PROMPT = "three cats. A red car is to the left of a dog."


def scene_of(text):
    return GRAMMAR.extract(Prompt(text=text))


def written(text, vocabulary=VOCABULARY):
    """Return the right options by stem."""
    made = questions_of_prompt(scene_of(text), vocabulary).questions.questions
    return {each.stem: dict(each.options)[each.key] for each in made}


def question(stem, right, *wrong):
    letters = zip("ABCD", (right, *wrong), strict=False)
    return ChoiceQuestion(stem=stem, options=(*letters, ("E", "None")), key="A")


def test_objects_counts_colours_and_places_become_questions():
    found = written(PROMPT)
    assert found["Which colour is the car?"] == "red"
    assert found["How many cats are in the picture?"] == "3"
    assert found["Where is the car in relation to the dog?"] == "to the left of it"
    assert found["Which of these objects is in the picture?"] in {"car", "dog", "cat"}


def test_wrong_options_contradict_the_prompt():
    made = questions_of_prompt(scene_of(PROMPT), VOCABULARY).questions.questions
    for each in made:
        assert check_question(each, scene_of(PROMPT)).state is QuestionState.AGREES
        for letter, _ in each.options[:-1]:
            if letter != each.key:
                swapped = replace(each, key=letter)
                assert check_question(swapped, scene_of(PROMPT)).state is QuestionState.CONTRADICTS


def test_a_place_that_the_prompt_leaves_open_is_no_option():
    made = questions_of_prompt(scene_of("a dog to the left of a car"), VOCABULARY).questions
    (place,) = (each for each in made.questions if each.stem.startswith("Where"))
    assert {text for _, text in place.options} == {
        "to the left of it",
        "to the right of it",
        "None",
    }


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("a cup in front of a vase", "in front of it"),
        ("a cup near a vase", "near it"),
        ("a dog above a car", "above it"),
    ],
    ids=["depth", "near", "above"],
)
def test_options_of_a_place_are_of_one_kind(text, right):
    places = [value for stem, value in written(text).items() if stem.startswith("Where")]
    assert places == [right]


@pytest.mark.parametrize(
    "text", ["a dog to the left of a dog", "two dogs to the left of a cat"], ids=["same", "plural"]
)
def test_names_that_are_not_unique_are_not_placed(text):
    assert not any(stem.startswith("Where") for stem in written(text))


def test_equal_prompts_give_equal_questions_in_the_form_of_the_data():
    first, again = (questions_of_prompt(scene_of(PROMPT), VOCABULARY) for _ in range(2))
    assert first == again
    assert read_set(set_row(first.questions)) == first.questions


@pytest.mark.parametrize(
    ("made", "state"),
    [
        (
            question("Where is the dog in relation to the car?", "to the right of it", "above it"),
            QuestionState.AGREES,
        ),
        (
            question("Where is the dog in relation to the car?", "to the left of it", "above it"),
            QuestionState.CONTRADICTS,
        ),
        (
            question("Where is the cat in relation to the car?", "above it", "below it"),
            QuestionState.OPEN,
        ),
        (question("Which colour is the dog?", "red", "blue"), QuestionState.OPEN),
        (question("Which colour is the car?", "blue", "red"), QuestionState.CONTRADICTS),
        (question("Which colour is the horse?", "blue", "red"), QuestionState.CONTRADICTS),
        (question("How many cats are in the picture?", "2", "3"), QuestionState.CONTRADICTS),
        (question("Why is the dog sad?", "hunger", "rain"), QuestionState.OPEN),
        (
            question("Which of these objects is in the picture?", "dog", "car"),
            QuestionState.CONTRADICTS,
        ),
        (question("Which colour is the car?", "red", "red"), QuestionState.CONTRADICTS),
        (
            replace(question("Which colour is the car?", "red", "blue"), key="E"),
            QuestionState.CONTRADICTS,
        ),
    ],
    ids=[
        "inverse",
        "swapped",
        "no relation",
        "no colour",
        "colour",
        "name",
        "count",
        "form",
        "two right",
        "repeated",
        "none",
    ],
)
def test_an_edited_question_is_checked_against_the_scene(made, state):
    check = check_question(made, scene_of(PROMPT))
    assert check.state is state
    assert bool(check.reason) is (state is not QuestionState.AGREES)
