from dataclasses import replace

import pytest

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    PSG,
    StepUnit,
)
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import SDXL, STABLE_DIFFUSION
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, guidance_preset
from spatialstudio.science.guidance.schedule import GuidanceSchedule


@pytest.mark.parametrize(
    ("method_id", "family", "strength", "last_step"),
    [
        (PSG, STABLE_DIFFUSION, 20, 24),
        (PSG, SDXL, 20_000, 9),
        (PSG, "PixArtAlphaPipeline", 10, 19),
        ("attend-excite", STABLE_DIFFUSION, 20, 24),
        ("boxdiff", STABLE_DIFFUSION, 20, 24),
        ("weighted-presence", STABLE_DIFFUSION, 2, 19),
    ],
)
def test_published_settings_equal_the_papers_code(method_id, family, strength, last_step):
    settings = guidance_preset(method_id, family, Preset.PUBLISHED)
    assert (settings.method_id, settings.strength) == (method_id, strength)
    assert settings.last_step == last_step


ORIGINAL_REFINEMENTS = {0: 0.05, 10: 0.5, 20: 0.8}


@pytest.mark.parametrize(
    ("method_id", "preset", "refinements"),
    [
        ("attend-excite", Preset.PUBLISHED, ORIGINAL_REFINEMENTS),
        ("boxdiff", Preset.PUBLISHED, ORIGINAL_REFINEMENTS),
        ("boxdiff", Preset.SPATIALBENCH_UC, {}),
        (PSG, Preset.PUBLISHED, {}),
    ],
)
def test_published_settings_include_refinement(method_id, preset, refinements):
    settings = guidance_preset(method_id, STABLE_DIFFUSION, preset)
    assert {one.step: one.presence for one in settings.refinements} == refinements


def test_spatialbench_ran_boxdiff_with_its_other_settings_as_published():
    published, run = (
        guidance_preset("boxdiff", STABLE_DIFFUSION, preset)
        for preset in (Preset.PUBLISHED, Preset.SPATIALBENCH_UC)
    )
    assert replace(published, refinements=()) == run


@pytest.mark.parametrize(("method_id", "family"), [(PSG, STABLE_DIFFUSION), ("boxdiff", SDXL)])
def test_spatialbench_has_no_other_presets(method_id, family):
    with pytest.raises(RequestError, match='no preset "spatialbench-uc"'):
        guidance_preset(method_id, family, Preset.SPATIALBENCH_UC)


def test_published_sdxl_settings_use_the_units_of_its_sampler():
    settings = guidance_preset(PSG, SDXL, Preset.PUBLISHED)
    assert settings.unit is StepUnit.SIGMA
    length = GuidanceSchedule(settings, total_steps=50).length(4, signal=1 / (8.39**2 + 1))
    assert length == pytest.approx(274, rel=0.01)


def test_infsplign_acts_on_every_step_with_a_constant_length():
    settings = guidance_preset("infsplign", STABLE_DIFFUSION, Preset.PUBLISHED)
    schedule = GuidanceSchedule(settings, total_steps=50)
    assert schedule.guides(49)
    assert schedule.length(49) == schedule.length(0) == 1000


@pytest.mark.parametrize("method_id", [method.id for method in GUIDANCE_METHODS])
@pytest.mark.parametrize("family", [STABLE_DIFFUSION, SDXL, "FluxPipeline", ""])
def test_every_method_has_a_recommendation_for_every_family(method_id, family):
    settings = guidance_preset(method_id, family, Preset.RECOMMENDED)
    assert settings.method_id == method_id
    assert settings.strength > 0


def test_methods_are_offered_in_a_stated_order():
    assert [method.id for method in GUIDANCE_METHODS][:8] == [
        "layout",
        "psg",
        "psg-presence",
        "attend-excite",
        "weighted-presence",
        "boxdiff",
        "infsplign",
        "gligen",
    ]


def test_an_unpublished_preset_is_rejected():
    with pytest.raises(RequestError, match='no preset "published"'):
        guidance_preset("psg-presence", STABLE_DIFFUSION, Preset.PUBLISHED)


def test_an_unknown_method_is_rejected():
    with pytest.raises(RequestError, match='"magic" is not known'):
        guidance_preset("magic", STABLE_DIFFUSION, Preset.RECOMMENDED)
