import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.scene_advice import (
    AdviceKind,
    advice_on,
    follow,
)
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import Prompt

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a cat left of a dog and the dog left of the cat", AdviceKind.CONTRADICTION),
        ("a cat above a dog, the dog above a car, the car above the cat", AdviceKind.CONTRADICTION),
        ("a cat left of a dog, the dog is left of the cat, oil", AdviceKind.CONTRADICTION),
        ("The cat is left of the dog. The dog is left of the cat.", AdviceKind.CONTRADICTION),
        ("a cat left of itself", AdviceKind.CONTRADICTION),
        ("a cat left of a dog and the dog right of the cat", AdviceKind.REDUNDANCY),
    ],
)
def test_one_step_resolves_each_problem(text, kind):
    scene = read(text)
    (found,) = advice_on(scene)
    assert found.kind is kind
    assert found.leaves_out in found.relation_ids
    assert [span.of(text) for span in found.spans]
    mended = follow(found, scene)
    assert advice_on(mended) == ()
    assert advice_on(read(mended.prompt.text)) == ()


def test_a_plain_scene_needs_no_advice():
    assert advice_on(read("a ball between two cats next to each other")) == ()
