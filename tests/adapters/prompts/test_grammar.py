import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    ABOVE_RIGHT_OF,
    BEHIND,
    BELOW,
    BELOW_LEFT_OF,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Prompt,
    relation_types,
)
from tests.adapters.prompts.readings import claims, extractor, read

GOLDEN = Path(__file__).parents[2] / "golden" / "dataset_prompts.jsonl"
DATASET_ROWS = [json.loads(line) for line in GOLDEN.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("row", DATASET_ROWS, ids=lambda row: row["prompt"])
def test_benchmark_prompts_are_read_as_their_lists_claim(row):
    scene = read(row["prompt"])
    relation_type = relation_types[row["relation"]]
    assert claims(row["prompt"]) == [(row["subject"], relation_type, row["object"])]
    assert not scene.notes


@pytest.mark.parametrize(
    ("phrase", "relation_type"),
    [
        ("to the left of", LEFT_OF),
        ("on the left side of", LEFT_OF),
        ("slightly to the left of", LEFT_OF),
        ("on the right-hand side of", RIGHT_OF),
        ("over", ABOVE),
        ("on top of", ABOVE),
        ("directly above", ABOVE),
        ("on", ABOVE),
        ("under", BELOW),
        ("underneath", BELOW),
        ("is sitting beneath", BELOW),
        ("in front of", IN_FRONT_OF),
        ("partially hidden by", BEHIND),
        ("beside", NEAR),
        ("was parked close to", NEAR),
        ("far away from", FAR_FROM),
        ("above and to the left of", ABOVE_LEFT_OF),
        ("to the upper right of", ABOVE_RIGHT_OF),
        ("in the top left of", ABOVE_LEFT_OF),
        ("to the bottom-left of", BELOW_LEFT_OF),
        ("diagonally below and left of", BELOW_LEFT_OF),
    ],
)
def test_a_relation_phrase_is_read(phrase, relation_type):
    assert claims(f"a cat {phrase} a dog") == [("cat", relation_type, "dog")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "a cat to the left of a dog and above a lamp",
            [("cat", LEFT_OF, "dog"), ("cat", ABOVE, "lamp")],
        ),
        (
            "a cat left of a dog above a lamp",
            [("cat", LEFT_OF, "dog"), ("dog", ABOVE, "lamp")],
        ),
        (
            "a cat left of a dog, a lamp behind them",
            [("cat", LEFT_OF, "dog"), ("lamp", BEHIND, "cat"), ("lamp", BEHIND, "dog")],
        ),
        ("a cat and a dog left of a car", [("cat", LEFT_OF, "car"), ("dog", LEFT_OF, "car")]),
        ("a cat left of a dog and a lamp", [("cat", LEFT_OF, "dog"), ("cat", LEFT_OF, "lamp")]),
        (
            "a cat left of a dog and a lamp above a car",
            [("cat", LEFT_OF, "dog"), ("lamp", ABOVE, "car")],
        ),
        (
            "a dog in front of and to the left of a cat",
            [("dog", IN_FRONT_OF, "cat"), ("dog", LEFT_OF, "cat")],
        ),
        ("a cat between a dog and a lamp", [("cat", BETWEEN, "dog", "lamp")]),
        ("to the left of the car stands a horse", [("horse", LEFT_OF, "car")]),
        ("On the right of the lamp there is a clock.", [("clock", RIGHT_OF, "lamp")]),
        ("Behind the sofa, a lamp", [("lamp", BEHIND, "sofa")]),
        (
            "a cat left of a dog, which is above a lamp",
            [("cat", LEFT_OF, "dog"), ("dog", ABOVE, "lamp")],
        ),
        (
            "a cat left of a dog. It is above a lamp.",
            [("cat", LEFT_OF, "dog"), ("cat", ABOVE, "lamp")],
        ),
        ("a house with a tree behind it", [("tree", BEHIND, "house")]),
        (
            "a dog left of a car, above it a bird",
            [("dog", LEFT_OF, "car"), ("bird", ABOVE, "car")],
        ),
        ("a dog left of a cat who eats a fish", [("dog", LEFT_OF, "cat")]),
        ("a girl with a balloon next to a boy", [("girl", NEAR, "boy")]),
        ("a dog wearing a hat to the left of a cat", [("dog", LEFT_OF, "cat")]),
        ("a cat and a dog next to each other", [("cat", NEAR, "dog")]),
        ("a cat on the left and a dog on the right", [("cat", LEFT_OF, "dog")]),
        ("a cat to the left, a dog to the right", [("cat", LEFT_OF, "dog")]),
        ("a dog with a lamp to its left", [("lamp", LEFT_OF, "dog")]),
        (
            "a desk with a lamp on it and a cat beneath it",
            [("lamp", ABOVE, "desk"), ("cat", BELOW, "desk")],
        ),
        (
            "a dancer in front of a mirror and a pianist to her right",
            [("dancer", IN_FRONT_OF, "mirror"), ("pianist", RIGHT_OF, "dancer")],
        ),
        ("a cat and a dog, and a bird sits between them", [("bird", BETWEEN, "cat", "dog")]),
        ("a dog and a cat on either side of a car", [("car", BETWEEN, "dog", "cat")]),
        ("a cat and a dog side by side", [("cat", NEAR, "dog")]),
        ("a house with a tree behind", [("tree", BEHIND, "house")]),
        (
            "a cat behind a dog, with a hat above the dog",
            [("cat", BEHIND, "dog"), ("hat", ABOVE, "dog")],
        ),
        (
            "a bear with a fox on its left and a wolf on its right",
            [("fox", LEFT_OF, "bear"), ("wolf", RIGHT_OF, "bear")],
        ),
        (
            "a cat above a lake, behind which lies a forest",
            [("cat", ABOVE, "lake"), ("forest", BEHIND, "lake")],
        ),
        ("on either side of a car stand a dog and a cat", [("car", BETWEEN, "dog", "cat")]),
        ("she puts a cup to the left of a plate", [("cup", LEFT_OF, "plate")]),
        ("a man reads a book behind a desk", [("man", BEHIND, "desk")]),
        ("behind the house rises a hill", [("hill", BEHIND, "house")]),
        ("the left half shows a cat, the right half a dog", [("cat", LEFT_OF, "dog")]),
        (
            "a moon in the top left corner and a ship in the bottom right corner",
            [("moon", ABOVE_LEFT_OF, "ship")],
        ),
        (
            "from left to right: a cat, a dog and a car",
            [("cat", LEFT_OF, "dog"), ("dog", LEFT_OF, "car")],
        ),
        ("a cat and a dog, from top to bottom", [("cat", ABOVE, "dog")]),
        ("a spoon not far from a bowl", [("spoon", NEAR, "bowl")]),
        ("a dreamy oil painting, a cat above a dog", [("cat", ABOVE, "dog")]),
        ("a stained glass window depicting a cat above a dog", [("cat", ABOVE, "dog")]),
        ("a kitchen with a lamp above a table", [("lamp", ABOVE, "table")]),
        ("a man and a dog, where the man is left of the dog", [("man", LEFT_OF, "dog")]),
        ("an oil painting of a cat above a dog, highly detailed, 4k", [("cat", ABOVE, "dog")]),
        ("cat left of dog", [("cat", LEFT_OF, "dog")]),
        ("a dog to the left of itself", [("dog", LEFT_OF, "dog")]),
        ("A CAT LEFT OF A DOG", [("CAT", LEFT_OF, "DOG")]),
        ("a zebra and a giraffe, the zebra left of the giraffe", [("zebra", LEFT_OF, "giraffe")]),
    ],
)
def test_a_sentence_is_read(text, expected):
    assert claims(text) == expected


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("a dog to the left of a red and white bus", ["dog", "white bus"]),
        ("a dog to the left of a red, white and blue boat", ["dog", "blue boat"]),
        ("a big red and white bus to the left of a dog", ["big red and white bus", "dog"]),
    ],
)
def test_joined_colours_belong_to_one_object(text, phrases):
    scene = read(text)
    assert [mention.phrase for mention in scene.mentions] == phrases
    assert [relation.type for relation in scene.relations] == [LEFT_OF]


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("a red and a blue car", ["red", "blue car"]),
        ("a red, a blue and a green car", ["red", "blue", "green car"]),
        ("two blue and three red cars", ["two blue", "three red cars"]),
        ("the small red and the large blue car", ["small red", "large blue car"]),
    ],
)
def test_joined_phrases_share_their_noun(text, phrases):
    mentions = read(text).mentions
    assert [mention.phrase for mention in mentions] == phrases
    assert {mention.head for mention in mentions} == {"car"}
    assert [mention.is_plural for mention in mentions] == [
        each.startswith(("two", "three")) for each in phrases
    ]


