import pytest

from spatialstudio.domain.generation import (
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    unguided,
)
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import SceneGraph


@pytest.fixture
def request_with_guidance():
    scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="test")
    return GenerationRequest(
        id="guided",
        scene=scene,
        backend_id="fake",
        model=ModelRef(id="fake"),
        seed=7,
        guidance=GuidanceSettings(method_id="psg", strength=5),
    )


def test_the_baseline_differs_by_guidance_alone(request_with_guidance):
    baseline = unguided(request_with_guidance, "plain")
    assert baseline.guidance.strength == 0
    assert (baseline.id, baseline.seed, baseline.scene) == (
        "plain",
        request_with_guidance.seed,
        request_with_guidance.scene,
    )
