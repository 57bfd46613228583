import pytest
import torch
from torch.nn.functional import gelu

from spatialstudio.domain.scene import (
    BETWEEN,
    BUILT_IN_TYPES,
    FAR_FROM,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Axis,
    Relation,
)
from spatialstudio.science.guidance.methods.infsplign import InfSplignLoss
from spatialstudio.science.pos.attention_maps import WordAttention
from spatialstudio.science.pos.map_shape import spread_of

SPATIAL_ONLY = InfSplignLoss(presence=0, balance=0)
PLACES = {"a": [0], "b": [1], "c": [2]}


def cell(column, side=8):
    weights = torch.zeros(side, side)
    weights[4, column] = 1
    return weights


def loss_of(kind, *columns, loss=SPATIAL_ONLY):
    flank = "c" if kind is BETWEEN else None
    claim = Relation(id="r", type=kind, subject="a", object="b", second_object=flank)
    return loss([claim], WordAttention(columns=torch.stack(columns), places=PLACES)).item()


def test_a_map_of_one_cell_has_zero_spread():
    spread = spread_of(cell(2))
    assert spread.centroid[Axis.X].item() == pytest.approx(2.5 / 8)
    assert spread.centroid[Axis.Y].item() == pytest.approx(4.5 / 8)
    assert spread.variance.item() == pytest.approx(0)


def test_a_flat_map_spreads_as_two_uniform_draws():
    assert spread_of(torch.ones(64, 64)).variance.item() == pytest.approx(2 / 12, abs=1e-3)


def test_the_spatial_term_equals_the_paper():
    expected = gelu(torch.tensor(0.75 * (0.25 - 5 / 8))).item()
    assert loss_of(LEFT_OF, cell(1), cell(6), cell(0)) == pytest.approx(expected)


def test_the_other_two_terms_add_variances_and_their_difference():
    flat, firm = torch.ones(8, 8), cell(4)
    variance = spread_of(flat).variance.item()
    whole = loss_of(LEFT_OF, firm, flat, flat, loss=InfSplignLoss())
    assert whole - loss_of(LEFT_OF, firm, flat, flat) == pytest.approx(2 * variance)


def test_centroids_and_presence_use_coarse_maps_and_balance_uses_finer_ones():
    coarse, fine = torch.zeros(2, 2, 4), torch.zeros(2, 4, 8)
    coarse[0, 0, [0, 3]] = 1  # centroid 1/2, variance (3/8)^2
    coarse[1, 0, 3] = 1  # centroid 7/8
    fine[0, 1, 0] = 1
    fine[1, 1, [3, 4]] = 1  # variance (1/16)^2
    claim = Relation(id="r", type=LEFT_OF, subject="a", object="b")
    attention = WordAttention(
        columns=torch.rand(2, 3, 3), places={"a": [0], "b": [1]}, decoder=(coarse, fine)
    )
    spatial = gelu(torch.tensor(0.75 * (0.25 - 3 / 8))).item()
    assert InfSplignLoss()([claim], attention).item() == pytest.approx(
        spatial + (3 / 8) ** 2 + (1 / 16) ** 2
    )


@pytest.mark.parametrize(
    ("kind", "better", "worse"),
    [
        (LEFT_OF, (1, 6), (6, 1)),
        (RIGHT_OF, (6, 1), (1, 6)),
        (NEAR, (3, 4), (0, 7)),
        (FAR_FROM, (0, 7), (3, 4)),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_the_claimed_arrangement_has_a_lower_loss(kind, better, worse):
    rest = cell(0)
    assert loss_of(kind, *map(cell, better), rest) < loss_of(kind, *map(cell, worse), rest)


def test_between_holds_in_either_order():
    middle = loss_of(BETWEEN, cell(4), cell(0), cell(7))
    assert middle == pytest.approx(loss_of(BETWEEN, cell(4), cell(7), cell(0)), abs=0.05)
    assert middle < loss_of(BETWEEN, cell(0), cell(4), cell(7))


@pytest.mark.parametrize(
    "kind", [kind for kind in BUILT_IN_TYPES if not kind.needs_depth], ids=lambda kind: kind.id
)
def test_the_gradient_equals_finite_differences(kind):
    torch.manual_seed(1)
    columns = torch.rand(3, 4, 5, dtype=torch.float64, requires_grad=True)
    flank = "c" if kind is BETWEEN else None
    claim = Relation(id="r", type=kind, subject="a", object="b", second_object=flank)
    assert torch.autograd.gradcheck(
        lambda of: InfSplignLoss()([claim], WordAttention(columns=of, places=PLACES)), columns
    )
