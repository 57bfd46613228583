import pytest
import torch

from spatialstudio.science.guidance.colours import ColouredLoss, divergence, unbound_colours
from spatialstudio.science.guidance.losses import PsgLoss
from spatialstudio.science.guidance.methods.attend_excite import AttendExciteLoss
from spatialstudio.science.pos.attention_maps import ColourPlaces, WordAttention


def spot(column, floor=0.1):
    weights = torch.full((4, 4), floor, dtype=torch.float64)
    weights[:, column] = 1.0
    return weights


def attention_of(maps, *, other="blue"):
    """Red dog and blue car: tokens red, dog, blue, car."""
    colours = {
        "dog": ColourPlaces(words=(0,), noun=(1,), terms=frozenset({"red"})),
        "car": ColourPlaces(words=(2,), noun=(3,), terms=frozenset({other})),
    }
    return WordAttention(
        columns=torch.stack(maps), places={"dog": [0, 1], "car": [2, 3]}, colours=colours
    )


def test_equal_maps_diverge_by_nothing_and_separate_ones_by_a_bit():
    left, right = torch.zeros(2, 2), torch.zeros(2, 2)
    left[0, 0] = right[1, 1] = 1.0
    assert divergence(left, left).item() == pytest.approx(0)
    assert divergence(left, right).item() == pytest.approx(1, abs=1e-6)


def test_a_colour_on_its_noun_costs_less_than_on_the_other_one():
    own = attention_of([spot(0), spot(0), spot(3), spot(3)])
    swapped = attention_of([spot(3), spot(0), spot(0), spot(3)])
    assert unbound_colours(own) < 0.8 < unbound_colours(swapped)


def test_objects_of_one_colour_do_not_repel_each_others_words():
    maps = [spot(0), spot(0), spot(0), spot(0)]
    assert unbound_colours(attention_of(maps, other="red")).item() == pytest.approx(0)
    assert unbound_colours(attention_of(maps)).item() == pytest.approx(1)


def test_a_descending_step_moves_the_colour_to_its_noun():
    red = spot(2).requires_grad_()
    loss = unbound_colours(attention_of([red, spot(0), spot(3), spot(3)]))
    (gradient,) = torch.autograd.grad(loss, red)
    assert gradient[:, 0].sum() < gradient[:, 3].sum()


def test_gradients_are_those_of_the_term():
    torch.manual_seed(0)
    columns = torch.rand(4, 3, 3, dtype=torch.float64).requires_grad_()
    assert torch.autograd.gradcheck(lambda maps: unbound_colours(attention_of(list(maps))), columns)


def test_the_term_joins_the_loss_by_its_weight():
    attention = attention_of([spot(0), spot(1), spot(3), spot(3)])

    class Held(PsgLoss):
        def __call__(self, relations, attention):
            return attention.columns.new_tensor(2.0)

    total = ColouredLoss(Held(), 0.5)([], attention)
    assert total.item() == pytest.approx(2.0 + 0.5 * unbound_colours(attention).item())
    assert ColouredLoss(AttendExciteLoss(), 1.0).reads_whole_text
    assert not ColouredLoss(PsgLoss(), 1.0).reads_whole_text


def test_without_colours_the_term_is_zero():
    attention = WordAttention(columns=torch.ones(1, 3, 3), places={"dog": [0]})
    assert unbound_colours(attention).item() == 0
