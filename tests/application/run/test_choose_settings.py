from dataclasses import replace

import pytest

from spatialstudio.application.models.model_lists import usual_settings, with_model
from spatialstudio.application.run.choose_settings import (
    last_guided_step,
    moved_on,
    presets_of,
    recommended_strength,
    request_of,
    seeds_of,
    settings_of,
    with_method,
    with_steps,
)
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import LAYOUT, MAX_SEED, PSG, GuidanceSettings, PlaceTarget
from spatialstudio.domain.run_settings import (
    Preset,
    SeedMode,
    SketchedPlaces,
    places_of,
    with_values,
)
from spatialstudio.domain.scene import BEHIND
from spatialstudio.domain.steering import Steering
from spatialstudio.science.guidance.method import SDXL, STABLE_DIFFUSION
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

SD = replace(
    STICKERS, id="sd", native_size=512, steps=50, strength=20.0, pipeline_class=STABLE_DIFFUSION
)


@pytest.fixture
def settings():
    return usual_settings(STICKERS)


class Judges:
    """A judge set that can estimate depth, or cannot."""

    def __init__(self, *, rates):
        self._rates = rates

    def rate_depth(self, model_id, scene):
        return self._rates


IN_DEPTH = scene_of(relation_type=BEHIND)


@pytest.mark.parametrize(
    ("scene", "changes", "rates", "is_steered"),
    [
        (IN_DEPTH, {}, True, True),
        (scene_of(), {}, True, False),
        (IN_DEPTH, {}, False, False),
        (IN_DEPTH, {"guidance": GuidanceSettings()}, True, False),
        (IN_DEPTH, {"candidates": 4}, True, False),
        (IN_DEPTH, {"detail": AttentionDetail.EVERY_WORD}, True, False),
        (IN_DEPTH, {"steering": Steering(particles=1)}, True, False),
        (scene_of(), {"steering": Steering(particles=3)}, False, True),
        (IN_DEPTH, {"guidance": usual_settings(STICKERS).sampling.guidance}, True, True),
    ],
    ids=[
        "depth",
        "no depth",
        "no depth estimate",
        "no guidance",
        "noise search",
        "attention on disk",
        "turned off",
        "turned on",
        "layout guidance",
    ],
)
def test_relations_in_depth_are_steered_where_their_depth_can_be_rated(
    settings, scene, changes, rates, is_steered
):
    by_psg = with_method(settings, STICKERS, PSG, Preset.RECOMMENDED)
    asked = with_values(by_psg, **changes)
    request = request_of(scene, STICKERS, asked, 4, judges=Judges(rates=rates))
    assert request.steering.is_on is is_steered


@pytest.mark.parametrize("method_id", [LAYOUT, PSG])
def test_the_settings_of_a_steered_run_draw_it_again(settings, method_id):
    chosen = with_method(settings, STICKERS, method_id, Preset.RECOMMENDED)
    request = request_of(IN_DEPTH, STICKERS, chosen, 4, judges=Judges(rates=True))
    again = settings_of(request, STICKERS, settings)
    second = request_of(IN_DEPTH, STICKERS, again, 4, judges=Judges(rates=True))
    assert request.steering.is_on
    assert replace(second, id=request.id) == request


def test_sketched_places_keep_the_noise_of_the_seed(settings):
    sketch = SketchedPlaces(targets=(PlaceTarget(mention_id="m1", x=0.2, y=0.5),))
    judges = Judges(rates=True)
    request = request_of(IN_DEPTH, STICKERS, settings, 4, places=sketch, judges=judges)
    assert not request.steering.is_on


def test_particles_set_by_hand_are_kept(settings):
    request = request_of(IN_DEPTH, STICKERS, settings, 4, judges=Judges(rates=True))
    assert settings_of(request, STICKERS, settings).steering is None
    three = replace(request, steering=Steering(particles=3))
    assert settings_of(three, STICKERS, settings).steering == three.steering


def test_the_settings_of_a_model_come_from_its_card(settings):
    assert (settings.model_id, settings.width, settings.sampling.steps) == (
        "stickers",
        128,
        STICKERS.steps,
    )
    assert settings == usual_settings(STICKERS)


def test_another_model_brings_its_settings_and_keeps_the_seed(settings):
    chosen = with_model(with_values(settings, seed=7, pictures=3), SD)
    assert chosen == with_values(usual_settings(SD), seed=7, pictures=3)


