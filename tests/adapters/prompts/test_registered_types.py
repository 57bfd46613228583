"""The grammar and language models read, write and check a registered relation type."""

from dataclasses import replace

import pytest

from spatialstudio.adapters.prompts.check_claims import Agreement, ClaimChecker
from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.adapters.prompts.model_answers import (
    answer_schema,
    complete_instruction,
    read_answer,
)
from spatialstudio.application.compose.list_relations import list_relations
from spatialstudio.application.compose.write_prompt import counterfactual, write_prompt
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    LEFT_OF,
    Prompt,
    Relation,
    RelationId,
    RelationType,
    Shape,
    relation_types,
)

GRAMMAR = GrammarExtractor(resources_folder() / "prompts")
UPWARDS, DOWNWARDS = "diagonally_above", "diagonally_below"
BUILT_IN = "left_of, right_of, above, below, in_front_of, behind, near, far_from, between"


def read(text):
    return GRAMMAR.extract(Prompt(text=text))


def claims_in(text):
    scene = read(text)
    return [
        (scene.mention(each.subject).head, each.type.id, scene.mention(each.object).head)
        for each in scene.relations
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("a cat diagonally above a dog", [("cat", UPWARDS, "dog")]),
        ("A photo of a CAT DIAGONALLY ABOVE a dog.", [("cat", UPWARDS, "dog")]),
        ("a cat is slightly kitty-corner over a dog", [("cat", UPWARDS, "dog")]),
        ("a cat kitty corner over a dog", [("cat", UPWARDS, "dog")]),
        ("a cat diagonally\nbelow a dog", [("cat", DOWNWARDS, "dog")]),
        ("diagonally above a dog is a cat", [("cat", UPWARDS, "dog")]),
        (
            "a cat diagonally above a dog and to the left of a car",
            [("cat", UPWARDS, "dog"), ("cat", LEFT_OF.id, "car")],
        ),
        ("a cat directly above a dog", [("cat", ABOVE.id, "dog")]),
    ],
)
@pytest.mark.usefixtures("diagonally_above")
def test_its_phrases_are_read(text, claims):
    assert claims_in(text) == claims


@pytest.mark.usefixtures("diagonally_above")
def test_the_longer_phrase_wins():
    text = "a cat diagonally above and to the left of a dog"
    assert claims_in(text) == [("cat", ABOVE_LEFT_OF.id, "dog")]


@pytest.mark.usefixtures("diagonally_above")
def test_a_negated_phrase_claims_nothing():
    assert claims_in("a cat not diagonally above a dog") == []


def test_without_the_type_the_grammar_reads_its_own_words():
    assert claims_in("a cat diagonally above a dog") == [("cat", ABOVE.id, "dog")]


def test_a_word_of_a_phrase_is_no_misspelling(register):
    register(RelationType("astraddle", "bestride to", Shape.ORDER, ABOVE.claims, "below"))
    (relation,) = read("a cat bestride to a dog").relations
    assert relation.type.id == "astraddle"


def test_an_id_that_is_a_terminal_of_the_grammar_changes_no_other_word(register):
    register(RelationType("and", "up against", Shape.NEAR, (), "and"))
    assert claims_in("a cat and a dog to the left of a car") == [
        ("cat", LEFT_OF.id, "car"),
        ("dog", LEFT_OF.id, "car"),
    ]
    assert claims_in("a cat up against a dog") == [("cat", "and", "dog")]


@pytest.mark.usefixtures("diagonally_above")
def test_the_span_covers_the_phrase():
    text = "a cat just diagonally  above a dog"
    (relation,) = read(text).relations
    assert relation.span.of(text) == "just diagonally  above"


def test_a_scene_is_written_in_its_phrase_and_read_back(diagonally_above):
    scene = read("a cat to the left of a dog")
    (relation,) = scene.relations
    scene = replace(scene, relations=(replace(relation, type=diagonally_above),))
    text = write_prompt(scene)
    assert text == "a cat diagonally above a dog"
    assert claims_in(text) == [("cat", UPWARDS, "dog")]
    assert counterfactual(scene).prompt.text == "a dog diagonally below a cat"


@pytest.mark.usefixtures("diagonally_above")
def test_diagonals_are_still_listed_as_the_built_in_types():
    listed = list_relations(read("a cat above and to the left of a dog"))
    assert [each.type for each in listed] == [LEFT_OF, ABOVE]


def test_a_language_model_is_asked_for_the_built_in_types():
    instruction = (resources_folder() / "prompts" / "instruction.md").read_text(encoding="utf-8")
    assert f"   {BUILT_IN}.\n" in complete_instruction(instruction)


@pytest.mark.usefixtures("diagonally_above")
def test_a_language_model_is_asked_for_registered_types_too():
    items = answer_schema()["properties"]["relations"]["items"]
    assert UPWARDS in items["properties"]["relation"]["enum"]
    assert f'{BUILT_IN}, {UPWARDS} ("diagonally above")' in complete_instruction("RELATION_TYPES")


@pytest.mark.parametrize("name", [UPWARDS, "Diagonally above", "kitty-corner over"])
def test_a_model_may_answer_its_id_or_a_phrase(diagonally_above, name):
    row = f'{{"subject": "cat", "relation": "{name}", "objects": ["dog"]}}'
    (relation,) = read_answer(f'{{"relations": [{row}]}}').relations
    assert relation.type is diagonally_above


@pytest.mark.parametrize(
    ("words", "agreement"),
    [("diagonally above", Agreement.CONFIRMED), ("diagonally below", Agreement.DISPUTED)],
)
def test_a_claim_is_checked_against_its_phrase(diagonally_above, words, agreement):
    text = f"a cat {words} a dog"
    scene = read(text)
    cat, dog = scene.mentions
    claim = Relation(
        id=RelationId("claimed"),
        type=diagonally_above,
        subject=cat.id,
        object=dog.id,
        span=scene.relations[0].span,
    )
    checker = ClaimChecker(replace(scene, relations=()), GRAMMAR.cut(text))
    assert checker.check(claim, scene.mentions) is agreement


def test_a_type_without_phrases_is_rejected():
    with pytest.raises(ValueError, match="is empty"):
        RelationType("silent", " ", Shape.ORDER, ABOVE.claims, "silent")
    with pytest.raises(ValueError, match="have claims"):
        RelationType("idle", "idle by", Shape.ORDER, (), "idle")


def test_built_in_types_come_first():
    assert next(each for each in relation_types if each.claims == BELOW.claims) is BELOW
