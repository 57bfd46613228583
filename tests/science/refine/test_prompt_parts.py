"""The words of assertions and their weights, in place and as the authors' code joins them."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.adapters.prompts.grammar import build as build_extractor
from spatialstudio.domain.assertion import Assertion, AssertionId, Assertions
from spatialstudio.domain.prompt_syntax import drawn_prompt, drawn_scene, typed_with_weights
from spatialstudio.domain.refinement import REFINE_PUBLISHED, REFINE_RECOMMENDED
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import Prompt, SpanWeight, TextSpan
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.prompt_parts import (
    bracketed,
    in_prompt_order,
    object_places,
    presence_weights,
    span_of,
    weighted_scene,
)

PAPER, CODE = REFINE_RECOMMENDED, REFINE_PUBLISHED


@pytest.fixture(scope="module")
def extractor():
    from pathlib import Path

    from spatialstudio.domain.ports import Surroundings

    nowhere = Path("nowhere")
    return build_extractor(
        Surroundings(
            resources=resources_folder(), model_folders=(), cache=nowhere, settings=nowhere
        )
    )


@pytest.fixture(scope="module")
def decomposed(extractor):
    def decompose(text):
        scene, _ = drawn_scene(extractor.extract(Prompt(text=text)))
        return scene, in_prompt_order(assertions_of(scene), scene)

    return decompose


def weights_on(scene):
    return {each.span.of(scene.prompt.text): each.weight for each in scene.prompt.weights}


def test_assertions_follow_the_prompt_and_own_their_words(decomposed):
    scene, assertions = decomposed("a red dog to the left of two cats")

    assert [
        (each.text, span_of(each, scene).of(scene.prompt.text)) for each in assertions.items
    ] == [
        ("there is a dog", "red dog"),
        ("the dog is red", "red"),
        ("the dog is to the left of the cat", "to the left of"),
        ("there is a cat", "two cats"),
        ("there are two cats", "two"),
    ]


def test_weights_lie_on_the_words_in_their_place(decomposed):
    scene, assertions = decomposed("a photo of a cat and a dog at night")

    weighted = weighted_scene(scene, assertions, (1, 3), PAPER)

    assert weighted.prompt.text == scene.prompt.text
    assert weights_on(weighted) == {"dog": 1.21}
    assert weighted.prompt.typed == "a photo of a cat and a (dog:1.21) at night"
    assert weighted.mentions == scene.mentions


def test_words_of_several_assertions_have_the_largest_weight(decomposed):
    scene, assertions = decomposed("a red dog left of a cat")

    weighted = weighted_scene(scene, assertions, (2, 3, 1, 1), PAPER)

    assert weights_on(weighted) == {"red": 1.21, "dog": 1.1}


def test_weights_of_the_prompt_itself_multiply(decomposed):
    scene, assertions = decomposed("a (dog:2.0) left of a cat")

    weighted = weighted_scene(scene, assertions, (2, 1, 1), PAPER)

    assert weights_on(weighted) == {"dog": 2.2}


def test_without_prompt_weights_the_scene_stays_as_it_is(decomposed):
    scene, assertions = decomposed("a cat and a dog")

    assert weighted_scene(scene, assertions, (3, 3), replace(PAPER, weighs_prompt=False)) is scene


def test_the_caption_brackets_each_part_with_its_article(decomposed):
    scene, assertions = decomposed("a photo of a cat and a dog at night")
    spans = [span_of(each, scene) for each in assertions.items]

    assert bracketed(scene.prompt.text, spans) == "a photo of [a cat] and [a dog] at night"


def test_the_published_prompt_loses_its_end_and_keeps_stray_brackets(decomposed):
    scene, assertions = decomposed("a photo of a cat and a dog at night")

    weighted = weighted_scene(scene, assertions, (1, 2), CODE)

    assert weighted.prompt.text == "a photo of [a cat and [a dog"
    assert weights_on(weighted) == {"and [a dog": 1.21}
    assert [each.span.of(weighted.prompt.text) for each in weighted.mentions] == ["cat", "dog"]


def test_a_prompt_that_begins_with_a_part_has_no_bracket_there(decomposed):
    scene, assertions = decomposed("a cat to the left of a dog")

    weighted = weighted_scene(scene, assertions, (1, 1, 1), CODE)

    assert weighted.prompt.text == "a cat to the left of a dog"
    (relation,) = weighted.relations
    assert relation.span.of(weighted.prompt.text) == "to the left of"


@pytest.mark.parametrize("rules", [PAPER, CODE], ids=["paper", "code"])
@pytest.mark.parametrize(
    "text",
    [
        "a cat (black) left of a dog",
        "a (cat:1.3) above a dog",
        "two cats between a red dog and a car, [old] photo",
        "a cat++ near a dog::2",
    ],
)
def test_the_typed_prompt_is_read_as_the_weighted_one(decomposed, rules, text):
    scene, assertions = decomposed(text)
    weights = tuple(range(1, len(assertions.items) + 1))

    prompt = weighted_scene(scene, assertions, weights, rules).prompt
    read = drawn_prompt(prompt.typed)

    assert (read.text, read.weights) == (prompt.text, prompt.weights)


def test_loras_of_the_prompt_stay_in_what_is_typed(decomposed):
    scene, assertions = decomposed("a cat and a dog <lora:ink:0.5>")

    typed = weighted_scene(scene, assertions, (2, 1), PAPER).prompt.typed

    assert typed == "a (cat:1.1) and a dog <lora:ink:0.5>"


@given(st.text("ab ([{}])|:<>1.", min_size=1, max_size=24))
def test_any_text_is_typed_so_that_it_is_read_back(text):
    words = [TextSpan(start=m.start(), stop=m.end()) for m in re.finditer(r"[ab1]+", text)]
    weights = tuple(SpanWeight(span=span, weight=1.5) for span in words[::2])

    read = drawn_prompt(typed_with_weights(Prompt(text=text, typed="x"), weights))

    assert read.text == text


def test_statements_without_an_object_own_the_words_that_they_quote(decomposed):
    scene, _ = decomposed("a cat and a dog at night")
    night = Assertion(id=AssertionId("a1"), text="it is night", question="is it night?")
    other = Assertion(id=AssertionId("a2"), text="it is raining", question="is it raining?")

    assert span_of(night, scene).of(scene.prompt.text) == "night"
    assert span_of(other, scene) is None
    assert in_prompt_order(Assertions(items=(other, night), source_id="llm"), scene).items == (
        night,
        other,
    )


def test_relations_and_attributes_depend_on_their_objects(decomposed):
    scene, assertions = decomposed("a red dog to the left of a cat")

    assert object_places(assertions, scene) == ((), (0,), (0, 3), ())


def test_coefficients_belong_to_the_objects_of_their_assertions(decomposed):
    scene, assertions = decomposed("a cat to the left of a dog")

    assert presence_weights(scene, assertions, (1, 5, 3), PAPER) == {"m1": 0, "m2": 2}


def test_sorted_tokens_give_coefficients_to_other_objects(decomposed):
    scene, assertions = decomposed("a cat to the left of a dog")
    cat, _, dog = assertions.items
    turned = replace(assertions, items=(dog, cat))

    assert presence_weights(scene, turned, (4, 1), PAPER) == {"m1": 0, "m2": 3}
    assert presence_weights(scene, turned, (4, 1), CODE) == {"m1": 3, "m2": 0}
