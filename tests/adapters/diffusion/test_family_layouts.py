"""Sketched places and separate words in every family, on tiny weights."""

from dataclasses import replace

import numpy as np
import torch

from spatialstudio.domain.run_settings import with_values
from spatialstudio.science.pos.map_shape import exclusivity
from tests.adapters.diffusion.drawn_families import (
    CAPTURED,
    FAMILY_WARNINGS,
    LEFT_EDGE,
    SCENE,
    STRONG,
    steps_of,
)

pytestmark = FAMILY_WARNINGS


def test_layout_guidance_moves_attention_to_the_sketch_and_keeps_words_apart(family, make_request):
    guidance = replace(STRONG, method_id="layout", inner_updates=3, options={"order_margin": 0.0})
    request = make_request(family.tiny.wide, capture=CAPTURED)
    alone = replace(request, scene=replace(SCENE, relations=()))
    places = [replace(LEFT_EDGE, x=x) for x in (0.1, 0.9)]
    left, right = (
        last_maps(family.run(with_values(alone, guidance=replace(guidance, targets=(place,)))))
        for place in places
    )
    assert centre_x(left["m1"]) < centre_x(right["m1"])
    apart = replace(guidance, options={"exclusivity_weight": 50.0})
    kept, free = (
        exclusivity([torch.tensor(each) for each in last_maps(run).values()]).min()
        for run in (family.run(with_values(request, guidance=apart)), family.run(request))
    )
    assert kept > free


def last_maps(run):
    return steps_of(run.events)[-1].attention.maps


def centre_x(weights):
    profile = weights.sum(0)
    return (profile * np.arange(len(profile))).sum() / profile.sum()
