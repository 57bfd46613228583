from copy import deepcopy

import pytest
import torch
from torch import nn

from spatialstudio.adapters.stickers.training.training_loop import WeightUpdates


@pytest.fixture
def model():
    torch.manual_seed(0)
    return nn.Sequential(nn.Embedding(40, 32), nn.Conv2d(1, 4, 3), nn.Linear(32, 64))


def give_gradients(model):
    torch.manual_seed(1)
    for weight in model.parameters():
        weight.grad = torch.randn_like(weight)


def moves(model, updates, learning_rate=0.01):
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    give_gradients(model)
    updates.step(learning_rate)
    return {name: weight.detach() - before[name] for name, weight in model.named_parameters()}


def test_matrices_get_nearly_orthogonal_updates(model):
    moved = moves(model, WeightUpdates(model, 0.0, orthogonal=True))["2.weight"]
    stretch = torch.linalg.svdvals(moved)
    assert stretch.max() / stretch.min() < 3  # those of the gradient span more than 5
    assert moved.square().mean().sqrt() == pytest.approx(0.01 * 0.2, rel=0.3)


def test_gradients_themselves_are_not_orthogonal(model):
    give_gradients(model)
    stretch = torch.linalg.svdvals(model[2].weight.grad)
    assert stretch.max() / stretch.min() > 5


@pytest.mark.parametrize("name", ["0.weight", "1.weight", "1.bias", "2.bias"])
def test_other_weights_are_updated_by_adamw(model, name):
    moved = moves(model, WeightUpdates(model, 0.0, orthogonal=True))[name]
    assert moved.abs().mean() == pytest.approx(0.01, rel=0.01)


def test_without_muon_all_weights_are_updated_by_adamw(model):
    moved = moves(model, WeightUpdates(model, 0.0, orthogonal=False))
    for step in moved.values():
        assert step.abs().mean() == pytest.approx(0.01, rel=0.01)


def test_frozen_weights_are_unchanged(model):
    model[2].weight.requires_grad_(False)
    moved = moves(model, WeightUpdates(model, 0.0, orthogonal=True))
    assert not moved["2.weight"].any()


def test_a_restored_optimizer_continues_identically(model):
    first = WeightUpdates(model, 0.01, orthogonal=True)
    moves(model, first)
    weights, state = deepcopy(model.state_dict()), deepcopy(first.state())
    went_on = moves(model, first)
    model.load_state_dict(weights)
    second = WeightUpdates(model, 0.01, orthogonal=True)
    second.restore(state)
    torch.testing.assert_close(moves(model, second), went_on)


def test_a_new_optimizer_has_no_momentum(model):
    first = WeightUpdates(model, 0.0, orthogonal=True)
    with_none = moves(model, first)["2.weight"]
    with_some = moves(model, first)["2.weight"]
    assert not torch.equal(with_none, with_some)
