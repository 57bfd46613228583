from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.generation import UNGUIDED, GuidanceSettings, SamplingSettings
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import IN_FRONT_OF
from spatialstudio.domain.steering import (
    Potential,
    Steering,
)
from spatialstudio.domain.verdict import Box, Instance, Perception
from spatialstudio.science.guidance.method import STABLE_DIFFUSION
from spatialstudio.science.guidance.methods import guidance_preset
from spatialstudio.science.guidance.steering import (
    attention_reward,
    count_reward,
    effective_size,
    initial_population,
    log_potential,
    normalized,
    particle_counts,
    particle_seeds,
    picture_reward,
    planned_passes,
    presence,
    recommended_steering,
    region_of,
    resampling_steps,
    systematic,
)
from tests.fakes import SIDE, FakeDepth, FakeDetector, counted_scene, scene_of

REWARDS = np.array([[0.5, 0.1], [0.2, 0.4]])
"""Of two particles at two times."""
IN_DEPTH = scene_of(relation_type=IN_FRONT_OF)


@pytest.mark.parametrize(
    ("potential", "expected"),
    [
        (Potential.DIFFERENCE, [-0.6, 0.6]),
        (Potential.MAXIMUM, [1.0, 0.8]),
        (Potential.SUM, [1.4, 1.0]),
    ],
    ids=lambda value: value.value if isinstance(value, Potential) else "",
)
def test_potentials_follow_the_paper(potential, expected):
    assert log_potential(potential, 2.0, REWARDS) == pytest.approx(expected)


def test_the_first_difference_is_the_reward_itself():
    assert log_potential(Potential.DIFFERENCE, 2.0, REWARDS[:1]) == pytest.approx([1.0, 0.2])


def test_weights_of_huge_potentials_do_not_overflow():
    assert normalized(np.array([5000.0, 5000.0, 0.0])) == pytest.approx([0.5, 0.5, 0.0])


@pytest.mark.parametrize(
    ("weights", "size"),
    [([0.25] * 4, 4.0), ([1.0, 0.0, 0.0], 1.0), ([0.5, 0.5, 0.0], 2.0)],
    ids=["equal", "one", "two"],
)
def test_the_effective_size_counts_the_particles_that_have_weight(weights, size):
    assert effective_size(np.array(weights)) == pytest.approx(size)


def test_systematic_resampling_takes_particles_in_proportion():
    weights = np.array([0.5, 0.25, 0.25, 0.0])
    assert systematic(weights, 4, 0.5).tolist() == [0, 0, 1, 2]


@pytest.mark.parametrize("offset", [0.0, 0.3, 0.999])
def test_systematic_resampling_rounds_the_expected_count_up_or_down(offset):
    weights = np.array([0.41, 0.07, 0.33, 0.19])
    counts = np.bincount(systematic(weights, 10, offset), minlength=4)
    assert (np.abs(counts - 10 * weights) < 1).all()


def test_a_particle_without_weight_is_never_taken():
    weights = np.array([0.3, 0.7 - 1e-17, 0.0])
    assert systematic(weights, 3, np.nextafter(1, 0)).max() == 1


@pytest.mark.parametrize("potential", list(Potential), ids=lambda each: each.value)
def test_the_product_of_all_potentials_is_that_of_the_last_reward(potential):
    settings = Steering(particles=2, potential=potential, strength=3.0)
    population = initial_population(2).rated(settings, REWARDS[0], is_last=False)
    population = population.rated(settings, REWARDS[1], is_last=True)
    assert population.log_weights == pytest.approx(3.0 * REWARDS[1])


@pytest.mark.parametrize("potential", list(Potential), ids=lambda each: each.value)
def test_weighted_particles_follow_the_tilted_distribution(potential):
    """x_0 is standard normal, noise is added 8 times; r(x) = x tilts it to a mean of lambda."""
    tilt, keep = 0.5, np.sqrt(0.7)
    settings = Steering(particles=20_000, potential=potential, strength=tilt)
    rng = np.random.default_rng(4)
    particles = rng.standard_normal(settings.particles)
    population = initial_population(settings.particles)
    for left in range(7, -1, -1):
        # p(x_{t-1} | x_t) and E(x_0 | x_t) of the chain x_t = keep x_{t-1} + noise
        particles = keep * particles + np.sqrt(1 - keep**2) * rng.standard_normal(len(particles))
        if left % 3:
            continue
        rewards = keep**left * particles
        population = population.rated(settings, rewards, is_last=left == 0)
        parents = population.parents(settings, rng.random()) if left else ()
        if parents:
            particles, population = particles[list(parents)], population.resampled(parents)
    mean = population.weights @ particles
    assert mean == pytest.approx(tilt, abs=0.06)
    assert population.weights @ (particles - mean) ** 2 == pytest.approx(1, abs=0.1)


