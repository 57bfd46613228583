"""The listed prompts claim what they are meant to claim."""

import pytest

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.application.studio import Studio
from tests.performance.prompt_lists import (
    ListedPrompt,
    chain_prompts,
    depth_prompts,
    mixed_prompts,
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
