import numpy as np
import pytest

from spatialstudio.adapters.stickers.training.train_generator import NoiseLevels


@pytest.fixture
def log_snr():
    """The logarithms of the signal-to-noise ratios of many drawn timesteps."""
    levels = NoiseLevels(mean=0.5, deviation=2.0)
    signal = levels.signal.numpy()[levels.draw(20_000, np.random.default_rng(1))]
    return np.log(signal / (1 - signal))


def test_noise_levels_scatter_about_their_mean(log_snr):
    assert log_snr.mean() == pytest.approx(0.5, abs=0.1)


def test_noise_levels_have_their_deviation(log_snr):
    assert log_snr.std() == pytest.approx(2.0, abs=0.1)
