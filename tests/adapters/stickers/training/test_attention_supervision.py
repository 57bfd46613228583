import pytest
import torch

from spatialstudio.adapters.stickers.training.captions import Caption
from spatialstudio.adapters.stickers.training.train import SMOKE
from spatialstudio.adapters.stickers.training.train_generator import (
    NounMaps,
    build_denoiser,
    map_loss,
)

CAPTION = Caption(words=("a", "stop", "sign"), owners=(None, 0, 0))


@pytest.fixture
def mask():
    """One picture, one object that covers the left half of 2 x 2 positions."""
    return torch.tensor([[[[255.0, 0.0], [255.0, 0.0]]]])


def maps_of(noun):
    """One layer, one picture, 4 positions, 5 tokens; the noun's two tokens share a map."""
    maps = torch.full((1, 1, 4, 5), 0.1)
    maps[0, 0, :, 2] = maps[0, 0, :, 3] = torch.tensor(noun)
    return maps


def test_a_map_equal_to_the_mask_has_zero_loss(mask):
    loss = map_loss(maps_of([0.5, 0.0, 0.5, 0.0]), [CAPTION], mask)
    assert loss.item() == pytest.approx(0, abs=1e-4)


def test_a_uniform_map_has_the_loss_of_the_uncovered_share(mask):
    loss = map_loss(maps_of([0.25] * 4), [CAPTION], mask)
    assert loss.item() == pytest.approx(0.6931, abs=1e-3)


def test_a_map_outside_the_mask_has_the_highest_loss(mask):
    assert map_loss(maps_of([0.0, 0.5, 0.0, 0.5]), [CAPTION], mask) > 5


def test_a_caption_without_nouns_has_zero_loss(mask):
    empty = Caption(words=(), owners=())
    assert map_loss(maps_of([0.25] * 4), [empty], mask).item() == 0


def test_only_the_finest_cross_attention_is_captured():
    denoiser = build_denoiser(SMOKE.generator, latent_channels=8)
    maps = NounMaps(denoiser)
    with torch.no_grad():
        denoiser(torch.zeros(2, 8, 16, 16), torch.tensor([1, 2]), torch.randn(2, 7, 128))
    weights = maps.collect()
    assert weights.shape[1:] == (2, 256, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(weights.shape[:3]))


def test_plain_attention_equals_the_library():
    torch.manual_seed(0)
    denoiser = build_denoiser(SMOKE.generator, latent_channels=8).eval()
    arguments = (torch.randn(1, 8, 16, 16), torch.tensor([500]), torch.randn(1, 7, 128))
    with torch.no_grad():
        expected = denoiser(*arguments).sample
        NounMaps(denoiser)
        torch.testing.assert_close(denoiser(*arguments).sample, expected, atol=1e-5, rtol=1e-4)