def test_a_shared_noun_is_related_with_each_phrase():
    scene = read("a red and a blue car to the left of a dog")
    ends = [tuple(scene.mention(end).phrase for end in each.ends) for each in scene.relations]
    assert ends == [("red", "dog"), ("blue car", "dog")]


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("an orange and a green apple", ["orange", "apple"]),
        ("a red, and then a cat", ["cat"]),
        ("a red on a blue car", ["car"]),
        ("two bears, one brown and one white, the brown one above the white one", ["bear"] * 3),
    ],
)
def test_only_joined_colours_sizes_and_numbers_share_a_noun(text, heads):
    assert [mention.head for mention in read(text).mentions] == heads


def test_colours_of_two_objects_are_not_joined():
    assert [each.phrase for each in read("a red car and a white dog").mentions] == [
        "red car",
        "white dog",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a left-handed man and a dog",
        "the left hand of a man",
        "left over pizza and a dog",
        "a man in a top hat",
        "a cat not to the left of a dog",
        "a cat that is not above a dog",
        "a cat isn't behind a dog",
        "a house under construction",
        "a cat on fire",
        "a cat painted by Monet",
        "behind the scenes of a circus",
        "a man over sixty with a cane",
        "no cat is on the table",
        "a lamp and a sofa, neither above the other",
        "a man looking to the left and a dog looking to the right",
        "a cat under a starry sky",
        "a man on the right foot",
    ],
)
def test_false_friends_and_denials_claim_nothing(text):
    assert claims(text) == []


