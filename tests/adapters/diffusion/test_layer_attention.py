from dataclasses import replace

import pytest
import torch

from spatialstudio.adapters.diffusion import attention_tap
from spatialstudio.adapters.diffusion.attention_layers import AttentionLayer
from spatialstudio.adapters.diffusion.attention_tap import (
    LayerAttention,
    LevelMeans,
    MeanAttention,
)

COLUMNS = (3, 1)
LAYER = AttentionLayer("layer", torch.nn.Module(), 0)
OTHER = AttentionLayer("other", torch.nn.Module(), 0)


def seen(heads, depth=8, mask=None, dtype=torch.float32, layer=LAYER):
    torch.manual_seed(heads)
    query, key = torch.randn(heads, 15, depth), torch.randn(heads, 6, depth)
    return LayerAttention(layer, query.to(dtype), key.to(dtype), depth**-0.5, mask)


def mean_of(*layers):
    mean = MeanAttention(COLUMNS)
    for layer in layers:
        mean.take(layer)
    return mean.mean()


def each_head(*layers):
    """Average head by head; columns stand in the order in which they are wanted."""
    return torch.cat([layer.probabilities() for layer in layers]).mean(0)[:, [3, 1]].T


@pytest.mark.parametrize(
    "layers",
    [
        (seen(2), seen(4)),
        (seen(2), seen(4, depth=4), seen(1)),
        (seen(2), seen(1, mask=torch.randn(1, 15, 6)), seen(3, mask=torch.randn(3, 15, 6))),
    ],
    ids=["alike", "of several depths", "masked and not"],
)
def test_every_head_of_every_layer_counts_the_same(layers):
    torch.testing.assert_close(mean_of(*layers), each_head(*layers))


def test_told_sums_change_nothing_but_the_work():
    usual = [seen(2), seen(2), seen(4, depth=4), seen(2)]
    scores = [each.query @ each.key.mT * each.scale for each in usual]
    told = [
        replace(each, log_sums=own.logsumexp(-1)) for each, own in zip(usual, scores, strict=True)
    ]
    torch.testing.assert_close(mean_of(*told), mean_of(*usual))


def test_layers_do_not_wait_where_that_takes_too_much_memory(monkeypatch):
    monkeypatch.setattr(attention_tap, "MOST_WAITING_BYTES", 0)
    first = seen(2)
    told = replace(first, log_sums=torch.zeros(2, 15))
    mean = MeanAttention(COLUMNS)
    mean.take(told)
    told.query.fill_(torch.nan)
    assert mean.mean().isfinite().all()


def test_what_a_position_attends_to_sums_to_one():
    torch.testing.assert_close(seen(2).probabilities().sum(-1), torch.ones(2, 15))


def test_half_precision_is_averaged_in_full():
    assert (
        mean_of(seen(2, dtype=torch.float16), seen(1, dtype=torch.float16)).dtype is torch.float32
    )


def test_a_gradient_flows_to_every_head():
    layers = [seen(2), seen(4)]
    leaves = [layer.query.requires_grad_() for layer in layers]
    gradients = torch.autograd.grad(mean_of(*layers).square().sum(), leaves)
    assert all((gradient != 0).any((1, 2)).all() for gradient in gradients)


def test_a_layer_counts_in_every_level_that_it_belongs_to():
    first, second = seen(2), seen(4, layer=OTHER)
    levels = LevelMeans(COLUMNS, [(LAYER,), (LAYER, OTHER)])
    for each in (first, second):
        levels.take(each)
    alone, both = levels.means()
    torch.testing.assert_close(alone, each_head(first))
    torch.testing.assert_close(both, each_head(first, second))
