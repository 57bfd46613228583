"""Backgrounds of scenes: soft colours, ground and sky, or a named place."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spatialstudio.adapters.stickers.training.places import PLACES
from spatialstudio.domain.frozen import frozen

Background = NDArray[np.float32]

LIGHTEST, DARKEST = 255.0, 60.0
CLOUD_CELLS = 5
CLOUD_STRENGTH = 22.0
SKY_TINT = (70.0, 20.0, 0.0)
LOW_HORIZON = (0.72, 0.88)  # for places in flat scenes, where nothing is on the ground
STRIPES = (3, 12)


@frozen
class Backdrop:
    """The background of a scene.

    Attributes:
        seed: Determines colours, and the kind if there is no place.
        horizon: Height of the horizon as a share of the side; None in a flat scene.
        place: Name of a place for prompts; None for plain colours.
    """

    seed: int
    horizon: float | None = None
    place: str | None = None


Painter = Callable[[Backdrop, int], Background]


def draw_background(backdrop: Backdrop, side: int) -> Background:
    """Draw a background as (side, side, 3) in [0, 255]."""
    rng = np.random.default_rng(backdrop.seed)
    if backdrop.place is not None:
        low = float(rng.uniform(*LOW_HORIZON))
        horizon = low if backdrop.horizon is None else backdrop.horizon
        return PLACES[backdrop.place].paint(rng, horizon, side)
    if backdrop.horizon is not None:
        return _ground(rng, backdrop.horizon, side)
    kinds = (_plain, _split, _gradient, _cloudy)
    chosen = rng.choice(len(kinds), p=(0.4, 0.15, 0.25, 0.2))
    return kinds[chosen](rng, side)


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


def _colour(rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw a random colour, mostly light and pale, so that stickers are distinct."""
    brightness = rng.uniform(DARKEST, LIGHTEST)
    tint = rng.uniform(-45, 45, 3)
    return np.clip(brightness + tint, 0, 255).astype(np.float32)


def _plain(rng: np.random.Generator, side: int) -> Background:
    return np.broadcast_to(_colour(rng), (side, side, 3)).copy()


def _ramp(rng: np.random.Generator, side: int) -> NDArray[np.float32]:
    """Return a (side, side, 1) ramp from 0 to 1 in a random direction."""
    angle = rng.uniform(0, 2 * np.pi)
    line = np.linspace(-1, 1, side, dtype=np.float32)
    slope = np.cos(angle) * line[None, :] + np.sin(angle) * line[:, None]
    reach = abs(np.cos(angle)) + abs(np.sin(angle))
    return np.asarray((slope / reach + 1) / 2, dtype=np.float32)[..., None]


def _split(rng: np.random.Generator, side: int) -> Background:
    first, second = _colour(rng), _colour(rng)
    return np.where(_ramp(rng, side) < rng.uniform(0.3, 0.7), first, second)


def _gradient(rng: np.random.Generator, side: int) -> Background:
    first, second = _colour(rng), _colour(rng)
    return np.asarray(first + (second - first) * _ramp(rng, side), dtype=np.float32)


def _cloudy(rng: np.random.Generator, side: int) -> Background:
    coarse = rng.normal(0, CLOUD_STRENGTH, (CLOUD_CELLS, CLOUD_CELLS)).astype(np.float32)
    clouds = Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC)
    clouded = np.clip(_colour(rng) + np.asarray(clouds)[..., None], 0, 255)
    return np.asarray(clouded, dtype=np.float32)


def _ground(rng: np.random.Generator, horizon: float, side: int) -> Background:
    sky, ground = np.clip(_colour(rng) + SKY_TINT, 0, 255)[::-1], _colour(rng)
    rows = np.linspace(0, 1, side, dtype=np.float32)[:, None, None]
    nearness = np.clip((rows - horizon) / (1 - horizon), 0, 1)
    shaded_ground = ground * (0.8 + 0.2 * nearness)
    picture = np.where(rows < horizon, sky, shaded_ground)
    return np.broadcast_to(picture, (side, side, 3)).astype(np.float32)


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
