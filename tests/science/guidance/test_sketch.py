import pytest
import torch

from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.scene import LEFT_OF, Relation
from spatialstudio.science.guidance.losses import PsgLoss
from spatialstudio.science.guidance.methods.attend_excite import AttendExciteLoss
from spatialstudio.science.guidance.sketch import PLACE_WEIGHT, SketchedLoss, target_offset
from spatialstudio.science.pos.attention_maps import WordAttention

SIDE = 32
RELATION = Relation(id="r", type=LEFT_OF, subject="a", object="b")


def disc(x, y, size, floor=0.0):
    centres = (torch.arange(SIDE) + 0.5) / SIDE
    inside = (centres[None] - x) ** 2 + (centres[:, None] - y) ** 2 <= (size / 2) ** 2
    return inside.float() + floor


def target(x, y, size=None, mention="a"):
    return PlaceTarget(mention_id=mention, x=x, y=y, size=size)


def test_an_object_at_its_target_costs_least():
    at_target = target_offset(disc(0.3, 0.6, 0.25), target(0.3, 0.6, 0.25))
    assert at_target.item() < 0.15
    for x, y, size in [(0.5, 0.6, 0.25), (0.3, 0.8, 0.25), (0.3, 0.6, 0.5)]:
        assert target_offset(disc(x, y, size), target(0.3, 0.6, 0.25)) > at_target


def test_the_distance_counts_squared():
    near, far = (
        target_offset(disc(0.3 + off, 0.5, 0.2), target(0.3, 0.5)).item() for off in (0.25, 0.5)
    )
    assert far - near >= PLACE_WEIGHT * (0.5**2 - 0.25**2) * 0.95


def test_the_floor_of_attention_does_not_hide_an_object():
    free, floored = (disc(0.2, 0.2, 0.25, floor) for floor in (0.0, 0.05))
    expected = target_offset(free, target(0.2, 0.2, 0.25)).item()
    assert target_offset(floored, target(0.2, 0.2, 0.25)).item() == pytest.approx(
        expected, abs=0.02
    )


def test_any_size_ignores_the_size():
    small, large = (target_offset(disc(0.5, 0.5, s), target(0.5, 0.5)) for s in (0.1, 0.2))
    sized = target_offset(disc(0.5, 0.5, 0.2), target(0.5, 0.5, 0.1))
    assert sized - target_offset(disc(0.5, 0.5, 0.1), target(0.5, 0.5, 0.1)) > large - small


def test_a_descending_step_moves_attention_towards_the_target():
    weights = (disc(0.5, 0.5, 0.4) + 0.1).requires_grad_()
    (gradient,) = torch.autograd.grad(target_offset(weights, target(0.2, 0.5)), weights)
    assert gradient[16, 11] < gradient[16, 20]


def test_the_sketch_joins_the_relations_by_its_weight():
    maps = torch.stack([disc(0.3, 0.5, 0.3), disc(0.6, 0.5, 0.3)])
    attention = WordAttention(columns=maps, places={"a": [0], "b": [1]})
    targets = (target(0.1, 0.5), target(0.9, 0.5, mention="gone"))
    held = PsgLoss()
    total = SketchedLoss(held=held, targets=targets, weight=0.5)([RELATION], attention)
    expected = held([RELATION], attention) + 0.5 * target_offset(maps[0], targets[0])
    assert total.item() == pytest.approx(expected.item())
    alone = SketchedLoss(held=None, targets=targets)
    assert alone([], attention).item() == pytest.approx(target_offset(maps[0], targets[0]).item())


def test_it_reads_what_the_loss_of_the_relations_reads():
    assert SketchedLoss(held=AttendExciteLoss(), targets=()).reads_whole_text
    assert not SketchedLoss(held=PsgLoss(), targets=()).reads_whole_text
    assert not SketchedLoss(held=None, targets=()).reads_whole_text
