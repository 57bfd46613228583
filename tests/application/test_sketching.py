import pytest

from spatialstudio.adapters.extractors.grammar import GrammarExtractor
from spatialstudio.application.flow.read_prompt import read_prompt, read_thing
from spatialstudio.application.paths import resources_folder
from spatialstudio.application.sketching import after_adding, arranged, free_place, named_in
from spatialstudio.domain.errors import PromptError

extractor = GrammarExtractor(resources_folder() / "prompts")


def added(text, name, place):
    scene = read_prompt(text, extractor)
    return after_adding(scene, arranged(scene, {}), read_thing(name, extractor), place)


@pytest.mark.parametrize(
    ("name", "place", "said"),
    [
        ("cat", (0.27, 0.9), "a dog to the left of a car, a cat below the dog"),
        ("an old cat", (0.72, 0.1), "a dog to the left of a car, an old cat above the car"),
        ("two cats", (0.27, 0.9), "a dog to the left of a car, two cats below the dog"),
    ],
)
def test_a_new_thing_is_said_against_its_neighbour(name, place, said):
    scene, places, new = added("a dog to the left of a car", name, place)
    assert scene.prompt.text == said
    assert places[new] == place


def test_a_style_stays_behind_the_new_thing():
    scene, _, new = added("a photo of a dog to the left of a car, oil on canvas", "cat", (0.3, 0.9))
    assert scene.prompt.text.startswith("a photo of a dog")
    assert scene.prompt.text.endswith("a cat below the dog, oil on canvas")
    assert scene.mention(new).span.of(scene.prompt.text) == "cat"


def test_a_second_thing_of_a_name_is_another_one():
    scene, _, new = added("a dog to the left of a car", "dog", (0.27, 0.9))
    assert [mention.head for mention in scene.mentions].count("dog") == 2
    assert scene.relations[-1].ends[0] == new


@pytest.mark.parametrize("name", ["a cat and a dog", "a cat on a table", "  "])
def test_what_names_no_single_thing_is_refused(name):
    with pytest.raises(PromptError):
        read_thing(name, extractor)


@pytest.mark.parametrize("name", ["zzgloop", "of"])
def test_what_names_nothing_is_refused_as_a_name_not_as_a_prompt(name):
    with pytest.raises(PromptError, match="does not name one thing"):
        read_thing(name, extractor, {"cat": "cat"})


def test_the_free_place_is_free():
    assert free_place({}) == (0.5, 0.5)
    x, y = free_place({"m1": (0.5, 0.5), "m2": (0.2, 0.5)})
    assert min(abs(x - 0.5) + abs(y - 0.5), abs(x - 0.2) + abs(y - 0.5)) >= 0.24


def test_a_thing_is_named_behind_what_the_prompt_says():
    assert named_in("", read_thing("apple", extractor)) == "an apple"
    assert named_in("at night ", read_thing("two cats", extractor)).startswith("at night, ")
