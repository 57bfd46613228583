from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.edit_relations import (
    keep_hand,
    why,
    with_mention_weighed,
    with_relation_at,
    with_relation_end,
    with_relation_muted,
    with_relation_swapped,
    with_relation_weight,
)
from spatialstudio.application.compose.read_prompt import (
    read_prompt,
    with_relation_added,
    with_relation_type,
)
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import (
    ABOVE,
    BETWEEN,
    Basis,
)

extractor = GrammarExtractor(resources_folder() / "prompts")

THREE = "a cat to the left of a dog, with a car"
TWO_CLAIMS = "a cat to the left of a dog and above a car"


def read(text):
    return read_prompt(text, extractor)


def sentences(scene):
    return [scene.sentence(relation) for relation in scene.relations]


def test_swapping_inverts_the_relation_in_scene_and_prompt():
    scene = with_relation_swapped(read("a cat to the left of a dog"), "r1")
    assert sentences(scene) == sentences(read(scene.prompt.text)) == ["dog to the left of cat"]


@pytest.mark.parametrize(
    ("place", "mention", "expected"),
    [
        (0, "m3", "car to the left of dog"),
        (1, "m3", "cat to the left of car"),
        (1, "m1", "dog to the left of cat"),
    ],
    ids=["the subject", "the object", "onto the other end"],
)
def test_an_end_is_attached_to_another_object(place, mention, expected):
    scene = with_relation_end(read(THREE), "r1", place, mention)
    assert sentences(scene) == sentences(read(scene.prompt.text)) == [expected]


def test_an_unchanged_end_changes_nothing():
    scene = read(THREE)
    assert with_relation_end(scene, "r1", 0, "m1") is scene


@pytest.mark.parametrize(("asked", "got"), [(2.0, 2.0), (9.0, 4.0), (0.01, 0.25)])
def test_a_weight_stays_in_its_range_and_leaves_the_prompt(asked, got):
    scene = with_relation_weight(read(THREE), "r1", asked)
    assert (scene.relations[0].weight, scene.prompt.text) == (got, THREE)


def test_weighting_an_object_weights_its_relations():
    scene = with_mention_weighed(read(TWO_CLAIMS), "m2", 1)
    assert [relation.weight for relation in scene.relations] == [2.0, 1.0]


def test_a_relation_is_muted_and_unmuted():
    muted = with_relation_muted(read(THREE), "r1", True)
    assert muted.relations[0].is_muted
    assert with_relation_muted(muted, "r1", False) == read(THREE)


@pytest.mark.parametrize(
    ("place", "order"), [(0, ["r2", "r1"]), (-1, ["r2", "r1"]), (9, ["r1", "r2"])]
)
def test_a_relation_takes_another_rank(place, order):
    scene = with_relation_at(read(TWO_CLAIMS), "r2", place)
    assert [relation.id for relation in scene.relations] == order
    assert scene.prompt.text == TWO_CLAIMS


def test_weights_survive_another_reading():
    before = with_relation_muted(with_relation_weight(read(TWO_CLAIMS), "r2", 2.0), "r1", True)
    after = keep_hand(read("a photo of a cat to the left of a dog and above a car"), before)
    assert [(each.weight, each.is_muted) for each in after.relations] == [(1.0, True), (2.0, False)]


def names(scene):
    return {mention.phrase: mention.id for mention in scene.mentions}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a dog to the right of a cat", {"dog": "m2", "cat": "m1"}),
        ("a bird and a cat to the left of a dog", {"bird": "m3", "cat": "m1", "dog": "m2"}),
        ("a cat to the left of a red dog", {"cat": "m1", "red dog": "m2"}),
        ("a dog to the left of a bird", {"dog": "m2", "bird": "m1"}),
        ("a lamp to the left of a dog", {"lamp": "m1", "dog": "m2"}),
    ],
)
def test_objects_keep_their_ids_after_another_reading(text, expected):
    before = read("a cat to the left of a dog")
    after = keep_hand(read(text), before)
    assert names(after) == expected
    known = {mention.id for mention in after.mentions}
    assert all(known.issuperset(relation.ends) for relation in after.relations)


def test_two_objects_of_one_name_keep_their_ids():
    before = read("a cat to the left of a cat")
    after = keep_hand(read("a red lamp above a cat to the left of a cat"), before)
    assert [mention.id for mention in after.mentions] == ["m3", "m1", "m2"]


def test_another_claim_has_default_settings():
    before = with_relation_weight(read("a cat left of a dog"), "r1", 2.0)
    assert keep_hand(read("a cat above a dog"), before).relations[0].weight == 1.0


def test_the_first_reading_keeps_nothing():
    assert keep_hand(read(THREE), None) == read(THREE)


def test_between_takes_the_third_object_as_its_second_flank():
    scene = with_relation_type(read(THREE), "r1", BETWEEN)
    assert sentences(scene) == ["cat between dog and car"]


def test_the_reason_names_words_and_extractor():
    scene = read("a cat to the left of a dog")
    said = (
        'The grammar found it in "to the left of", characters 7 to 20. High confidence: '
        "stated in the prompt."
    )
    assert why(scene, scene.relations[0]) == said


@pytest.mark.parametrize(
    ("text", "typo"),
    [
        ("a cat to the lfet of a dog", 'I read "lfet" as "left".'),
        ("a cat left of a dgo", 'I read "dgo" as "dog".'),
    ],
    ids=["relation", "object"],
)
def test_the_reason_is_less_certain_after_a_misspelling(text, typo):
    scene = read(text)
    assert why(scene, scene.relations[0]).endswith(f"Lower confidence: {typo}")


def test_a_misspelling_elsewhere_leaves_a_relation_certain():
    scene = read("a cat to the left of a dog and a lamp above a croww")
    assert why(scene, scene.relations[0]).endswith("High confidence: stated in the prompt.")


def test_the_reason_names_relations_set_by_hand():
    scene = with_relation_added(read("a cat and a dog"), ABOVE, "m1", "m2")
    assert why(scene, scene.relations[0]).startswith("Set by you; the prompt says it as")


def test_the_reason_names_another_extractor_and_missing_words():
    scene = read("a cat to the left of a dog")
    relation = replace(scene.relations[0], source="llm", span=None)
    assert why(scene, relation) == "A language model added it; the prompt does not state it."


def test_the_reason_names_implied_relations():
    scene = read("a cat to the left of a dog")
    relation = replace(scene.relations[0], source="llm", is_implied=True)
    said = why(scene, relation)
    assert said.startswith('A language model inferred it by "to the left of", characters')
    assert said.endswith("Lower confidence: implied, not stated.")


def test_an_implied_relation_edited_by_hand_is_stated():
    scene = read("a cat to the left of a dog")
    (relation,) = scene.relations
    implied = replace(scene, relations=(replace(relation, is_implied=True),))
    swapped = with_relation_swapped(implied, relation.id)
    assert swapped.relations[0].basis is Basis.STATED


def test_an_accepted_offer_is_kept_with_its_weight():
    before = read("a cat and a dog")
    taken_up = replace(
        with_relation_added(before, ABOVE, "m1", "m2").relations[0],
        source="llm",
        span=None,
        weight=2.0,
    )
    after = keep_hand(read("a cat and a dog, a lamp"), replace(before, relations=(taken_up,)))
    assert after.relations == (taken_up,)
