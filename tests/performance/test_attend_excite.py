"""Our Attend-and-Excite against diffusers' own pipeline: the same latents, refinement included."""

from contextlib import nullcontext
from functools import cache

import pytest
import torch
from diffusers import StableDiffusionAttendAndExcitePipeline

from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.guidance_hook import GuidanceHook
from spatialstudio.adapters.diffusion.latent_updates import Guidance
from spatialstudio.adapters.diffusion.load_pipeline import load_pipeline
from spatialstudio.adapters.diffusion.token_spans import (
    in_denoiser,
    text_positions,
    token_spans,
)
from spatialstudio.domain.generation import GuidanceSettings, Refinement
from spatialstudio.science.guidance.methods.attend_excite import AttendExciteLoss
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from tests.adapters.diffusion.drawn_families import card_of
from tests.adapters.diffusion.tiny_pipeline import save_tiny_pipeline
from tests.fakes import CountingToken, scene_of

pytestmark = pytest.mark.filterwarnings("ignore")  # those of a pipeline that is deprecated

SCENE = scene_of("dog", "car")
STEPS, GUIDED = 6, 4
SIZE = 128
SCALE = 20
THRESHOLDS = ((0, 0.05), (2, 0.5))
"""Presence that each refined step must reach."""
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "tiny"
    save_tiny_pipeline(folder)
    loaded = load_pipeline(card_of(folder), torch.device("cpu"))
    with torch.no_grad():  # attention as weak as random weights have it; sharp, it is chaotic
        for layer in loaded.guiding_layers:
            layer.module.to_q.weight.div_(4)
            layer.module.to_k.weight.div_(4)
    return loaded


@pytest.fixture(scope="module")
def spans(loaded):
    streams, text = loaded.streams, SCENE.prompt.text
    return in_denoiser(streams, token_spans(streams, text, SCENE.mentions))


@pytest.fixture
def draw_theirs(loaded, spans):
    def run(seed, scheduler_id, thresholds):
        loaded.set_scheduler(scheduler_id)
        parts = {k: v for k, v in loaded.pipeline.components.items() if k != "image_encoder"}
        pipeline = StableDiffusionAttendAndExcitePipeline(**parts, requires_safety_checker=False)
        pipeline.set_progress_bar_config(disable=True)
        return pipeline(
            prompt=SCENE.prompt.text,
            token_indices=[index for span in spans for index in span.indices],
            max_iter_to_alter=GUIDED,
            thresholds=dict(thresholds),
            scale_factor=SCALE,
            attn_res=(SIZE // 8, SIZE // 8),
            **_shared(seed),
        ).images

    return run


@pytest.fixture(scope="module")
def draw_ours(loaded, spans):
    """Return latents and passes of each step; each run is drawn once."""

    @cache
    def run(seed, scheduler_id, thresholds, scale=SCALE):
        loaded.set_scheduler(scheduler_id)
        pipeline = loaded.pipeline
        pipeline.scheduler.set_timesteps(STEPS)
        settings = GuidanceSettings(
            strength=scale,
            last_step=GUIDED - 1,
            refinements=tuple(Refinement(step=s, presence=p) for s, p in thresholds),
        )
        schedule = GuidanceSchedule(settings, len(pipeline.scheduler.timesteps))
        reader = AttentionReader(
            loaded.guiding_layers,
            spans,
            SCENE.relations,
            smooths_maps=True,
            whole_text=text_positions(loaded.streams, SCENE.prompt.text),
        )
        guidance = Guidance(loss=AttendExciteLoss(), schedule=schedule)
        passes = []
        hook = GuidanceHook(
            reader, guidance, CountingToken(), lambda step, _: passes.append(step.reading().passes)
        )
        with hook.attached(loaded.denoiser, pipeline.scheduler) if scale else nullcontext():
            latents = pipeline(prompt=SCENE.prompt.text, **_shared(seed)).images
        return latents, passes

    return run


def _shared(seed):
    return {
        "height": SIZE,
        "width": SIZE,
        "num_inference_steps": STEPS,
        "guidance_scale": 7.5,
        "generator": torch.Generator().manual_seed(seed),
        "output_type": "latent",
    }


@pytest.mark.parametrize(
    ("seed", "scheduler_id"),
    [
        (0, "DDIMScheduler"),
        (1, "PNDMScheduler"),
        *(
            pytest.param(*rest, marks=pytest.mark.slow)  # the same, from other noise
            for rest in (
                (1, "DDIMScheduler"),
                (2, "DDIMScheduler"),
                (0, "PNDMScheduler"),
                (2, "PNDMScheduler"),
            )
        ),
    ],
)
def test_the_latents_are_those_of_diffusers_own_pipeline(
    draw_theirs, draw_ours, seed, scheduler_id
):
    theirs = draw_theirs(seed, scheduler_id, THRESHOLDS)
    ours, _ = draw_ours(seed, scheduler_id, THRESHOLDS)
    untouched, _ = draw_ours(seed, scheduler_id, (), scale=0)
    assert (ours - theirs).abs().max() <= TOLERANCE
    assert (untouched - theirs).abs().max() > 100 * TOLERANCE


def test_without_refinement_every_guided_step_makes_one_pass(draw_theirs, draw_ours):
    ours, passes = draw_ours(3, "DDIMScheduler", ())
    assert passes == [1, 1, 1, 1, 0, 0]
    assert (ours - draw_theirs(3, "DDIMScheduler", ())).abs().max() <= TOLERANCE


def test_refinement_repeats_until_the_words_are_present_or_its_limit(draw_ours):
    _, passes = draw_ours(0, "DDIMScheduler", THRESHOLDS)
    assert 1 < passes[0] < 21
    assert passes[1:] == [1, 21, 1, 0, 0]