def test_all_particles_continue_while_their_weights_are_alike():
    settings = Steering(particles=2, strength=1.0)
    population = initial_population(2).rated(settings, [0.5, 0.4], is_last=False)
    assert population.parents(settings, 0.5) == ()


def test_the_heaviest_particle_comes_first():
    settings = Steering(particles=4, strength=20.0)
    population = initial_population(4).rated(settings, [0.0, 0.5, 0.0, 0.55], is_last=False)
    assert population.parents(settings, 0.5) == (3, 3, 3, 1)


def test_a_declining_number_of_particles_keeps_the_best():
    settings = Steering(particles=4, keep=0.5, strength=100.0)
    population = initial_population(4).rated(settings, [0.1, 0.9, 0.2, 0.9], is_last=False)
    parents = population.parents(settings, 0.5)
    assert parents == (1, 3)
    assert population.resampled(parents).weights.tolist() == [0.5, 0.5]


def test_weights_start_anew_after_a_resampling():
    settings = Steering(particles=2, strength=10.0)
    population = initial_population(2).rated(settings, [0.9, 0.1], is_last=False)
    population = population.resampled((0, 0)).rated(settings, [0.9, 0.7], is_last=False)
    assert population.log_weights == pytest.approx([0.0, -2.0])


def test_particles_are_resampled_at_the_stated_shares_of_the_steps():
    settings = Steering(start=0.2, stop=0.8, every=0.2)
    assert resampling_steps(settings, 20) == (3, 7, 11, 15)
    assert resampling_steps(settings, 50) == (9, 19, 29, 39)


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_no_particle_is_resampled_after_the_last_step(steps):
    assert max(resampling_steps(Steering(stop=1.0), steps), default=0) <= steps - 1


def test_the_cost_falls_as_the_particles_decline():
    settings = Steering(particles=8, keep=0.5, start=0.15, every=0.1)
    counts = particle_counts(settings, 20)
    assert counts[:8] == (8, 8, 8, 4, 4, 2, 2, 1)
    assert sum(counts) == 49


@pytest.mark.parametrize("steps", [4, 6, 8, 10, 15, 20, 28, 50])
@pytest.mark.parametrize("method_id", ["none", "psg", "layout"])
def test_recommended_steering_takes_at_most_three_times_the_passes_of_a_plain_picture(
    method_id, steps
):
    sampling = sampling_of(method_id, steps)
    steering = recommended_steering(IN_DEPTH, sampling)
    counts = particle_counts(steering, steps)
    passes = planned_passes(IN_DEPTH, sampling)
    assert steering.is_on or (method_id, steps) == ("layout", 4)  # 9 of the 12 passes guide
    assert sum(a * b for a, b in zip(counts, passes, strict=True)) <= 3 * steps


@pytest.mark.parametrize(
    ("method_id", "counts"),
    [("none", [12] * 3 + [3] * 2 + [1] * 15), ("layout", [2] * 3 + [1] * 17)],
)
def test_guidance_that_acts_on_depth_needs_fewer_particles(method_id, counts):
    steering = recommended_steering(IN_DEPTH, sampling_of(method_id, 20))
    assert particle_counts(steering, 20) == tuple(counts)


def test_only_relations_in_depth_are_steered():
    muted = replace(IN_DEPTH.relations[0], is_muted=True)
    for scene in (scene_of(), replace(IN_DEPTH, relations=(muted,))):
        assert not recommended_steering(scene, sampling_of("layout", 20)).is_on


def test_planned_passes_are_one_for_each_update_and_step():
    guidance = GuidanceSettings(method_id="psg", strength=1, last_step=1, inner_updates=2)
    sampling = SamplingSettings(steps=4, guidance=guidance)
    assert planned_passes(scene_of(), sampling) == (3, 3, 1, 1)
    idle = replace(sampling, guidance=replace(guidance, strength=0.0))
    assert planned_passes(scene_of(), idle) == (1, 1, 1, 1)
    (relation,) = scene_of().relations
    two = replace(scene_of(), relations=(relation, replace(relation, id="r2")))
    in_turn = replace(sampling, guidance=replace(guidance, one_by_one=True))
    assert planned_passes(two, in_turn) == (5, 5, 1, 1)


def sampling_of(method_id, steps):
    guidance = GuidanceSettings()
    if method_id != UNGUIDED:
        guidance = guidance_preset(method_id, STABLE_DIFFUSION, Preset.RECOMMENDED, steps)
    return SamplingSettings(steps=steps, guidance=guidance)


