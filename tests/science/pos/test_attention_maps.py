import pytest
import torch

from spatialstudio.science.pos.attention_maps import mention_maps, smooth, smoothing_kernel


def test_the_kernel_has_the_authors_weights():
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


def test_a_mention_is_the_mean_of_its_tokens():
    maps = torch.rand(4, 3, 5)
    own = mention_maps(maps, {"teddy": (1, 3), "dog": (0,)})
    assert own["teddy"].numpy() == pytest.approx(((maps[1] + maps[3]) / 2).numpy())
    assert own["dog"].equal(maps[0])