@pytest.mark.parametrize(
    ("text", "heads", "attributes"),
    [
        ("two red fire hydrants", ["fire hydrant"], [("red",)]),
        ("a hot dog", ["hot dog"], [()]),
        ("children and mice", ["child", "mouse"], [(), ()]),
        ("a garden gnome", ["garden gnome"], [()]),
        ("three gremlins", ["gremlin"], [()]),
        ("a small gremlin jumping", ["gremlin"], [("small",)]),
        ("three zombies", ["zombie"], [()]),
        ("a virus", ["virus"], [()]),
        ("a pair of scissors", ["scissors"], [()]),
        ("a steaming coffee mug", ["coffee mug"], [("steaming",)]),
        ("a rickety delivery van", ["delivery van"], [("rickety",)]),
        ("a tall, slender vase", ["vase"], [("tall", "slender")]),
        ("a lemonade stand behind a bus stop", ["lemonade stand", "bus stop"], [(), ()]),
        ("a man and a woman stand by a car", ["man", "woman", "car"], [(), (), ()]),
        ("a snow-capped mountain", ["mountain"], [("snow-capped",)]),
        ("two glasses", ["glass"], [()]),
        ("a glass of orange juice", ["glass"], [()]),
        ("a red cup and a blue one", ["cup", "cup"], [("red",), ("blue",)]),
        ("gremlins above ogres", ["gremlin", "ogre"], [(), ()]),
    ],
)
def test_heads_are_singular_and_keep_their_attributes(text, heads, attributes):
    scene = read(text)
    assert [mention.head for mention in scene.mentions] == heads
    assert [mention.attributes for mention in scene.mentions] == attributes


def test_the_users_own_objects_are_known(tmp_path):
    own = tmp_path / "objects.txt"
    own.write_text("Zorb\nflux gate\n\n")
    grammar = GrammarExtractor(resources_folder() / "prompts", own)
    scene = grammar.extract(Prompt(text="shiny zorbs on flux gates"))
    assert [mention.head for mention in scene.mentions] == ["zorb", "flux gate"]
    assert [relation.type for relation in scene.relations] == [ABOVE]


@pytest.mark.parametrize("name", ["broken.txt", "missing.txt"])
def test_an_unreadable_list_of_objects_is_ignored(tmp_path, name):
    (tmp_path / "broken.txt").write_bytes(b"\xff\xfe\xff")
    grammar = GrammarExtractor(resources_folder() / "prompts", tmp_path / name)
    assert grammar.extract(Prompt(text="a cat above a dog")).relations


