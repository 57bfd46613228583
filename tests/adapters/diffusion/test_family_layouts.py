"""Sketched places, separate words, depth and steering in every family, on tiny weights."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from spatialstudio.adapters.diffusion.latent_updates import LatentUpdates
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import IN_FRONT_OF
from spatialstudio.domain.steering import Steering, StepReward
from spatialstudio.science.guidance.methods import layout
from spatialstudio.science.pos.map_shape import exclusivity
from tests.adapters.diffusion.drawn_families import (
    CAPTURED,
    FAMILY_WARNINGS,
    IDLE,
    LEFT_EDGE,
    SCENE,
    STRONG,
    steps_of,
)
from tests.fakes import last_call

pytestmark = FAMILY_WARNINGS

LAYOUT = replace(STRONG, method_id="layout", inner_updates=3, options={"order_margin": 0.0})
BEST_OF_TWO = Steering(
    particles=2, keep=0.5, start=0.5, strength=1e6, rewards=(StepReward.ATTENTION,)
)
"""After the first of two steps, the better one of two particles continues."""


@pytest.fixture
def request_(family, make_request):
    return make_request(family.tiny.wide, capture=CAPTURED)


@pytest.mark.parametrize("x", [0.1, 0.9])
def test_the_sketch_moves_the_centre_of_attention_to_its_place(family, request_, x):
    alone = replace(request_, scene=replace(SCENE, relations=()))
    sketched = replace(LAYOUT, targets=(replace(LEFT_EDGE, x=x),))
    free, moved = (
        abs(centre(last_maps(family.run(each))["m1"], 0) - x)
        for each in (request_, with_values(alone, guidance=sketched))
    )
    assert moved < free


def test_exclusivity_keeps_words_apart_by_finite_updates(family, request_):
    apart = replace(LAYOUT, options={"exclusivity_weight": 50.0})
    guided, free = (family.run(each) for each in (with_values(request_, guidance=apart), request_))
    assert least_exclusivity(guided) > least_exclusivity(free)
    assert all(0 < step.guidance_loss < np.inf for step in steps_of(guided.events))
    assert guided.latents.isfinite().all()


def least_exclusivity(run):
    return exclusivity([torch.tensor(each) for each in last_maps(run).values()]).min()


def test_the_nearer_object_is_guided_to_stand_lower(family, request_):
    (relation,) = SCENE.relations
    in_front = replace(SCENE, relations=(replace(relation, type=IN_FRONT_OF),))
    request = with_values(replace(request_, scene=in_front), guidance=LAYOUT)
    guided, free = (last_maps(family.run(each)) for each in (request, request_))
    assert lead_down(guided) > lead_down(free)


def lead_down(maps):
    return centre(maps["m1"], 1) - centre(maps["m2"], 1)


def test_updates_of_presence_are_finite(family, request_):
    guidance = replace(STRONG, method_id="psg-presence", last_step=0)
    run = family.run(with_values(request_, guidance=guidance))
    first, _ = steps_of(run.events)
    assert 0 < first.guidance_loss < np.inf
    assert run.latents.isfinite().all()
    assert not torch.equal(run.latents, family.run(request_).latents)


def test_steering_continues_the_best_particle_and_shows_it(family, request_):
    sketched = replace(LAYOUT, targets=(LEFT_EDGE,), last_step=0)
    request = replace(with_values(request_, guidance=sketched), steering=BEST_OF_TWO)
    events = family.run(request).events
    *_, first, last = steps_of(events)
    best = int(np.argmax(first.particles.rewards))
    assert (first.particles.passes, last.particles.passes) == (2, 1)
    assert first.particles.parents == (best,)
    assert first.particles.shown == best
    assert all(0 <= reward <= 1 for reward in first.particles.rewards)
    assert all(step.preview.ndim == 3 for step in (first, last))
    assert first.guiding_passes == 3
    assert np.array_equal(family.draw(request)[-1].image, events[-1].image)


def test_guidance_without_strength_changes_no_particle(family, request_):
    steered = replace(request_, steering=BEST_OF_TWO)
    free, idle = (family.run(each) for each in (steered, with_values(steered, guidance=IDLE)))
    assert torch.equal(idle.latents, free.latents)
    assert np.array_equal(idle.image, free.image)


def test_one_particle_and_no_strength_leave_the_plain_picture_to_the_bit(family, request_):
    one = replace(with_values(request_, guidance=IDLE), steering=Steering(strength=1000.0))
    assert torch.equal(family.run(one).latents, family.run(request_).latents)
    assert np.array_equal(family.run(one).image, family.run(request_).image)


def test_layout_guidance_keeps_the_mean_of_each_latent_channel(family, make_request, monkeypatch):
    shifts, make = [], LatentUpdates.make

    def noted(updates, *arguments):
        snapshot = make(updates, *arguments)
        shifts.append(updates.shift)
        return snapshot

    monkeypatch.setattr(LatentUpdates, "make", noted)
    guidance = replace(STRONG, method_id="layout", last_step=0, inner_updates=2)
    family.draw(make_request(family.tiny.wide, steps=1, guidance=guidance))
    (shift,) = shifts
    largest = shift.abs().max()
    assert largest > 1e-3
    assert shift.mean((1,) if shift.ndim == 3 else (-2, -1)).abs().max() < 1e-4 * largest


TRIED = GuidanceSettings(method_id="layout", strength=2000.0, last_step=1)


def test_a_picture_that_is_right_by_itself_stays_as_it_is(family, make_request, monkeypatch):
    monkeypatch.setattr(layout, "ENOUGH", 1e9)
    request = make_request(family.tiny.size)
    events = family.draw(with_values(request, guidance=TRIED))
    assert np.array_equal(events[-1].image, family.run(request).image)
    assert last_call(events) == events
    assert not any(step.is_guided for step in steps_of(events))


def test_a_picture_that_is_wrong_by_itself_is_begun_again(family, make_request, monkeypatch):
    monkeypatch.setattr(layout, "ENOUGH", 0.0)
    request = with_values(make_request(family.tiny.size), guidance=TRIED)
    tried = family.draw(request)
    at_once = replace(TRIED, options={"trial_share": 0.0})
    guided = family.draw(with_values(request, guidance=at_once))
    assert np.array_equal(tried[-1].image, guided[-1].image)
    assert [step.guidance_loss for step in steps_of(last_call(tried))] == [
        step.guidance_loss for step in steps_of(guided)
    ]
    trial = steps_of(tried)[: -len(steps_of(guided))]
    assert not any(step.is_guided for step in trial)


def last_maps(run):
    return steps_of(run.events)[-1].attention.maps


def centre(weights, axis):
    """Return the centroid of a map as a fraction of the side: axis 0 is x, 1 is y."""
    profile = weights.sum(axis)
    places = (np.arange(len(profile)) + 0.5) / len(profile)
    return (profile * places).sum() / profile.sum()