def test_the_first_particle_has_the_seed_of_the_run():
    seeds = particle_seeds(7, 4)
    assert seeds[0] == 7
    assert len(set(seeds)) == 4
    assert particle_seeds(7, 2) == seeds[:2]


@pytest.fixture
def maps():
    left, right = np.full((2, 8, 8), 0.01, np.float32)
    left[3:5, 1:3] = 1
    right[3:5, 5:7] = 1
    dog, car = scene_of().mentions
    return {dog.id: left, car.id: right}


def test_the_attention_reward_is_high_where_the_relation_holds(maps):
    scene = scene_of()
    right_order = attention_reward(scene, maps)
    swapped = dict(zip(maps, reversed(maps.values()), strict=True))
    assert right_order > 0.6
    assert attention_reward(scene, swapped) < 0.2


def test_a_word_without_mass_or_shape_lowers_the_presence(maps):
    (dog, left), (car, right) = maps.items()
    present = presence(maps)
    assert presence({dog: left, car: right / 4}) == pytest.approx(present / 4)
    assert presence({dog: left, car: np.ones_like(right)}) == pytest.approx(0)


def test_depth_relations_count_by_presence_on_the_maps(maps):
    assert attention_reward(scene_of(relation_type=IN_FRONT_OF), maps) == presence(maps)


@pytest.mark.parametrize("value", [np.nan, 0.0], ids=["invalid", "empty"])
def test_maps_without_values_have_no_reward(maps, value):
    broken = {mention: weights * np.float32(value) for mention, weights in maps.items()}
    assert attention_reward(scene_of(), broken) == 0


def perceived(mentions, depth):
    seen = FakeDetector().detect(np.zeros((SIDE, SIDE, 3), np.uint8), mentions)
    return Perception(
        image_sha256="",
        height=SIDE,
        width=SIDE,
        detections=seen.detections,
        masks=seen.masks,
        depth=depth,
    )


DEPTH = FakeDepth().estimate(np.zeros((SIDE, SIDE, 3)))
"""The left half, where the first object is detected, is nearer."""


def test_the_picture_reward_measures_depth_on_masks():
    scene = scene_of(relation_type=IN_FRONT_OF)
    assert picture_reward(scene, perceived(scene.mentions, DEPTH), {}, 0.5) == pytest.approx(1)
    swapped = perceived(scene.mentions[::-1], DEPTH)
    assert picture_reward(scene, swapped, {}, 0.5) == pytest.approx(0)


def test_an_object_that_is_not_detected_counts_half_where_its_word_attends(maps):
    scene = scene_of(relation_type=IN_FRONT_OF)
    dog_alone = perceived(scene.mentions[:1], DEPTH)
    assert picture_reward(scene, dog_alone, maps, 0.5) == pytest.approx((0.5 + 1) / 2)
    assert picture_reward(scene, dog_alone, {}, 0.5) == 0


def test_masks_and_attention_that_disagree_are_averaged(maps):
    scene = scene_of(relation_type=IN_FRONT_OF)
    swapped = dict(zip(maps, reversed(maps.values()), strict=True))
    both = perceived(scene.mentions, DEPTH)
    assert picture_reward(scene, both, swapped, 0.5) == pytest.approx(0.5)


def test_a_picture_without_relations_is_rated_by_its_objects():
    scene = replace(scene_of(), relations=())
    assert picture_reward(scene, perceived(scene.mentions[:1], None), {}, 0.5) == 0.5


@pytest.mark.parametrize(
    ("scores", "reward"),
    [((0.9, 0.9, 0.9), 1), ((0.9, 0.9), 1 / 2), ((0.9, 0.9, 0.2), 1 / 2), ((), 1 / 4)],
    ids=["as many as required", "one is missing", "one is unsure", "none"],
)
def test_counts_are_rated_by_what_is_missing_or_too_many(scores, reward):
    scene = counted_scene()
    mention = scene.mentions[0].id
    assert requirements_of(scene, mention).quantity.least == 3
    box = Box(left=0, top=0, right=8, bottom=8)
    found = [Instance(mention_id=mention, box=box, score=score, area=0.1) for score in scores]
    assert count_reward(scene, found, 0.5) == pytest.approx(reward)
    assert count_reward(scene_of(), found, 0.5) == 1


def test_a_region_is_the_highest_tenth_of_the_map():
    weights = np.arange(100, dtype=np.float32).reshape(10, 10)
    region = region_of(weights, (20, 40))
    assert region.mean() == pytest.approx(0.1)
    assert region[18:].all()


def test_a_region_leaves_out_low_weights(maps):
    (left, _) = maps.values()
    assert region_of(left, (8, 8)).tolist() == (left == 1).tolist()
