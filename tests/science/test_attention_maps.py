import pytest
import torch

from spatialstudio.science.attention_maps import (
    mean_attention,
    mention_maps,
    smooth,
    smoothing_kernel,
)


@pytest.fixture
def layers():
    """Two layers of 2 and 4 heads over a 3 x 5 picture and 4 tokens."""
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(heads, 15, 4, generator=generator) for heads in (2, 4)]


def test_every_head_counts_the_same(layers):
    heads = [head for layer in layers for head in layer]
    expected = sum(head[7, 2] for head in heads) / 6
    assert mean_attention(layers, 3, 5)[2, 1, 2].item() == pytest.approx(expected.item())


def test_rows_come_before_columns(layers):
    layers[0][:, 13, 1] = 100
    place = mean_attention(layers, 3, 5)[1].argmax().item()
    assert divmod(place, 5) == (2, 3)


def test_half_precision_is_averaged_in_full(layers):
    maps = mean_attention([layer.half() for layer in layers], 3, 5)
    assert maps.dtype is torch.float32


def test_gradients_flow_to_every_head(layers):
    leaves = [layer.requires_grad_() for layer in layers]
    gradients = torch.autograd.grad(smooth(mean_attention(leaves, 3, 5)).sum(), leaves)
    assert all((gradient != 0).all() for gradient in gradients)


def test_the_kernel_has_the_weights_of_the_authors():
    corner, edge, centre = 0.0449, 0.1221, 0.3319
    expected = [[corner, edge, corner], [edge, centre, edge], [corner, edge, corner]]
    assert smoothing_kernel().numpy() == pytest.approx(torch.tensor(expected).numpy(), abs=5e-5)
    assert smoothing_kernel().sum().item() == pytest.approx(1)


def test_smoothing_spreads_a_point_by_the_kernel():
    point = torch.zeros(1, 5, 7)
    point[0, 2, 3] = 1
    assert smooth(point)[0, 1:4, 2:5].numpy() == pytest.approx(smoothing_kernel().numpy())


def test_smoothing_reflects_at_the_border():
    corner = torch.zeros(1, 4, 4)
    corner[0, 1, 1] = 1
    expected = 4 * smoothing_kernel()[0, 0]
    assert smooth(corner)[0, 0, 0].item() == pytest.approx(expected.item())


def test_smoothing_keeps_tokens_apart():
    maps = torch.stack([torch.zeros(4, 4), torch.ones(4, 4)])
    assert smooth(maps).numpy() == pytest.approx(maps.numpy())


def test_a_mention_is_the_mean_of_its_tokens(layers):
    maps = mean_attention(layers, 3, 5)
    own = mention_maps(maps, {"teddy": (1, 3), "dog": (0,)})
    assert own["teddy"].numpy() == pytest.approx(((maps[1] + maps[3]) / 2).numpy())
    assert own["dog"].equal(maps[0])
