import pytest
import torch

from spatialstudio.adapters.backends import layer_attention
from spatialstudio.adapters.backends.attention_layers import AttentionLayer
from spatialstudio.adapters.backends.layer_attention import LayerAttention, MeanAttention

COLUMNS = (3, 1)
LAYER = AttentionLayer("layer", torch.nn.Module(), 0)


def seen(heads, depth=8, mask=None, dtype=torch.float32):
    torch.manual_seed(heads)
    query, key = torch.randn(heads, 15, depth), torch.randn(heads, 6, depth)
    return LayerAttention(LAYER, query.to(dtype), key.to(dtype), depth**-0.5, mask)


def mean_of(*layers):
    mean = MeanAttention(COLUMNS)
    for layer in layers:
        mean.take(layer)
    return mean.mean()


def each_head(*layers):
    return torch.cat([layer.probabilities(COLUMNS) for layer in layers]).mean(0)


@pytest.fixture(params=[0, 10**9], ids=["one after the other", "together"])
def waiting(request, monkeypatch):
    monkeypatch.setattr(layer_attention, "MOST_WAITING", request.param)


@pytest.mark.usefixtures("waiting")
@pytest.mark.parametrize(
    "layers",
    [
        (seen(2), seen(4)),
        (seen(2), seen(4, depth=4), seen(1)),
        (seen(2), seen(1, mask=torch.randn(1, 15, 6)), seen(3, mask=torch.randn(3, 15, 6))),
    ],
    ids=["alike", "of several depths", "masked and not"],
)
@torch.no_grad()
def test_every_head_of_every_layer_counts_the_same(layers):
    torch.testing.assert_close(mean_of(*layers), each_head(*layers))


def test_columns_stand_in_the_order_in_which_they_are_wanted():
    layer = seen(2)
    whole = layer.probabilities(range(6))
    torch.testing.assert_close(whole.sum(-1), torch.ones(2, 15))
    assert torch.equal(layer.probabilities(COLUMNS), whole[..., [3, 1]])


def test_half_precision_is_averaged_in_full():
    assert (
        mean_of(seen(2, dtype=torch.float16), seen(1, dtype=torch.float16)).dtype is torch.float32
    )


@torch.no_grad()
def test_no_more_waits_than_may(monkeypatch):
    monkeypatch.setattr(layer_attention, "MOST_WAITING", 2 * seen(2).size)
    mean = MeanAttention(COLUMNS)
    waiting = []
    for _ in range(5):
        mean.take(seen(2))
        waiting.append(len(mean._waiting))
    assert waiting == [1, 2, 1, 2, 1]


def test_with_a_gradient_none_waits_and_it_flows_to_every_head():
    layers = [seen(2), seen(4)]
    leaves = [layer.query.requires_grad_() for layer in layers]
    mean = MeanAttention(COLUMNS)
    for layer in layers:
        mean.take(layer)
        assert not mean._waiting
    gradients = torch.autograd.grad(mean.mean().square().sum(), leaves)
    assert all((gradient != 0).any((1, 2)).all() for gradient in gradients)