@pytest.mark.parametrize(
    ("samplers", "kept"), [(STICKERS.samplers, "EulerDiscreteScheduler"), (("Flow",), "")]
)
def test_another_model_keeps_the_sampler_if_possible(settings, samplers, kept):
    chosen = with_values(settings, scheduler_id="EulerDiscreteScheduler")
    assert with_model(chosen, replace(SD, samplers=samplers)).sampling.scheduler_id == kept


def test_another_method_brings_its_settings():
    chosen = with_method(usual_settings(SD), SD, PSG, Preset.PUBLISHED)
    assert chosen.preset is Preset.PUBLISHED
    assert chosen.sampling.guidance.last_step == 24


def test_a_method_without_published_settings_is_rejected(settings):
    with pytest.raises(RequestError):
        with_method(settings, STICKERS, "psg-presence", Preset.PUBLISHED)


def test_settings_of_an_uninstalled_method_are_kept(settings):
    guidance = GuidanceSettings(method_id="gone", strength=3.0, last_step=4)
    stored = with_values(settings, guidance=guidance)
    assert with_steps(stored, STICKERS, 40).sampling.guidance == guidance
    assert recommended_strength(stored, STICKERS) == 3.0


def test_only_existing_presets_can_be_chosen():
    assert presets_of(PSG, SD) == (Preset.RECOMMENDED, Preset.PUBLISHED)
    boxes = Preset.RECOMMENDED, Preset.PUBLISHED, Preset.SPATIALBENCH_UC
    assert presets_of("boxdiff", SD) == boxes
    assert presets_of(PSG, STICKERS) == (Preset.RECOMMENDED,)


def test_the_guided_window_grows_with_the_steps():
    large = replace(SD, pipeline_class=SDXL)
    for method_id in (LAYOUT, PSG):
        chosen = with_method(usual_settings(large), large, method_id, Preset.RECOMMENDED)
        steps = {steps: with_steps(chosen, large, steps) for steps in (50, 100)}
        lasts = {count: each.sampling.guidance.last_step for count, each in steps.items()}
        assert lasts == {50: 9, 100: 19}


def test_a_guided_window_set_by_hand_is_kept():
    large = replace(SD, pipeline_class=SDXL)
    usual = usual_settings(large)
    by_hand = with_values(usual, guidance=replace(usual.sampling.guidance, last_step=30))
    assert with_steps(by_hand, large, 100).sampling.guidance.last_step == 30


def test_psg_guides_half_of_the_steps_by_default(settings):
    by_psg = with_method(with_values(settings, steps=10), STICKERS, PSG, Preset.RECOMMENDED)
    assert last_guided_step(by_psg) == 4


def test_the_recommended_strength_is_that_of_the_preset(settings):
    by_hand = with_values(settings, guidance=replace(settings.sampling.guidance, strength=0.5))
    usual = usual_settings(STICKERS).sampling.guidance.strength
    assert recommended_strength(by_hand, STICKERS) == usual
    published = with_method(settings, STICKERS, PSG, Preset.RECOMMENDED)
    assert recommended_strength(published, STICKERS) == STICKERS.strength


def test_the_request_contains_all_settings(settings):
    chosen = with_values(settings, width=256, steps=9, detail=AttentionDetail.EVERY_WORD)
    request = request_of(scene_of(), STICKERS, chosen, 4)
    assert (request.width, request.height, request.sampling.steps, request.sampling.seed) == (
        256,
        128,
        9,
        4,
    )
    assert request.capture.detail is AttentionDetail.EVERY_WORD
    assert request.sampling.guidance == settings.sampling.guidance


def test_the_default_size_stays_the_models_default(settings):
    assert request_of(scene_of(), STICKERS, settings, 4).width is None


def test_settings_are_restored_from_a_request(settings):
    chosen = with_values(settings, height=256, steps=9, seed=4, scheduler_id="DDIMScheduler")
    chosen = replace(chosen, candidates=3)
    request = request_of(scene_of(), STICKERS, chosen, 4)
    assert settings_of(request, STICKERS, settings) == chosen


def test_zero_strength_disables_guidance(settings):
    idle = with_values(settings, guidance=replace(settings.sampling.guidance, strength=0.0))
    request = request_of(scene_of(), STICKERS, idle, 4)
    assert request.sampling.guidance == GuidanceSettings()
    assert settings_of(request, STICKERS, settings) == with_values(idle, seed=4)


