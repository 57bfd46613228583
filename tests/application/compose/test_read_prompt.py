from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.read_prompt import (
    read_prompt,
    with_relation_added,
    with_relation_removed,
    with_relation_type,
)
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.errors import PluginError, PromptError
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BETWEEN,
    LEFT_OF,
    MOST_CHARACTERS,
    NEAR,
    Note,
    Prompt,
    TextSpan,
)

KNOWN = {"cat": "cat", "cats": "cat", "kitten": "cat", "fire hydrant": "fire hydrant", "car": "car"}

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text, known_objects=None):
    return read_prompt(text, extractor, known_objects)


def sentences(scene):
    return [scene.sentence(relation) for relation in scene.relations]


def assert_words_are_in_place(scene):
    text = scene.prompt.text
    assert all(mention.span.of(text) == mention.phrase for mention in scene.mentions)
    assert all(relation.span is None or relation.span.of(text) for relation in scene.relations)


@pytest.mark.parametrize("text", ["", " \n", "c" * (MOST_CHARACTERS + 1)])
def test_an_empty_or_oversized_prompt_is_rejected(text):
    with pytest.raises(PromptError) as refused:
        read(text)
    assert refused.value.hint


def test_a_prompt_as_long_as_a_page_of_notes_is_read():
    text = "a unicorn left of a gremlin. ".ljust(MOST_CHARACTERS, "x")
    assert sentences(read(text)) == ["unicorn to the left of gremlin"]


CUP_ABOVE_DOG = "a cup above a dog"


class FaultyExtractor:
    """Returns an altered reading of the grammar."""

    id = "faulty"

    def __init__(self, alter):
        self._alter = alter

    def extract(self, prompt):
        return self._alter(extractor.extract(prompt))


def raise_key_error(scene):
    raise KeyError("cup")


UNREGISTERED = replace(ABOVE, id="over")
FAULTS = {
    "raises": (raise_key_error, "KeyError: 'cup'"),
    "no scene": (lambda scene: None, "it is a NoneType"),
    "other prompt": (
        lambda scene: replace(scene, prompt=Prompt(text="a dog")),
        "its prompt is another",
    ),
    "no relation": (lambda scene: replace(scene, notes=("a note",)), "is not a Note"),
    "mention twice": (lambda scene: replace(scene, mentions=scene.mentions * 2), "occurs twice"),
    "relation twice": (lambda scene: replace(scene, disputed=scene.relations), "occurs twice"),
    "invalid mentions": (lambda scene: replace(scene, mentions=None), "TypeError"),
    "type": (
        lambda scene: replace(scene, relations=(replace(scene.relations[0], type=UNREGISTERED),)),
        '"over" is not registered',
    ),
    "span": (
        lambda scene: replace(scene, notes=(Note(message="?", span=TextSpan(start=1, stop=99)),)),
        "ends beyond the prompt",
    ),
}


@pytest.mark.parametrize(("alter", "cause"), FAULTS.values(), ids=FAULTS)
def test_an_extractor_that_fails_is_named(alter, cause):
    with pytest.raises(PluginError) as caught:
        read_prompt(CUP_ABOVE_DOG, FaultyExtractor(alter))
    assert caught.value.message.startswith('The relation extractor "faulty" ')
    assert cause in caught.value.message


def test_without_a_list_of_objects_every_object_is_accepted():
    assert sentences(read("a unicorn left of a gremlin")) == ["unicorn to the left of gremlin"]


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("a kitten left of a car", ["cat", "car"]),
        ("two cats above a red car", ["cat", "car"]),
        ("a toy fire hydrant near a Kitten", ["fire hydrant", "cat"]),
    ],
)
def test_objects_get_the_names_of_the_model(text, heads):
    assert [mention.head for mention in read(text, KNOWN).mentions] == heads


def test_an_unknown_object_is_rejected_with_the_nearest_names_first():
    with pytest.raises(PromptError) as refused:
        read("a carxy left of a cat", KNOWN)
    assert refused.value.message == 'This model does not support "carxy".'
    assert refused.value.hint.startswith("It supports these 3 objects: car, cat")


def test_a_prompt_without_objects_is_rejected_where_objects_are_limited():
    with pytest.raises(PromptError, match="contains no object"):
        read("sunset, 4k", KNOWN)


@pytest.mark.parametrize(
    ("text", "new_type", "edited"),
    [
        ("A photo of a cat above a dog.", LEFT_OF, "A photo of a cat to the left of a dog."),
        ("Above the car stands a horse, oil", BEHIND, "Behind the car stands a horse, oil"),
        ("a cat between a dog and a car", NEAR, "a cat near a dog, with a car"),
        ("a cat on the left and a dog on the right", ABOVE, "a cat above a dog"),
    ],
)
def test_another_type_changes_the_words_as_well(text, new_type, edited):
    scene = with_relation_type(read(text), "r1", new_type)
    assert scene.prompt.text == edited
    assert scene.relations[0].type is new_type
    assert_words_are_in_place(scene)


def test_words_shared_by_two_relations_are_written_separately():
    scene = with_relation_type(read("a cat and a dog above a car"), "r2", BEHIND)
    assert scene.prompt.text == "a cat above a car, a dog behind the car"
    assert_words_are_in_place(scene)


def test_spans_after_a_changed_relation_are_shifted():
    scene = with_relation_type(read("a cat above a dog and behind a car"), "r1", LEFT_OF)
    assert scene.prompt.text == "a cat to the left of a dog and behind a car"
    assert scene.relations[1].span.of(scene.prompt.text) == "behind"
    assert_words_are_in_place(scene)


def test_between_needs_a_third_object():
    with pytest.raises(PromptError, match="needs a second object"):
        with_relation_type(read("a cat above a dog"), "r1", BETWEEN)


def test_an_added_relation_is_written_into_the_prompt():
    scene = with_relation_added(read("A photo of a cat and a dog"), LEFT_OF, "m1", "m2")
    assert scene.prompt.text == "A photo of a cat to the left of a dog"
    assert sentences(scene) == ["cat to the left of dog"]
    assert not scene.notes


def test_between_is_added_with_two_objects():
    scene = with_relation_added(read("a cat, a dog and a car"), BETWEEN, "m1", "m2", "m3")
    assert sentences(read(scene.prompt.text)) == ["cat between dog and car"]


def test_an_added_relation_takes_a_free_id():
    scene = read("a cat above a dog and left of a car")
    scene = with_relation_removed(scene, "r1")
    scene = with_relation_added(scene, BEHIND, "m2", "m3")
    assert sorted(relation.id for relation in scene.relations) == ["r1", "r2"]


def test_removing_a_relation_keeps_its_objects():
    scene = with_relation_removed(read("a cat above a dog"), "r1")
    assert scene.prompt.text == "a cat and a dog"
    assert_words_are_in_place(scene)


def test_editing_does_not_modify_the_original_scene():
    scene = read("a cat above a dog")
    with_relation_type(scene, "r1", LEFT_OF)
    assert sentences(scene) == ["cat above dog"]
