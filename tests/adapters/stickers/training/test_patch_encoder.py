import numpy as np
import pytest
import torch

from spatialstudio.adapters.stickers.training.patch_encoder import gathered, principal_components
from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scenes, paint
from spatialstudio.adapters.stickers.training.train import SMOKE
from spatialstudio.adapters.stickers.training.train_autoencoder import (
    build_autoencoder,
    encode,
    to_tensor,
)


@pytest.fixture(scope="module")
def autoencoder():
    torch.manual_seed(1)
    return build_autoencoder(SMOKE.autoencoder)


@pytest.fixture
def pictures():
    return np.random.default_rng(2).integers(0, 256, (3, 32, 48, 3), dtype=np.uint8)


def test_a_patch_of_a_picture_becomes_one_row(pictures):
    rows = gathered(pictures.astype(np.float64))
    assert rows.shape == (3 * 4 * 6, 192)
    assert sorted(rows[0]) == sorted(pictures[0, :8, :8].ravel())


def test_latents_are_an_eighth_of_the_picture(autoencoder, pictures):
    assert encode(autoencoder, to_tensor(pictures)).shape == (3, 16, 4, 6)


def test_the_encoder_projects_each_patch_by_itself(autoencoder, pictures):
    whole = encode(autoencoder, to_tensor(pictures))
    corner = encode(autoencoder, to_tensor(pictures[:, :8, :8]))
    torch.testing.assert_close(whole[:, :, :1, :1], corner)


def test_components_are_orthogonal_and_the_strongest_first(pictures):
    _, directions, deviations = principal_components(pictures, 5)
    np.testing.assert_allclose(directions.T @ directions, np.eye(5), atol=1e-9)
    assert list(deviations) == sorted(deviations, reverse=True)


def test_latents_of_the_fitted_scenes_are_centred_and_of_unit_variance(autoencoder, fitted):
    latents = encode(autoencoder, to_tensor(fitted))
    assert latents.mean((0, 2, 3)).abs().max() < 1e-3
    assert float(latents.var((0, 2, 3)).mean()) == pytest.approx(1, abs=1e-2)


@pytest.fixture
def fitted():
    """The pictures that the encoder was fitted to."""
    settings = SMOKE.autoencoder
    scenes = draw_scenes(settings.fitted_to, settings.recipe.seed)
    return np.stack([paint(scene, SceneSettings().side).pixels for scene in scenes])
