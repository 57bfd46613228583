"""GLIGEN: pictures and latents equal those of diffusers with the same phrases and boxes."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.api import guide
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.drawn_families import FAMILY_WARNINGS, Drawn, decoded_by
from tests.adapters.diffusion.tiny_families import TINY_FAMILIES

pytestmark = FAMILY_WARNINGS

BOXES = [[0.05, 0.25, 0.35, 0.75], [0.65, 0.25, 0.95, 0.75]]
GROUNDED = GuidanceSettings(method_id="gligen", strength=0.5, last_step=-1)


@pytest.fixture(scope="module")
def drawn(tiny_folder, tmp_path_factory, make_request):
    (tiny,) = (each for each in TINY_FAMILIES if "GLIGEN" in each.pipeline_class)
    family = Drawn(tiny, tiny_folder(tiny.pipeline_class), tmp_path_factory.mktemp("archives"))
    family.draw(make_request(tiny.size))  # loads the model
    return family


def direct(drawn, request, **arguments):
    """Return the picture of the pipeline as a user loads it, [0, 255]."""
    picture = drawn.own_pipeline(
        prompt=request.scene.prompt.text,
        height=request.height,
        width=request.width,
        num_inference_steps=request.sampling.steps,
        guidance_scale=request.guidance_scale,
        generator=torch.Generator("cpu").manual_seed(request.sampling.seed),
        output_type="np",
        **arguments,
    )
    return (picture.images[0] * 255).round()


def test_a_grounded_run_equals_the_direct_call(drawn, make_request):
    request = make_request(drawn.tiny.size, steps=4, guidance=GROUNDED)
    with decoded_by(drawn.own_pipeline) as latents:
        wanted = direct(
            drawn,
            request,
            gligen_phrases=["dog", "car"],
            gligen_boxes=BOXES,
            gligen_scheduled_sampling_beta=0.5,
        )
    run = drawn.run(request)
    assert np.array_equal(run.image, wanted)
    assert torch.equal(run.latents, latents[-1])


def test_without_the_method_the_model_is_not_grounded(drawn, make_request):
    request = make_request(drawn.tiny.size, steps=4)
    plain = drawn.run(request).image
    wanted = direct(
        drawn,
        request,
        gligen_phrases=["dog"],
        gligen_boxes=BOXES[:1],
        gligen_scheduled_sampling_beta=0.0,
    )
    assert np.array_equal(plain, wanted)
    grounded = drawn.run(with_values(request, guidance=replace(GROUNDED, strength=1.0))).image
    assert not np.array_equal(plain, grounded)


def test_grounding_takes_no_gradient_and_reports_no_loss(drawn, make_request):
    events = drawn.run(make_request(drawn.tiny.size, guidance=GROUNDED)).events
    assert not any(getattr(event, "guiding_passes", 0) for event in events)


def test_a_pipeline_of_a_notebook_takes_its_boxes_itself(drawn):
    prompt = "a dog to the left of a car"
    with (
        guide(drawn.own_pipeline, prompt, method="gligen"),
        pytest.raises(RequestError, match="no loss"),
    ):
        drawn.own_pipeline(prompt, gligen_phrases=[], gligen_boxes=[])
