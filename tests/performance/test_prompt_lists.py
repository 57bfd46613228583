"""The listed prompts claim what they are meant to claim."""

import pytest

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.application.studio import Studio
from tests.performance.prompt_lists import (
    PROMPT_LISTS,
    ListedPrompt,
    Split,
    chain_prompts,
    depth_prompts,
    mixed_prompts,
    seeded_prompts,
    single_prompts,
    spatialbench_prompts,
)


@pytest.fixture(scope="module")
def scene_of():
    studio = Studio.open("inline")
    return lambda prompt: studio.parse_for_model(prompt.text)


@pytest.mark.parametrize(
    ("prompts", "mentions", "relations"),
    [
        (spatialbench_prompts()[::25], 2, 1),
        (chain_prompts(3, 8), 3, 2),
        (chain_prompts(4, 8), 4, 3),
        (depth_prompts(8), 2, 1),
        (single_prompts(), 1, 0),
    ],
    ids=["spatialbench", "three", "four", "depth", "single"],
)
def test_every_prompt_claims_as_many_relations_as_wanted(scene_of, prompts, mentions, relations):
    scenes = [scene_of(prompt) for prompt in prompts]
    assert {(len(scene.mentions), len(scene.relations)) for scene in scenes} == {
        (mentions, relations)
    }


def test_mixed_prompts_have_one_to_four_objects(scene_of):
    scenes = [scene_of(prompt) for prompt in mixed_prompts(12)]
    assert [len(scene.mentions) for scene in scenes] == [1, 2, 3, 4] * 3


@pytest.mark.parametrize(
    "phrase", [phrase for place in PLACES.values() for phrase in place.phrases]
)
def test_a_place_of_the_world_is_read_as_no_object(scene_of, phrase):
    scene = scene_of(ListedPrompt("p", f"A photo of a dog to the left of a cat {phrase}."))
    assert [mention.head for mention in scene.mentions] == ["dog", "cat"]
    assert len(scene.relations) == 1


RELATIONS = {
    **dict.fromkeys(("pairs", "diag", "near", "far", "front", "between"), 1),
    **dict.fromkeys(("chain3", "front3"), 2),
    "chain4": 3,
    "chain5": 4,
    "star4": 3,
    "star5": 4,
}


@pytest.mark.parametrize("list_name", PROMPT_LISTS)
def test_listed_prompts_claim_their_relations(scene_of, list_name):
    for prompt in seeded_prompts(list_name, Split.HELD_OUT, 4):
        scene = scene_of(prompt)
        assert len(scene.mentions) == PROMPT_LISTS[list_name].objects
        assert len(scene.relations) == RELATIONS.get(list_name, 0)


@pytest.mark.parametrize("list_name", PROMPT_LISTS)
def test_figures_share_no_prompt_and_no_seed_with_development(list_name):
    development, held_out = (seeded_prompts(list_name, split, 400) for split in Split)
    assert len(development) == len(held_out) == 400
    assert not {prompt.text for prompt in development} & {prompt.text for prompt in held_out}
    assert not {prompt.seed for prompt in development} & {prompt.seed for prompt in held_out}


def test_the_benchmark_takes_turns_with_prompts_and_seeds():
    prompts = seeded_prompts("spatialbench", Split.DEVELOPMENT, 800)
    assert {prompt.text for prompt in prompts[:80]} == {
        prompt.text for prompt in spatialbench_prompts()[::5]
    }
    assert {prompt.seed for prompt in prompts[:80]} == {0, 1}
    assert len({prompt.id for prompt in prompts}) == 800
    assert {prompt.seed for prompt in prompts} == {0, 1, 2, 3}


def test_fewer_prompts_are_the_first_of_more():
    for split in Split:
        assert seeded_prompts("pairs", split, 20)[:5] == seeded_prompts("pairs", split, 5)
