import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.domain.requirements import colour_words, is_judged, is_member, requirements_of
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import Prompt


@pytest.fixture(scope="module")
def extractor():
    return GrammarExtractor(resources_folder() / "prompts")


@pytest.fixture
def required(extractor):
    """Reads a prompt, and returns what it requires of its first object."""

    def read(text):
        scene = extractor.extract(Prompt(text=text))
        return requirements_of(scene, scene.mentions[0].id)

    return read


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("three birds to the left of a car", 3, 3),
        ("12 birds", 12, 12),
        ("twenty-one cats", 21, 21),
        ("3 sheep", 3, 3),
        ("a pair of dogs next to a cat", 2, 2),
        ("a couple of big red cups", 2, 2),
        ("two pairs of shoes", 4, 4),
        ("a pair of scissors", 1, 1),
        ("three scissors", 3, 3),
        ("a trio of birds", 3, 3),
        ("a dozen eggs", 12, 12),
        ("half a dozen eggs", 6, 6),
        ("two dozen eggs", 24, 24),
        ("one hundred cats", 100, 100),
        ("both cats", 2, 2),
        ("one dog", 1, 1),
        ("a single dog", 1, 1),
        ("four or five birds", 4, 5),
        ("2-3 cats", 2, 3),
        ("at least two cats", 2, None),
        ("more than three cats", 4, None),
        ("several birds", 3, None),
        ("many birds", 3, None),
        ("a few birds", 2, None),
        ("birds above a house", 2, None),
        ("two white and brown dogs", 2, 2),
    ],
)
def test_a_count_is_a_range_of_numbers(required, text, least, most):
    quantity = required(text).quantity
    assert quantity is not None
    assert (quantity.least, quantity.most) == (least, most)


@pytest.mark.parametrize(
    "text",
    ["a bird", "some sheep", "scissors left of a cup", "about ten birds", "a 3 legged chair"],
)
def test_a_prompt_may_leave_the_number_open(required, text):
    assert required(text).quantity is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("three birds", "three"),
        ("a pair of dogs", "a pair of"),
        ("at least two cats", "at least two"),
        ("birds", "more than one"),
    ],
)
def test_a_count_is_quoted_as_written(required, text, words):
    assert required(text).quantity.words == words


@pytest.mark.parametrize(
    ("text", "colours"),
    [
        ("a blue car", {"blue": ("blue",)}),
        ("a light-blue car", {"light-blue": ("blue",)}),
        ("a dark blue bus", {"dark blue": ("blue",)}),
        ("a navy blue cap", {"navy blue": ("blue",)}),
        ("a blue-coloured car", {"blue-coloured": ("blue",)}),
        ("a blue-green vase", {"blue-green": ("blue", "green")}),
        ("a turquoise vase", {"turquoise": ("blue", "green")}),
        ("a black-and-white cat", {"black": ("black",), "white": ("white",)}),
        ("a red and white bus", {"red": ("red",), "white": ("white",)}),
        ("a big red and white bus", {"red": ("red",), "white": ("white",)}),
        ("the car is blue", {"blue": ("blue",)}),
        ("a cat that is black left of a dog", {"black": ("black",)}),
        ("an orange cat", {"orange": ("orange",)}),
        ("a gray cat", {"gray": ("grey",)}),
        ("two jet black cats", {"jet black": ("black",)}),
    ],
)
def test_a_colour_has_basic_terms(required, text, colours):
    assert {each.words: each.terms for each in required(text).colours} == colours


@pytest.mark.parametrize(
    "text",
    [
        "an orange",
        "a rose",
        "a rose vase",
        "an orange juice",
        "a blue-eyed cat",
        "a golden retriever",
    ],
)
def test_fruits_flowers_and_names_are_not_colours(required, text):
    assert required(text).colours == ()


def test_other_attributes_are_listed_without_counts_and_colours(required):
    assert required("two big wooden dark red chairs").others == ("big", "wooden")


def test_members_of_a_plural_are_told_from_further_objects(extractor):
    scene = extractor.extract(Prompt(text="two cats, one left of the other"))
    assert [is_member(mention) for mention in scene.mentions] == [False, True, True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("a cat left of a dog", True), ("three birds", True), ("a blue car", True), ("a cat", False)],
)
def test_relations_counts_and_colours_are_judged(extractor, text, expected):
    assert is_judged(extractor.extract(Prompt(text=text))) is expected


@pytest.mark.parametrize(
    ("text", "words", "noun"),
    [
        ("a dark blue car next to a dog", ["blue"], "car"),
        ("a red and white bus next to a dog", ["red", "white"], "bus"),
        ("a big red and white bus next to a dog", ["red", "white"], "bus"),
        ("two red cars next to a dog", ["red"], "cars"),
        ("a car that is green next to a dog", ["green"], "car"),
        ("an orange next to a dog", None, None),
    ],
)
def test_colour_words_are_found_in_the_prompt(extractor, text, words, noun):
    scene = extractor.extract(Prompt(text=text))
    found = colour_words(scene, scene.mentions[0].id)
    stated = found and ([span.of(text) for span in found.words], found.noun.of(text))
    assert stated == (words and (words, noun))
