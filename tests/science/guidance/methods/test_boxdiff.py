import pytest
import torch

from spatialstudio.domain.scene import (
    LEFT_OF,
    RIGHT_OF,
    Relation,
)
from spatialstudio.science.guidance.methods.boxdiff import BoxDiffLoss
from spatialstudio.science.pos.attention_maps import WordAttention

PLACES = {"a": [0], "b": [1]}


def relation(kind):
    return [Relation(id="r", type=kind, subject="a", object="b")]


@pytest.fixture
def side_by_side():
    """The first word holds the left box firmly, the second the right one, a third the rest."""
    columns = torch.zeros(3, 16, 16)
    columns[0, 4:12, 1:6] = 1
    columns[1, 4:12, 10:15] = 1
    columns[2] = 0.5
    return WordAttention(columns=columns, places=PLACES)


def test_attention_in_its_own_box_has_a_lower_loss_than_in_the_other(side_by_side):
    right_way = BoxDiffLoss()(relation(LEFT_OF), side_by_side)
    wrong_way = BoxDiffLoss()(relation(RIGHT_OF), side_by_side)
    assert right_way < 1 < wrong_way


def test_refinement_uses_the_mention_with_the_least_attention_in_its_box(side_by_side):
    assert BoxDiffLoss().refined(relation(LEFT_OF), side_by_side) < 0.01
    side_by_side.columns[1] = 0
    assert BoxDiffLoss().refined(relation(LEFT_OF), side_by_side) > 0.9


def test_the_smallest_map_still_counts_a_cell():
    torch.manual_seed(0)
    attention = WordAttention(columns=torch.rand(3, 3, 3), places=PLACES)
    assert torch.isfinite(BoxDiffLoss()(relation(LEFT_OF), attention))


def test_the_gradient_equals_finite_differences():
    torch.manual_seed(0)
    columns = 0.03 * torch.rand(3, 8, 8, dtype=torch.float64)
    assert torch.autograd.gradcheck(
        lambda of: BoxDiffLoss()(relation(LEFT_OF), WordAttention(columns=of, places=PLACES)),
        columns.requires_grad_(),
    )
