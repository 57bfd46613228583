import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.adapters.prompts.language_model import anchor
from spatialstudio.adapters.prompts.model_answers import AnsweredRelation, ModelAnswer
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import Basis, Prompt, relation_types

GRAMMAR = GrammarExtractor(resources_folder() / "prompts")


def anchored(text, *rows):
    """Anchor rows of subject, relation, object, quoted words."""
    claimed = tuple(
        AnsweredRelation(
            subject=subject,
            type=relation_types[kind],
            objects=tuple(thing.split(" and ")),
            words=words,
        )
        for subject, kind, thing, words in rows
    )
    read = GRAMMAR.extract(Prompt(text=text))
    return anchor(ModelAnswer(relations=claimed), read, GRAMMAR.cut(text), "llm")


def sentences(scene, relations):
    return [scene.sentence(relation) for relation in relations]


def places(scene):
    """Tell where the ends of each relation start, and where the words that claim it."""
    starts = {mention.id: mention.span.start for mention in scene.mentions}
    return [
        (*(starts[end] for end in relation.ends), relation.span and relation.span.start)
        for relation in scene.relations
    ]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a dog to the left of a dog", ("dog", "left_of", "dog", "to the left of")),
        ("a cat next to another cat", ("cat", "near", "another cat", "next to")),
        ("a big cup next to a small cup", ("cup", "near", "small cup", "next to")),
        ("two cats on a sofa, a cat under it", ("cat", "below", "sofa", "under")),
        ("two cats, one above the other", ("one", "above", "other", "above")),
        ("two cats, one above the other", ("cat", "above", "cat", "above")),
        ("two cats next to each other", ("cats", "near", "cats", "next to")),
        ("an owl above a hut, an owl above a mill", ("owl", "above", "mill", "above")),
        ("an owl above a hut, an owl above a hut", ("owl", "above", "hut", "")),
    ],
)
def test_the_grammar_decides_which_of_equal_objects_is_meant(text, row):
    scene, read = anchored(text, row), GRAMMAR.extract(Prompt(text=text))
    assert scene.mentions == read.mentions
    assert places(scene)[0] in places(read)
    assert len(scene.relations) == 1
    assert scene.relations[0].type.id == row[1]


def test_each_of_two_equal_claims_gets_its_own_words():
    text = "a cat to the left of a dog, a bird to the left of a fox"
    rows = [
        ("cat", "left_of", "dog", "to the left of"),
        ("bird", "left_of", "fox", "to the left of"),
    ]
    assert places(anchored(text, *rows)) == [(2, 23, 6), (30, 52, 35)]


def test_a_claim_stated_twice_is_anchored_twice():
    text = "a cat on a cat on a cat"
    assert places(anchored(text, *[("cat", "above", "cat", "on")] * 3)) == [
        (2, 11, 6),
        (11, 20, 15),
    ]


def test_without_the_grammar_the_nearest_object_is_meant():
    text = "a cat frowns at a dog while a cat frowns at a bird"
    rows = [("cat", "behind", "bird", "frowns at"), ("cat", "behind", "dog", "frowns at")]
    assert places(anchored(text, *rows)) == [(30, 46, 34), (2, 18, 6)]


def test_without_words_equal_objects_are_still_distinguished():
    assert places(anchored("a dog, a dog", ("dog", "behind", "dog", ""))) == [(2, 9, None)]


def test_an_object_is_never_related_to_itself():
    scene = anchored("a dog in the rain", ("dog", "left_of", "dog", "in"))
    assert scene.relations == ()
    assert 'relates "dog" to itself' in scene.notes[0].message