def test_spans_cover_their_words():
    text = "A photo of a big red cup directly above two dogs."
    scene = read(text)
    assert [mention.span.of(text) for mention in scene.mentions] == ["big red cup", "two dogs"]
    assert [relation.span.of(text) for relation in scene.relations] == ["directly above"]


def test_ids_count_up_in_the_order_of_the_text():
    scene = read("to the left of a car stands a horse, above a lamp")
    assert [(mention.id, mention.head) for mention in scene.mentions] == [
        ("m1", "car"),
        ("m2", "horse"),
        ("m3", "lamp"),
    ]
    assert [relation.id for relation in scene.relations] == ["r1", "r2"]


def test_equal_nouns_are_different_objects():
    scene = read("a dog left of a dog")
    assert [(relation.subject, relation.object) for relation in scene.relations] == [("m1", "m2")]


def test_the_definite_article_refers_to_the_object_with_matching_attributes():
    scene = read("a red cup left of a blue cup, the red cup above a plate")
    assert [relation.subject for relation in scene.relations] == ["m1", "m1"]


@pytest.mark.parametrize(
    ("text", "message", "words"),
    [
        ("a cat not left of a dog", 'I do not understand "not left of".', "not left of"),
        ("a cat above", 'I do not understand "above".', "above"),
        ("a table without a lamp", 'I do not understand "without a lamp".', "without a lamp"),
        ("a cat flanked by a dog", 'Name both objects after "flanked by".', "flanked by"),
        ("above a dog", 'I do not see what is "above".', "above"),
        ("a cat above it", 'I do not know what "it" stands for.', "it"),
        ("a cat above a dog, a lamp below it", 'I read "it" as "dog".', "it"),
        (
            "a cat in a sunny garden",
            'I read "in a sunny garden" as a setting, not as an object.',
            "in a sunny garden",
        ),
        ("a girafe above a dog", 'I read "girafe" as "giraffe".', "girafe"),
        ("a cat on the left", 'There is nothing opposite to "on the left".', "on the left"),
    ],
)
def test_unread_words_are_reported(text, message, words):
    notes = {note.message: note.span for note in read(text).notes}
    assert notes[message].of(text) == words


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a cat and a dog", 'I found "cat" and "dog", but no relation between them.'),
        ("a cat, a dog, a bird", 'I found "cat", "dog" and "bird", but no relation between them.'),
        ("a cat left of a dog in a box", 'I found "box", but no relation for it.'),
        ("4k, sunset", "I found no object in this prompt."),
    ],
)
def test_objects_without_a_relation_are_reported(text, message):
    assert message in [note.message for note in read(text).notes]


@pytest.mark.parametrize(
    "text",
    ["a cat\nto the left of\na dog", "a cat to the\nleft of a\ndog", "a cat left of\n\na dog"],
)
def test_a_clause_may_span_several_lines(text):
    assert claims(text) == [("cat", LEFT_OF, "dog")]


@pytest.mark.parametrize("text", ["a cat left of a dog\na bird", "A cat left of a dog\nA bird"])
def test_a_line_may_be_a_clause(text):
    assert claims(text + " above a tree") == [("cat", LEFT_OF, "dog"), ("bird", ABOVE, "tree")]


@pytest.mark.parametrize("text", ["", "  \n "])
def test_an_empty_prompt_is_rejected_with_an_example(text):
    with pytest.raises(PromptError, match="empty") as refused:
        read(text)
    assert "a cat to the left of a dog" in refused.value.hint


WORDS = [
    *("cat", "dogs", "unicorn", "red", "a", "the", "it", "them", "and", ",", ".", "not", "with"),
    *(
        "left of",
        "above",
        "between",
        "on",
        "on the left",
        "next to",
        "each other",
        "is",
        "which is",
    ),
]


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join))
def test_any_sequence_of_spatial_words_is_read_without_an_error(text):
    scene = read(text)
    assert all(mention.span.of(text) == mention.phrase for mention in scene.mentions)


@given(st.text(string.printable + "äß中文😀", min_size=1).filter(str.strip))
def test_any_text_is_read_without_an_error(text):
    scene = read(text)
    assert all(mention.span.of(text) == mention.phrase for mention in scene.mentions)


def test_everyday_objects_are_listed_before_rarer_ones():
    names = extractor.object_names
    assert names.index("cat") < names.index("catapult")
    assert len(names) == len(set(names)) > 1000
