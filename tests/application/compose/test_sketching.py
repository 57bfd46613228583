from math import dist

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.layouts import (
    BLOB_SIDE,
    after_adding,
    after_removing,
    arranged,
    free_place,
    named_in,
    places_for,
    targets_named,
)
from spatialstudio.application.compose.read_prompt import read_prompt, read_thing
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.errors import PromptError, RequestError
from spatialstudio.domain.run_settings import SketchedPlaces

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
def test_a_new_object_is_related_to_its_neighbour(name, place, said):
    scene, places, new = added("a dog to the left of a car", name, place)
    assert scene.prompt.text == said
    assert places[new] == place


def test_a_style_stays_after_the_new_object():
    scene, _, new = added("a photo of a dog to the left of a car, oil on canvas", "cat", (0.3, 0.9))
    assert scene.prompt.text.startswith("a photo of a dog")
    assert scene.prompt.text.endswith("a cat below the dog, oil on canvas")
    assert scene.mention(new).span.of(scene.prompt.text) == "cat"


def test_a_second_object_of_the_same_name_is_a_new_one():
    scene, _, new = added("a dog to the left of a car", "dog", (0.27, 0.9))
    assert [mention.head for mention in scene.mentions].count("dog") == 2
    assert scene.relations[-1].ends[0] == new


@pytest.mark.parametrize("name", ["a cat and a dog", "a cat on a table", "  "])
def test_a_name_of_no_single_object_is_rejected(name):
    with pytest.raises(PromptError):
        read_thing(name, extractor)


@pytest.mark.parametrize("name", ["zzgloop", "of"])
def test_a_name_without_an_object_is_rejected_as_a_name(name):
    with pytest.raises(PromptError, match="is not the name of one object"):
        read_thing(name, extractor, {"cat": "cat"})


def test_the_free_place_overlaps_no_object():
    assert free_place({}) == (0.5, 0.5)
    others = {"m1": (0.5, 0.5), "m2": (0.2, 0.5)}
    place = free_place(others)
    assert min(dist(place, other) for other in others.values()) >= 1.25 * BLOB_SIDE


def test_without_a_free_place_the_farthest_one_is_used():
    others = {f"m{x}{y}": (x / 10, y / 10) for x in range(0, 11, 2) for y in range(0, 11, 2)}
    place = free_place(others)
    assert min(dist(place, other) for other in others.values()) == pytest.approx(0.2**0.5 / 10**0.5)


@pytest.mark.parametrize(
    ("text", "gone", "said"),
    [
        ("a cat above a dog to the left of a car", "m1", "a dog to the left of a car"),
        ("a cat above a dog to the left of a car", "m2", "a cat and a car"),
        ("a cat between a dog and a car", "m3", "a cat and a dog"),
        ("a cat, a dog, oil on canvas", "m1", "a dog, oil on canvas"),
        ("a photo of a cat and a dog, oil on canvas", "m2", "a photo of a cat, oil on canvas"),
        (
            "a dog to the left of a cup, a cat above the second cup",
            "m2",
            "a cat above a cup, with a dog",
        ),
    ],
)
def test_an_object_is_removed_with_its_relations_and_words(text, gone, said):
    scene = read_prompt(text, extractor)
    places = arranged(scene, {})
    left, kept = after_removing(scene, places, gone)
    assert left.prompt.text == said
    assert kept == {name: place for name, place in places.items() if name != gone}
    again = read_prompt(said, extractor)
    assert [each.phrase for each in again.mentions] == [each.phrase for each in left.mentions]


def test_an_object_is_named_after_the_prompt():
    assert named_in("", read_thing("apple", extractor)) == "an apple"
    assert named_in("at night ", read_thing("two cats", extractor)).startswith("at night, ")


TWO_DOGS = "a small dog to the left of a big dog, a cat above the big dog"


@pytest.mark.parametrize(
    ("name", "phrase"),
    [("cat", "cat"), ("Small Dog", "small dog"), ("m3", "cat"), (" cat ", "cat")],
)
def test_a_place_is_given_by_phrase_noun_or_id(name, phrase):
    scene = read_prompt(TWO_DOGS, extractor)
    (target,) = targets_named(scene, {name: (0.2, 0.7)})
    assert scene.mention(target.mention_id).phrase == phrase
    assert (target.x, target.y, target.size) == (0.2, 0.7, None)


def test_a_place_may_have_a_size():
    (target,) = targets_named(read_prompt("a cat", extractor), {"cat": (0.2, 0.7, 0.4)})
    assert target.size == 0.4


@pytest.mark.parametrize(
    ("places", "message", "hint"),
    [
        ({"bird": (0.1, 0.1)}, 'does not mention "bird"', '"small dog", "big dog", "cat"'),
        ({"dog": (0.1, 0.1)}, '"dog" names 2 objects', '"small dog" is m1'),
        ({"cat": (0.1,)}, 'The place of "cat" has 1 numbers', "x, y and"),
    ],
)
def test_a_place_of_no_single_object_is_rejected(places, message, hint):
    with pytest.raises(RequestError, match=message) as caught:
        targets_named(read_prompt(TWO_DOGS, extractor), places)
    assert hint in caught.value.hint


def test_places_follow_their_objects_into_another_reading():
    before, after = (read_prompt(each, extractor) for each in ("a cat, a dog", "a dog, a bird"))
    targets = targets_named(before, {"cat": (0.1, 0.2), "dog": (0.3, 0.4)})
    carried = places_for(after, SketchedPlaces(targets=targets, weight=0.5), before)
    assert carried == SketchedPlaces(targets=targets_named(after, {"dog": (0.3, 0.4)}), weight=0.5)