def test_no_seed_is_used_for_two_pictures(settings):
    searching = with_values(
        settings, seed=7, seed_mode=SeedMode.INCREMENT, pictures=3, candidates=4
    )
    assert seeds_of(searching) == (7, 11, 15)
    assert moved_on(searching).sampling.seed == 19


def test_without_relations_a_search_is_disabled(settings):
    searching = replace(settings, candidates=3)
    assert request_of(scene_of(), STICKERS, searching, 4).search.candidates == 3
    alone = replace(scene_of(), relations=())
    assert request_of(alone, STICKERS, searching, 4).search.candidates == 1


def test_a_baseline_has_zero_strength(settings):
    request = unguided(request_of(scene_of(), STICKERS, settings, 4), "plain")
    assert settings_of(request, STICKERS, settings).sampling.guidance.strength == 0


@pytest.mark.parametrize(
    ("mode", "seeds", "after"),
    [
        (SeedMode.FIXED, (MAX_SEED, 0, 1), MAX_SEED),
        (SeedMode.INCREMENT, (MAX_SEED, 0, 1), 2),
        (SeedMode.REUSE, (MAX_SEED, 0, 1), MAX_SEED),
    ],
    ids=lambda value: value.value if isinstance(value, SeedMode) else "",
)
def test_seeds_follow_each_other(settings, mode, seeds, after):
    chosen = with_values(settings, seed=MAX_SEED, seed_mode=mode, pictures=3)
    assert seeds_of(chosen) == seeds
    assert moved_on(chosen).sampling.seed == after


def test_random_seeds_begin_with_the_one_shown(settings):
    chosen = with_values(settings, seed=5, seed_mode=SeedMode.RANDOM, pictures=50)
    seeds = seeds_of(chosen)
    assert seeds[0] == 5
    assert len(set(seeds)) == 50
    assert moved_on(chosen).sampling.seed != 5


def test_a_custom_guidance_scale_is_used_and_restored(settings):
    by_hand = replace(settings, guidance_scale=2.0)
    request = request_of(scene_of("a cat left of a dog"), STICKERS, by_hand, 7)
    assert request.guidance_scale == 2.0
    assert settings_of(request, STICKERS, settings).guidance_scale == 2.0


def test_without_one_the_models_guidance_scale_is_used(settings):
    request = request_of(scene_of("a cat left of a dog"), STICKERS, settings, 7)
    assert request.guidance_scale == STICKERS.guidance_scale
    assert settings_of(request, STICKERS, settings).guidance_scale is None


def test_previews_follow_their_interval(settings):
    by_hand = replace(settings, preview_every=4)
    request = request_of(scene_of("a cat left of a dog"), STICKERS, by_hand, 7)
    assert request.capture.preview_every == 4
    assert settings_of(request, STICKERS, settings).preview_every == 4


PLACES = SketchedPlaces(targets=(PlaceTarget(mention_id="m1", x=0.2, y=0.4, size=0.3),), weight=0.6)


@pytest.mark.parametrize("scene", [scene_of(), replace(scene_of(), relations=())])
def test_a_request_has_the_sketched_places_with_or_without_relations(settings, scene):
    request = request_of(scene, STICKERS, settings, 4, PLACES)
    assert places_of(request) == PLACES
    assert request.sampling.guidance.method_id == LAYOUT


def test_without_guidance_places_are_not_used(settings):
    idle = with_values(settings, guidance=GuidanceSettings())
    request = request_of(scene_of("a cat left of a dog"), STICKERS, idle, 4, PLACES)
    assert request.sampling.guidance == GuidanceSettings()


def test_only_objects_of_the_prompt_are_placed(settings):
    stray = PLACES.with_target(PlaceTarget(mention_id="m9", x=0.2, y=0.4))
    request = request_of(scene_of("a cat left of a dog"), STICKERS, settings, 4, stray)
    assert places_of(request) == PLACES


def test_the_baseline_has_no_places(settings):
    request = request_of(scene_of("a cat left of a dog"), STICKERS, settings, 4, PLACES)
    assert places_of(unguided(request, "plain")) == SketchedPlaces()


def test_places_belong_to_the_sketch_not_to_the_settings(settings):
    request = request_of(scene_of("a cat left of a dog"), STICKERS, settings, 4, PLACES)
    assert settings_of(request, STICKERS, settings) == with_values(settings, seed=4)
