from dataclasses import replace

import pytest
import torch

from spatialstudio.domain.generation import GuidanceSettings, PlaceTarget
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    Relation,
)
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS, guidance_preset
from spatialstudio.science.guidance.methods.layout import LayoutLoss
from spatialstudio.science.pos.attention_maps import WordAttention

SIDE = 16
RELATIONS_ONLY = LayoutLoss(exclusivity=0, unity=0, margin=0)


def spot(x, y, size=4):
    """A square of attention around a place, in cells."""
    weights = torch.full((SIDE, SIDE), 1e-6)
    weights[y - size // 2 : y + size // 2, x - size // 2 : x + size // 2] = 1
    return weights


def related(relation_type, *ends):
    subject, other, *flank = "abc"[: len(ends) or 2]
    return Relation(
        id="r", type=relation_type, subject=subject, object=other, second_object=(*flank, None)[0]
    )


def loss_of(loss, relation_type, *maps):
    columns = torch.stack(maps)
    places = {name: [place] for place, name in enumerate("abc"[: len(maps)])}
    relation = related(relation_type, *maps)
    return loss([relation], WordAttention(columns=columns, places=places)).item()


LEFT, RIGHT, TOP, BOTTOM = spot(3, 8), spot(12, 8), spot(8, 3), spot(8, 12)


@pytest.mark.parametrize(
    ("relation_type", "held", "reversed_"),
    [
        (LEFT_OF, (LEFT, RIGHT), (RIGHT, LEFT)),
        (ABOVE, (TOP, BOTTOM), (BOTTOM, TOP)),
        (IN_FRONT_OF, (BOTTOM, TOP), (TOP, BOTTOM)),
        (BEHIND, (TOP, BOTTOM), (BOTTOM, TOP)),
        (BETWEEN, (spot(8, 8), LEFT, RIGHT), (LEFT, spot(8, 8), RIGHT)),
    ],
)
def test_a_relation_costs_nothing_when_it_holds(relation_type, held, reversed_):
    assert loss_of(RELATIONS_ONLY, relation_type, *held) == pytest.approx(0, abs=1e-3)
    assert loss_of(RELATIONS_ONLY, relation_type, *reversed_) > 0.7


def test_a_margin_asks_for_more_distance():
    touching = spot(6, 8), spot(10, 8)
    assert loss_of(RELATIONS_ONLY, LEFT_OF, *touching) == pytest.approx(0, abs=1e-3)
    assert loss_of(replace(RELATIONS_ONLY, margin=0.2), LEFT_OF, *touching) > 0.1


def test_near_objects_are_drawn_together_but_not_onto_each_other():
    touching = spot(5, 8), spot(10, 8)
    assert loss_of(RELATIONS_ONLY, NEAR, LEFT, RIGHT) > 0.1
    assert loss_of(RELATIONS_ONLY, NEAR, *touching) == 0
    assert loss_of(RELATIONS_ONLY, NEAR, spot(8, 8), spot(9, 8)) > 0.1
    both = LayoutLoss()
    assert loss_of(both, NEAR, *touching) < loss_of(both, NEAR, spot(8, 8), spot(8, 8))


def test_far_objects_are_moved_apart():
    corners = spot(2, 2), spot(14, 14)
    assert loss_of(RELATIONS_ONLY, FAR_FROM, *corners) == pytest.approx(0, abs=0.01)
    assert loss_of(RELATIONS_ONLY, FAR_FROM, LEFT, RIGHT) > 0.1


def test_the_nearer_object_stands_lower_by_the_margin():
    lower, higher = spot(8, 10), spot(8, 6)
    assert loss_of(RELATIONS_ONLY, IN_FRONT_OF, lower, higher) == pytest.approx(0, abs=1e-3)
    assert loss_of(replace(RELATIONS_ONLY, margin=0.2), IN_FRONT_OF, lower, higher) > 0.1


def test_depth_does_not_contradict_a_vertical_order_or_the_sketch():
    attention = WordAttention(columns=torch.stack([TOP, BOTTOM]), places={"a": [0], "b": [1]})
    above, front = related(ABOVE), replace(related(IN_FRONT_OF), id="d")
    assert RELATIONS_ONLY([above, front], attention).item() == pytest.approx(0, abs=1e-3)
    placed = replace(RELATIONS_ONLY, placed=frozenset("ab"))
    assert placed([front], attention).item() == 0


def test_lost_and_merged_objects_are_penalised():
    loss = LayoutLoss(exclusivity=1, unity=0)
    apart = loss_of(loss, LEFT_OF, LEFT, RIGHT)
    lost = loss_of(loss, LEFT_OF, LEFT, RIGHT * 0.01 + LEFT)
    assert apart == pytest.approx(0, abs=1e-3)
    assert lost > 0.4


def test_an_object_in_two_places_is_penalised_unless_it_is_plural_or_placed():
    loss = replace(RELATIONS_ONLY, unity=1)
    columns = torch.stack([LEFT + TOP, spot(12, 12)]).requires_grad_()
    places = {"a": [0], "b": [1]}
    one = WordAttention(columns=columns, places=places)
    several = replace(one, plurals=frozenset("a"))
    placed = replace(loss, placed=frozenset("a"))
    twice, plural, sketched = loss([], one), loss([], several), placed([], one)
    assert twice > plural + 0.3
    assert sketched == plural


def test_the_gradient_of_unity_keeps_the_denser_of_two_places():
    columns = torch.stack([1.2 * spot(3, 8) + spot(12, 8)]).requires_grad_()
    attention = WordAttention(columns=columns, places={"a": [0]})
    (gradient,) = torch.autograd.grad(replace(RELATIONS_ONLY, unity=1)([], attention), columns)
    assert gradient[0, 8, 3] < 0 < gradient[0, 8, 12]


def test_the_gradient_moves_a_merged_map_away_from_the_other():
    maps = torch.stack([spot(8, 8), spot(8, 8)]).requires_grad_()
    loss = LayoutLoss(exclusivity=1)
    loss([related(LEFT_OF)], WordAttention(columns=maps, places={"a": [0], "b": [1]})).backward()
    assert maps.grad is not None
    left, right = maps.grad[0][8, :8].sum(), maps.grad[0][8, 8:].sum()
    assert left < right  # descending raises attention to the left half


def test_a_constant_map_has_a_finite_gradient():
    maps = torch.ones(2, SIDE, SIDE, requires_grad=True)
    attention = WordAttention(columns=maps, places={"a": [0], "b": [1]})
    for relation_type in (LEFT_OF, NEAR, FAR_FROM, IN_FRONT_OF):
        (gradient,) = torch.autograd.grad(LayoutLoss()([related(relation_type)], attention), maps)
        assert gradient.isfinite().all()


def test_the_recommended_gradients_are_clipped_for_every_family():
    settings = guidance_preset("layout", "FluxPipeline", Preset.RECOMMENDED)
    assert settings.gradient_limit == 0.001


def test_options_reach_the_loss():
    options = {"exclusivity_weight": 0.25, "unity_weight": 0.2, "order_margin": 0.1}
    sketch = (PlaceTarget(mention_id="a", x=0.2, y=0.2),)
    make = GUIDANCE_METHODS["layout"].make_loss
    loss = make(GuidanceSettings(method_id="layout", options=options, targets=sketch))
    expected = LayoutLoss(exclusivity=0.25, unity=0.2, margin=0.1, placed=frozenset("a"))
    assert loss == expected
    free = make(GuidanceSettings(method_id="layout", targets=sketch, target_weight=0))
    assert free.placed == frozenset()


@pytest.mark.parametrize(("steps", "last"), [(20, 5), (10, 2), (4, 1), (1, 0)])
def test_the_trial_takes_a_share_of_the_steps(steps, last):
    trial = GUIDANCE_METHODS["layout"].make_trial(GuidanceSettings(method_id="layout"))
    assert trial.last_step(steps) == last


def test_sketched_pictures_are_guided_without_a_trial():
    make = GUIDANCE_METHODS["layout"].make_trial
    sketched = GuidanceSettings(
        method_id="layout", targets=(PlaceTarget(mention_id="a", x=0.2, y=0.2),)
    )
    assert make(sketched) is None
    assert make(replace(sketched, target_weight=0)) is not None
    assert make(GuidanceSettings(method_id="layout", options={"trial_share": 0.0})) is None
