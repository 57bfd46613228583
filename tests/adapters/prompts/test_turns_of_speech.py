"""Distances, compound names and subordinate clauses."""

import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
)
from tests.adapters.prompts.readings import claims, notes, read


@pytest.mark.parametrize("name", ["top hat", "top shelf", "bottom drawer", "right wing"])
def test_names_that_contain_spatial_words_are_one_object(name):
    scene = read(f"a cat next to a {name}")

    assert [mention.is_plural for mention in scene.mentions] == [False, False]
    assert not claims(f"a cat between a {name}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a cat three feet to the left of a dog", [("cat", LEFT_OF, "dog")]),
        ("a bird a few meters above a car", [("bird", ABOVE, "car")]),
        ("a drone 3 m above a car", [("drone", ABOVE, "car")]),
        ("a cat 2.5 meters to the left of a dog", [("cat", LEFT_OF, "dog")]),
        ("The mug is 10 cm to the right of the plate", [("mug", RIGHT_OF, "plate")]),
        ("a dog two steps behind a man", [("dog", BEHIND, "man")]),
        ("a lamp about half a meter above a table", [("lamp", ABOVE, "table")]),
        ("a ball five inches below a shelf", [("ball", BELOW, "shelf")]),
        ("Two miles behind a car, a truck", [("truck", BEHIND, "car")]),
    ],
)
def test_distances_are_no_objects(text, expected):
    assert claims(text) == expected
    assert not notes(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("two feet next to a shoe", [("two feet", NEAR, "shoe")]),
        ("two feet under a blanket", [("two feet", BELOW, "blanket")]),
        ("a house with three steps below it", [("three steps", BELOW, "house")]),
    ],
)
def test_feet_and_steps_may_be_objects(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize("word", ["who", "which"])
def test_relative_clauses_refer_to_the_object_before_their_comma(word):
    text = f"A cat is left of a dog, {word} is behind a tree"

    assert claims(text) == [("cat", LEFT_OF, "dog"), ("dog", BEHIND, "tree")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a cat sleeps under the table when the dog is next to the door",
            [("cat", BELOW, "table"), ("dog", NEAR, "door")],
        ),
        (
            "A boy waits beside a bus until a girl stands in front of it",
            [("boy", NEAR, "bus"), ("girl", IN_FRONT_OF, "bus")],
        ),
        (
            "A boy waits beside a bus, till a girl stands in front of it",
            [("boy", NEAR, "bus"), ("girl", IN_FRONT_OF, "bus")],
        ),
        (
            "a bird above a tree since a cat is below it",
            [("bird", ABOVE, "tree"), ("cat", BELOW, "tree")],
        ),
        (
            "a cat sits next to a bowl before the dog lies under a table",
            [("cat", NEAR, "bowl"), ("dog", BELOW, "table")],
        ),
        ("a cat on a roof until dawn", [("cat", ABOVE, "roof")]),
        ("a man kneels before a shrine", [("man", IN_FRONT_OF, "shrine")]),
        ("before a mirror stands a cat", [("cat", IN_FRONT_OF, "mirror")]),
    ],
)
def test_conjunctions_start_a_clause(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize("word", ["is", "was"])
def test_over_in_the_sense_of_ended_is_no_relation(word):
    text = f"a child plays before the game {word} over"

    assert not claims(text)
    assert not any("understand" in note for note in notes(text))


def test_people_who_do_something_are_objects():
    text = "a street with people waiting on a bench next to a bus stop"

    assert claims(text) == [("people", ABOVE, "bench"), ("bench", NEAR, "bus stop")]


@pytest.mark.parametrize(
    "opening",
    ["A view from above of", "a photo taken from a low angle of", "a view from below of"],
)
def test_viewpoints_are_style(opening):
    assert claims(f"{opening} a boat next to a dock") == [("boat", NEAR, "dock")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("On top of the world, a cat next to a dog", [("cat", NEAR, "dog")]),
        ("a boy on his way home beside a fence", [("boy", NEAR, "fence")]),
        (
            "friends chat over a cup of coffee beside a window",
            [("friends", NEAR, "window")],
        ),
        (
            "a balloon with an island beneath it and a ship to the east",
            [("island", BELOW, "balloon")],
        ),
        (
            "a house with a tree behind it and a car to the side",
            [("tree", BEHIND, "house")],
        ),
    ],
)
def test_positions_without_an_object_claim_nothing(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("an island and a ship to the east", "to the east"),
        ("photo of a cat left to a dog", "left to"),
        ("a beach with seagulls overhead", "overhead"),
        ("A boat sails beyond the island", "beyond"),
        ("a cat neither above nor below a dog", "neither above nor below"),
    ],
)
def test_unread_words_are_named_once(text, words):
    assert not claims(text)
    assert [note for note in notes(text) if not note.startswith("I found")] == [
        f'I do not understand "{words}".'
    ]


def test_a_negation_of_both_keeps_both_objects():
    scene = read("Neither the spade nor the hoe is next to the shed.")

    assert [mention.head for mention in scene.mentions] == ["spade", "hoe", "shed"]


@pytest.mark.parametrize("side", ["by his side", "at her side", "beside her feet"])
def test_the_side_of_a_person_refers_to_the_person(side):
    assert claims(f"a person with a dog {side}") == [("dog", NEAR, "person")]


def test_immediate_left_is_left():
    assert claims("a cat to the immediate left of a dog") == [("cat", LEFT_OF, "dog")]
    assert not notes("a cat to the immediate left of a dog")


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("two chairs face a table", ["chair", "table"]),
        ("a table; a pair of armchairs face it", ["table", "armchair"]),
    ],
)
def test_plural_verbs_are_no_names(text, heads):
    assert [mention.head for mention in read(text).mentions] == heads


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a stage with a band standing behind a piano", [("band", BEHIND, "piano")]),
        ("a stage with a band or a choir standing behind a piano", []),
        ("a cart with a horse grazing beside a barn", [("horse", NEAR, "barn")]),
        ("a man with a hat standing behind a piano", [("man", BEHIND, "piano")]),
        ("a man with a dog standing behind a piano", [("man", BEHIND, "piano")]),
    ],
)
def test_modal_verbs_keep_the_subject(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    "aside",
    [
        *("believe it or not", "would you believe it", "could you imagine that"),
        *("as you can see", "though nobody knows why", "needless to say"),
    ],
)
def test_parenthetical_remarks_claim_nothing(aside):
    text = f"Behind the tower, {aside}, are three shuttles."

    assert claims(text) == [("three shuttles", BEHIND, "tower")]


@pytest.mark.parametrize("trait", ["tough", "chubby", "pricey"])
def test_on_the_tough_side_is_no_relation(trait):
    assert not claims(f"a steak on the {trait} side")
    assert claims(f"a steak on the {trait} side next to a knife") == [("steak", NEAR, "knife")]
