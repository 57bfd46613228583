import numpy as np
import pytest
import torch

from spatialstudio.adapters.stickers.pixel_net import (
    PixelNet,
    PixelNetConfig,
    read_pixel_net,
)
from spatialstudio.domain.errors import DetectorError


@pytest.fixture
def net():
    torch.manual_seed(0)
    return PixelNet(PixelNetConfig(outputs=3, widths=(8, 8, 8, 8), side=32)).eval()


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 255, (48, 80, 3), dtype=np.uint8)


def test_pictures_of_any_size_give_an_output_of_the_size_of_the_net(net, picture):
    assert net.answer_for(picture).shape == (3, 32, 32)


def test_a_saved_net_has_nearly_the_same_output(net, picture, tmp_path):
    net.save(tmp_path)
    again = read_pixel_net(tmp_path)
    torch.testing.assert_close(
        again.answer_for(picture), net.answer_for(picture), atol=2e-2, rtol=0
    )


def test_a_missing_net_is_reported(tmp_path):
    with pytest.raises(DetectorError, match="missing or damaged"):
        read_pixel_net(tmp_path / "nowhere")


def test_damaged_weights_are_reported(net, tmp_path):
    net.save(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"rubbish")
    with pytest.raises(DetectorError, match="missing or damaged"):
        read_pixel_net(tmp_path)
