"""Guidance of tiny models under every sampler."""

from dataclasses import replace

import numpy as np
import pytest
from diffusers import EDMDPMSolverMultistepScheduler, EDMEulerScheduler

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GuidanceSettings,
    StepEvent,
)
from spatialstudio.domain.run_settings import with_values
from tests.adapters.diffusion.drawn_families import FAMILY_WARNINGS, IDLE, NINE_SAMPLERS, STRONG

pytestmark = FAMILY_WARNINGS


@pytest.mark.parametrize(
    ("name", "scheduler_id"),
    [
        ("StableDiffusionXLPipeline", "HeunDiscreteScheduler"),
        *(("PixArtAlphaPipeline", scheduler_id) for scheduler_id in NINE_SAMPLERS),
        *(
            pytest.param("StableDiffusionXLPipeline", scheduler_id, marks=pytest.mark.slow)
            for scheduler_id in NINE_SAMPLERS  # a UNet under each is drawn in test_guidance_hook
            if scheduler_id != "HeunDiscreteScheduler"
        ),
    ],
)
def test_idle_guidance_changes_nothing_under_any_sampler(
    samplers_model, make_request, scheduler_id, name
):
    drawn = samplers_model(name)
    request = make_request(drawn.tiny.size, scheduler_id=scheduler_id, steps=4)
    plain = drawn.draw(request)[-1].image
    assert np.array_equal(drawn.draw(with_values(request, guidance=IDLE))[-1].image, plain)
    assert not np.array_equal(drawn.draw(with_values(request, guidance=STRONG))[-1].image, plain)


def test_one_step_is_enough_for_samplers_that_tell_no_finished_latents(
    samplers_model, make_request
):
    drawn = samplers_model("PixArtAlphaPipeline")
    request = make_request(drawn.tiny.size, steps=1)
    plain = drawn.draw(request)[-1].image
    assert plain.std() > 0
    assert not np.array_equal(drawn.draw(with_values(request, guidance=STRONG))[-1].image, plain)


@pytest.mark.parametrize("kind", [EDMEulerScheduler, EDMDPMSolverMultistepScheduler])
def test_a_model_of_edm_is_guided_by_its_own_sampler_alone(samplers_model, make_request, kind):
    drawn = samplers_model("StableDiffusionXLPipeline")
    request = make_request(drawn.tiny.size, steps=4, capture=CaptureSettings())
    drawn.draw(request)
    with pytest.raises(RequestError, match="does not support the sampler"):
        drawn.draw(with_values(request, scheduler_id=kind.__name__))
    usual, edm = drawn.loaded, replace(drawn.loaded, own_scheduler=kind())
    drawn.backend._loaded = edm
    plain, idle, strong = (
        drawn.draw(with_values(request, guidance=guidance))
        for guidance in (GuidanceSettings(), IDLE, STRONG)
    )
    drawn.backend._loaded = usual
    assert np.array_equal(idle[-1].image, plain[-1].image)
    assert not np.array_equal(strong[-1].image, plain[-1].image)
    assert all(event.preview is not None for event in plain if isinstance(event, StepEvent))
