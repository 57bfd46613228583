from dataclasses import replace

import pytest
import torch

from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    BETWEEN,
    BUILT_IN_TYPES,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Relation,
)
from spatialstudio.science.guidance.losses import (
    PsgLoss,
    psg_loss,
    scene_loss,
)
from spatialstudio.science.pos.attention_maps import WordAttention
from spatialstudio.science.pos.superiority import distance_pos, relation_pos

FLAT_TYPES = [known for known in BUILT_IN_TYPES if not known.needs_depth]


def column(place):
    """A 16 x 16 map with all its mass in one column."""
    weights = torch.zeros(16, 16)
    weights[:, place] = 1
    return weights


def random_maps(count, dtype=torch.float64):
    generator = torch.Generator().manual_seed(count)
    return [
        torch.rand(6, 16, generator=generator, dtype=dtype, requires_grad=True)
        for _ in range(count)
    ]


def maps_for(relation_type, dtype=torch.float64):
    return random_maps(3 if relation_type is BETWEEN else 2, dtype)


def relation(relation_type, subject="a", other="b"):
    return Relation(id=f"{subject} {other}", type=relation_type, subject=subject, object=other)


@pytest.mark.parametrize(
    ("subject", "other", "expected"),
    [
        (column(2), column(12), 0),
        (column(12), column(2), 1),
        (column(7), column(7), 1),
        (torch.ones(16, 16), torch.ones(16, 16), 0.2822265625),
    ],
    ids=["met", "reversed", "the same column", "uniform"],
)
def test_the_loss_equals_the_authors_code(subject, other, expected):
    assert psg_loss(LEFT_OF, [subject, other]).item() == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(
    ("subject", "other", "expected"),
    [(column(2), column(12), -1), (column(12), column(2), 0)],
    ids=["met", "reversed"],
)
def test_the_paper_form_rewards_instead(subject, other, expected):
    assert psg_loss(LEFT_OF, [subject, other], paper_form=True).item() == expected


def test_a_met_relation_has_no_gradient_in_the_code_and_one_in_the_paper():
    weights = column(2) + 1e-3
    weights.requires_grad_()
    code, paper = (
        torch.autograd.grad(psg_loss(LEFT_OF, [weights, column(12)], form), weights)[0].norm()
        for form in (False, True)
    )
    assert code < paper


def test_swapping_the_objects_is_the_inverse_relation():
    subject, other = random_maps(2)
    assert psg_loss(LEFT_OF, [subject, other]) == psg_loss(RIGHT_OF, [other, subject])


def test_a_diagonal_adds_its_claims():
    maps = random_maps(2)
    expected = psg_loss(ABOVE, maps) + psg_loss(LEFT_OF, maps)
    assert psg_loss(ABOVE_LEFT_OF, maps).item() == pytest.approx(expected.item())


def test_near_lowers_the_distance_and_far_raises_it():
    maps = random_maps(2)
    assert psg_loss(NEAR, maps) == distance_pos(*maps)
    assert psg_loss(FAR_FROM, maps) == -distance_pos(*maps)


def test_between_is_met_in_either_order():
    left, middle, right = column(2), column(8), column(14)
    assert psg_loss(BETWEEN, [middle, left, right]) == 0
    assert psg_loss(BETWEEN, [middle, right, left]) == 0


def test_between_is_not_met_outside_the_flanks():
    assert psg_loss(BETWEEN, [column(2), column(8), column(14)]) > 0.5


@pytest.mark.parametrize("paper_form", [False, True], ids=["code", "paper"])
@pytest.mark.parametrize("relation_type", FLAT_TYPES, ids=lambda known: known.id)
def test_the_gradient_equals_finite_differences(relation_type, paper_form):
    maps = maps_for(relation_type)
    assert torch.autograd.gradcheck(
        lambda *weights: psg_loss(relation_type, weights, paper_form), maps
    )


@pytest.mark.parametrize("relation_type", FLAT_TYPES, ids=lambda known: known.id)
def test_a_step_against_the_gradient_raises_pos(relation_type):
    maps = maps_for(relation_type, torch.float32)
    gradients = torch.autograd.grad(psg_loss(relation_type, maps), maps)
    moved = [
        (weights - 0.1 * gradient / gradient.abs().max()).clamp_min(0)
        for weights, gradient in zip(maps, gradients, strict=True)
    ]
    assert relation_pos(relation_type, moved) > relation_pos(relation_type, maps)


def test_the_loss_sums_over_the_batch():
    first, second = torch.rand(2, 3, 5, 7)
    alone = sum(psg_loss(LEFT_OF, [first[row], second[row]]) for row in range(3))
    assert psg_loss(LEFT_OF, [first, second]).item() == pytest.approx(alone.item())


def test_the_loss_sums_over_the_relations():
    one, two, three = random_maps(3)
    maps = {"a": one, "b": two, "c": three}
    total = scene_loss([relation(LEFT_OF), relation(ABOVE, "b", "c")], maps)
    expected = psg_loss(LEFT_OF, [one, two]) + psg_loss(ABOVE, [two, three])
    assert total.item() == pytest.approx(expected.item())


def test_depth_relations_are_skipped():
    one, two = random_maps(2)
    maps = {"a": one, "b": two}
    assert scene_loss([relation(IN_FRONT_OF), relation(LEFT_OF)], maps) == scene_loss(
        [relation(LEFT_OF)], maps
    )


def test_a_scene_with_only_depth_relations_cannot_be_guided():
    one, two = random_maps(2)
    with pytest.raises(ValueError, match="guided"):
        scene_loss([relation(IN_FRONT_OF)], {"a": one, "b": two})


@pytest.mark.parametrize("paper_form", [False, True], ids=["code", "paper"])
def test_the_method_is_the_loss_of_the_scene(paper_form):
    one, two = random_maps(2)
    attention = WordAttention(columns=torch.stack([one, two]), places={"a": [0], "b": [1]})
    assert PsgLoss(paper_form)([relation(LEFT_OF)], attention) == psg_loss(
        LEFT_OF, [one, two], paper_form
    )


def test_the_loss_of_one_relation_equals_its_scene_to_the_bit():
    maps = random_maps(2, torch.float32)
    alone = torch.autograd.grad(psg_loss(BELOW, maps), maps)
    in_scene = torch.autograd.grad(
        scene_loss([relation(BELOW)], dict(zip("ab", maps, strict=True))), maps
    )
    assert all(map(torch.equal, alone, in_scene))


def test_an_empty_map_is_rejected():
    with pytest.raises(EmptyMapError):
        psg_loss(LEFT_OF, [torch.zeros(4, 4), torch.ones(4, 4)])


@pytest.mark.parametrize("paper_form", [False, True], ids=["code", "paper"])
@pytest.mark.parametrize("relation_type", FLAT_TYPES, ids=lambda known: known.id)
def test_a_weight_multiplies_the_loss_of_its_relation(relation_type, paper_form):
    maps = dict(zip("abc", maps_for(relation_type), strict=False))
    second = "c" if relation_type is BETWEEN else None
    plain = Relation(id="r", type=relation_type, subject="a", object="b", second_object=second)
    heavy = replace(plain, weight=3.0)
    expected = 3 * scene_loss([plain], maps, paper_form)
    assert scene_loss([heavy], maps, paper_form).item() == pytest.approx(expected.item())


def test_a_registered_type_is_guided_by_its_claims(diagonally_above):
    maps = maps_for(ABOVE)
    assert psg_loss(diagonally_above, maps) == psg_loss(ABOVE, maps)
