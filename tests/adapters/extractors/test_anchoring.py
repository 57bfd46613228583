import pytest

from spatialstudio.adapters.extractors.anchoring import anchor
from spatialstudio.adapters.extractors.grammar import GrammarExtractor
from spatialstudio.adapters.extractors.model_answers import AnsweredRelation, ModelAnswer
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import relation_types

GRAMMAR = GrammarExtractor(resources_folder() / "prompts")


def anchored(text, *rows):
    """Anchor rows of subject, relation, object, quoted words."""
    claimed = tuple(
        AnsweredRelation(subject=subject, type=relation_types[kind], objects=(thing,), words=words)
        for subject, kind, thing, words in rows
    )
    return anchor(ModelAnswer(relations=claimed), GRAMMAR.extract(Prompt(text=text)), "llm")


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
def test_what_the_grammar_reads_tells_which_of_equal_things_are_meant(text, row):
    scene, read = anchored(text, row), GRAMMAR.extract(Prompt(text=text))
    assert scene.mentions == read.mentions
    assert places(scene)[0] in places(read)
    assert len(scene.relations) == 1
    assert scene.relations[0].type.id == row[1]


def test_each_of_equal_claims_gets_words_of_its_own():
    text = "a cat to the left of a dog, a bird to the left of a fox"
    rows = [
        ("cat", "left_of", "dog", "to the left of"),
        ("bird", "left_of", "fox", "to the left of"),
    ]
    assert places(anchored(text, *rows)) == [(2, 23, 6), (30, 52, 35)]


def test_a_claim_that_is_made_twice_is_anchored_twice():
    text = "a cat on a cat on a cat"
    assert places(anchored(text, *[("cat", "above", "cat", "on")] * 3)) == [
        (2, 11, 6),
        (11, 20, 15),
    ]


def test_without_the_grammar_what_stands_nearest_to_the_words_is_meant():
    text = "a cat frowns at a dog while a cat frowns at a bird"
    rows = [("cat", "behind", "bird", "frowns at"), ("cat", "behind", "dog", "frowns at")]
    assert places(anchored(text, *rows)) == [(30, 46, 34), (2, 18, 6)]


def test_without_words_equal_things_are_still_told_apart():
    assert places(anchored("a dog, a dog", ("dog", "behind", "dog", ""))) == [(2, 9, None)]


def test_one_thing_is_never_set_against_itself():
    scene = anchored("a dog in the rain", ("dog", "left_of", "dog", "in"))
    assert scene.relations == ()
    assert 'sets "dog" against itself' in scene.notes[0].message


def test_a_name_inside_a_thing_that_is_known_means_that_thing():
    scene = anchored("a small fire hydrant near a car", ("small", "left_of", "car", ""))
    assert [mention.phrase for mention in scene.mentions] == ["small fire hydrant", "car"]
    assert places(scene) == [(2, 28, None)]
