import pytest
import torch

from spatialstudio.domain.scene import LEFT_OF, Relation
from spatialstudio.science.guidance.losses import PsgLoss, scene_loss
from spatialstudio.science.guidance.methods.attend_excite import AttendExciteLoss
from spatialstudio.science.guidance.methods.psg_presence import PsgPresenceLoss
from spatialstudio.science.guidance.methods.weighted_presence import WeightedPresenceLoss
from spatialstudio.science.pos.attention_maps import WordAttention
from spatialstudio.science.pos.map_shape import compactness

RELATIONS = [Relation(id="r", type=LEFT_OF, subject="a", object="b")]
PLACES = {"a": [0], "b": [2]}


def spot(share, side=8):
    """A map whose mass lies evenly on a share of the rows."""
    weights = torch.zeros(side, side)
    weights[: round(share * side)] = 1
    return weights


def attention(columns, places=PLACES):
    return WordAttention(columns=columns, places=places)


@pytest.fixture
def random_attention():
    torch.manual_seed(0)
    columns = torch.rand(4, 6, 7, dtype=torch.float64, requires_grad=True)
    return attention(columns)


def test_a_word_that_dominates_a_position_is_present():
    columns = torch.zeros(3, 8, 8)
    columns[0, :3, :3] = 1
    columns[2, 5:, 5:] = 1
    assert AttendExciteLoss()(RELATIONS, attention(columns)).item() == pytest.approx(0, abs=1e-6)


def test_words_that_dominate_no_position_are_missing():
    loss = AttendExciteLoss()(RELATIONS, attention(torch.full((4, 8, 8), 0.25)))
    assert loss.item() == pytest.approx(0.75)


def test_attend_and_excite_uses_only_the_word_with_the_least_attention(random_attention):
    loss = AttendExciteLoss()(RELATIONS, random_attention)
    lacks = [1 - weights.amax() for weights in random_attention.excited_maps().values()]
    assert loss == max(lacks)


def test_weighted_presence_sums_over_all_words(random_attention):
    lacks = {m: 1 - weights.amax() for m, weights in random_attention.excited_maps().items()}
    loss = WeightedPresenceLoss({"a": 0.21})(RELATIONS, random_attention)
    assert loss.item() == pytest.approx((0.21 * lacks["a"] + lacks["b"]).item())


@pytest.mark.parametrize(("share", "expected"), [(1, 0), (0.5, 0.5), (0.125, 0.875)])
def test_compactness_is_the_area_outside_the_object(share, expected):
    assert compactness(spot(share)).item() == pytest.approx(expected)


def test_compactness_does_not_depend_on_scale():
    weights = torch.rand(5, 6)
    assert compactness(7 * weights).item() == pytest.approx(compactness(weights).item())


def test_our_method_adds_spread_to_misplacement(random_attention):
    alone = PsgPresenceLoss(PsgLoss(), presence=0)(RELATIONS, random_attention)
    both = PsgPresenceLoss(PsgLoss(), presence=2)(RELATIONS, random_attention)
    maps = random_attention.maps()
    spread = sum((1 - compactness(weights)) ** 2 for weights in maps.values())
    assert alone == scene_loss(RELATIONS, maps)
    assert both.item() == pytest.approx((alone + 2 * spread).item())


@pytest.mark.parametrize(
    "loss",
    [AttendExciteLoss(), WeightedPresenceLoss({"a": 2}), PsgPresenceLoss(PsgLoss())],
    ids=repr,
)
def test_the_gradient_equals_finite_differences(loss, random_attention):
    assert torch.autograd.gradcheck(
        lambda columns: loss(RELATIONS, attention(columns)), random_attention.columns
    )
