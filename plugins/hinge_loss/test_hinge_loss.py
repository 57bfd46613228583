"""Tests of the hinge loss: its value, gradient direction and option."""

import pytest
import torch
from hinge_loss import HingeLoss
from hinge_loss_plugin import METHOD

from spatialstudio.plugin_api import (
    LEFT_OF,
    GuidanceSettings,
    MentionId,
    Relation,
    RelationId,
    WordAttention,
)

DOG_LEFT_OF_CAR = Relation(
    id=RelationId("r"), type=LEFT_OF, subject=MentionId("dog"), object=MentionId("car")
)


def loss_of(dog, car, margin=0.9):
    columns = torch.tensor([[dog], [car]], dtype=torch.float32, requires_grad=True)
    attention = WordAttention(columns=columns, places={"dog": [0], "car": [1]})
    loss = HingeLoss(margin=margin)([DOG_LEFT_OF_CAR], attention)
    loss.backward()
    return loss.item(), columns.grad


def test_a_relation_beyond_the_margin_has_no_gradient():
    loss, gradient = loss_of([1.0, 0, 0], [0, 0, 1.0])
    assert loss == 0
    assert not gradient.any()


def test_a_reversed_relation_moves_in_the_right_direction():
    loss, gradient = loss_of([0.1, 0.1, 0.8], [0.8, 0.1, 0.1])
    assert loss > 0.3
    assert gradient[0, 0, 0] < gradient[0, 0, 2]


def test_the_loss_is_the_squared_distance_to_the_margin():
    assert loss_of([1.0, 1.0], [1.0, 1.0])[0] == pytest.approx(0.4**2)


def test_the_margin_is_an_option_of_the_method():
    settings = GuidanceSettings(options={"hinge_margin": 0.7})
    assert METHOD.make_loss(settings).margin == 0.7