def test_a_name_inside_a_known_object_means_that_object():
    scene = anchored("a small fire hydrant near a car", ("small", "left_of", "car", ""))
    assert [mention.phrase for mention in scene.mentions] == ["small fire hydrant", "car"]
    assert places(scene) == [(2, 28, None)]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a cat above a dog", ("cat", "below", "dog", "above")),
        ("a cat above a dog", ("dog", "above", "cat", "above")),
        ("a cat above a dog", ("cat", "left_of", "dog", "above")),
        ("a cat above a dog", ("cat", "below", "dog", "a cat above a dog")),
        ("a cat above a dog", ("cat", "below", "dog", "")),
        ("a cat above a dog", ("cat", "below", "dog", "underneath")),
        ("below a cat sits a dog", ("dog", "above", "cat", "below")),
        ("a cat to the left of a dog", ("cat", "right_of", "dog", "to the left of")),
        ("a cat to the right of a dog", ("dog", "right_of", "cat", "right of")),
        ("a cat in front of a dog", ("cat", "behind", "dog", "in front of")),
        ("a cat near a dog", ("cat", "far_from", "dog", "near")),
        ("a cat far from a dog", ("cat", "near", "dog", "far from")),
        ("a cat between a dog and a car", ("dog", "between", "cat and car", "between")),
        ("a cat above and to the left of a dog", ("cat", "right_of", "dog", "to the left of")),
        ("a cat, a dog, a car from left to right", ("car", "left_of", "cat", "from left to right")),
    ],
)
def test_a_claim_that_the_words_contradict_is_disputed_and_the_words_stay(text, row):
    scene, read = anchored(text, row), GRAMMAR.extract(Prompt(text=text))
    (claim,) = scene.disputed
    assert (claim.type.id, claim.basis is Basis.STATED) == (row[1], False)
    assert sentences(scene, scene.relations) == sentences(read, read.relations)
    assert {relation.source for relation in scene.relations} == {"grammar"}


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a cat not above a dog", ("cat", "above", "dog", "above")),
        ("a cat is never to the left of a dog", ("cat", "left_of", "dog", "to the left of")),
        ("a cat isn't near a dog", ("cat", "near", "dog", "near")),
    ],
)
def test_a_claim_that_the_prompt_denies_is_disputed(text, row):
    scene = anchored(text, row)
    assert (len(scene.disputed), scene.relations) == (1, ())


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("a cat above a dog", ("dog", "below", "cat", "above")),
        ("a cat above a dog", ("dog", "below", "cat", "")),
        ("a cat to the left of a dog", ("dog", "right_of", "cat", "left of")),
        ("a cat behind a dog", ("dog", "in_front_of", "cat", "behind")),
        ("a cat near a dog", ("dog", "near", "cat", "near")),
        ("a cat between a dog and a car", ("cat", "between", "car and dog", "between")),
        ("below a cat sits a dog", ("cat", "above", "dog", "below")),
        ("a cat above and to the left of a dog", ("cat", "above", "dog", "above")),
        ("a cat, a dog, a car from left to right", ("cat", "left_of", "car", "left to right")),
    ],
)
def test_the_inverse_claim_counts_as_stated(text, row):
    scene = anchored(text, row)
    assert scene.disputed == ()
    assert [relation.basis for relation in scene.relations] == [Basis.STATED]


@pytest.mark.parametrize(
    ("text", "row"),
    [
        ("eine Katze über einem Hund", ("Katze", "below", "Hund", "über")),
        ("un chat à gauche d'un chien", ("chat", "right_of", "chien", "à gauche d'un")),
        ("a cat frowns at a dog", ("cat", "behind", "dog", "frowns at")),
    ],
)
def test_words_unknown_to_the_grammar_confirm_nothing(text, row):
    scene = anchored(text, row)
    assert scene.disputed == ()
    assert [relation.basis for relation in scene.relations] == [Basis.UNCONFIRMED]


@pytest.mark.parametrize(
    ("kind", "disputed"), [("below", 0), ("above", 1)], ids=["as written", "reversed"]
)
def test_words_skipped_by_the_grammar_are_compared_as_well(kind, disputed):
    text = "a cat or a glorp beneath a dog, a zorp or a bat"
    scene = anchored(text, ("glorp", kind, "dog", "beneath"))
    assert len(scene.disputed) == disputed


def test_a_claim_shows_its_own_words_not_those_of_another():
    text = "a cat above a dog, a bird below a tree"
    (relation,) = anchored(text, ("cat", "above", "dog", "below")).relations
    assert relation.span.of(text) == "above"
