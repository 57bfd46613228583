"""Backgrounds of patterns that sticker models never see in training."""

import numpy as np

from spatialstudio.adapters.stickers.training.backgrounds import (
    CLOUD_STRENGTH,
    Backdrop,
    Background,
    _colour,
    _ramp,
)

STRIPES = (3, 12)


def draw_strange_background(backdrop: Backdrop, side: int) -> Background:
    """Draw a background of patterns unseen in training, to test a net's robustness.

    Returns:
        (side, side, 3) in [0, 255]; places are ignored.
    """
    rng = np.random.default_rng(backdrop.seed)
    patterns = (_stripes, _checks, _speckles)
    first, second = (patterns[chosen](rng, side) for chosen in rng.integers(len(patterns), size=2))
    if backdrop.horizon is None:
        return first
    rows = np.linspace(0, 1, side, dtype=np.float32)[:, None, None]
    return np.where(rows < backdrop.horizon, first, second)


def _stripes(rng: np.random.Generator, side: int) -> Background:
    wave = np.sin(2 * np.pi * rng.uniform(*STRIPES) * _ramp(rng, side))
    return np.where(wave > 0, _colour(rng), _colour(rng))


def _checks(rng: np.random.Generator, side: int) -> Background:
    cells = np.arange(side) * int(rng.integers(*STRIPES)) // side
    odd = (cells[:, None] + cells[None, :]) % 2 == 1
    return np.where(odd[..., None], _colour(rng), _colour(rng))


def _speckles(rng: np.random.Generator, side: int) -> Background:
    grain = rng.normal(0, CLOUD_STRENGTH, (side, side, 3))
    return np.clip(_colour(rng) + grain, 0, 255).astype(np.float32)
