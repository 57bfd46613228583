"""Backgrounds of scenes: soft colours, ground and sky, or a painted place with a name."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spatialstudio.domain.frozen import frozen

Picture = NDArray[np.float32]
Colour = tuple[float, float, float]

TINT = 10.0  # colour variation of a place between pictures
SOFTNESS = 0.012  # of edges, as a share of the side
WHITE: Colour = (255, 255, 255)


@frozen
class Place:
    """A named background.

    Attributes:
        phrases: Names in captions, most common first.
        paint: Draws it from random numbers, horizon and side: (side, side, 3) in [0, 255].
    """

    phrases: tuple[str, ...]
    paint: Callable[[np.random.Generator, float, int], Picture]


def _beach(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(150, 214, 245), bottom=(190, 230, 250))
    sea = max(horizon - 0.16, 0.05)
    brush.below(sea, top=(40, 130, 200), bottom=(80, 190, 215))
    brush.below(horizon, top=(245, 225, 165), bottom=(235, 205, 140))
    brush.band(horizon, 0.025, WHITE)
    return brush.canvas


def _night(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(14, 18, 58), bottom=(44, 52, 112))
    brush.dots(22, (0, horizon), 0.008, (245, 245, 215))
    brush.below(horizon, top=(22, 30, 52), bottom=(12, 18, 34))
    return brush.canvas


def _grass(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(130, 200, 250), bottom=(205, 235, 252))
    brush.below(horizon, top=(120, 200, 80), bottom=(70, 160, 50))
    return brush.canvas


def _space(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(10, 6, 26), bottom=(40, 16, 66))
    brush.dots(3, (0, 1), 0.1, (84, 36, 120))
    brush.dots(40, (0, 1), 0.008, WHITE)
    brush.below(horizon, top=(128, 122, 140), bottom=(92, 86, 106))
    brush.dots(5, (horizon + 0.08, 1), 0.035, (80, 74, 94))
    return brush.canvas


def _snow(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(150, 176, 206), bottom=(186, 204, 224))
    brush.below(horizon, top=(246, 249, 254), bottom=(226, 236, 248))
    brush.dots(34, (0, 1), 0.012, WHITE)
    return brush.canvas


def _desert(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(250, 205, 130), bottom=(254, 236, 190))
    brush.dune(horizon, 0.07, (222, 150, 70))
    brush.dune(horizon + 0.14, 0.05, (204, 124, 52))
    return brush.canvas


def _road(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(176, 206, 226), bottom=(214, 228, 236))
    brush.below(horizon, top=(104, 106, 114), bottom=(80, 82, 90))
    brush.dashes((horizon + 1) / 2, 0.03, 5, (248, 244, 226))
    return brush.canvas


def _forest(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(34, 84, 50), bottom=(76, 128, 72))
    brush.columns(7, (0, horizon), (0.025, 0.05), (72, 48, 34))
    brush.below(horizon, top=(62, 90, 40), bottom=(44, 66, 30))
    return brush.canvas


def _room(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(242, 214, 196), bottom=(232, 198, 178))
    brush.below(horizon, top=(166, 108, 62), bottom=(142, 88, 48))
    brush.band(horizon, 0.035, (250, 246, 240))
    return brush.canvas


def _sunset(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(112, 54, 122), bottom=(255, 140, 60))
    brush.disc(rng.uniform(0.2, 0.8), horizon, 0.13, (255, 222, 110))
    brush.below(horizon, top=(92, 44, 70), bottom=(56, 28, 54))
    return brush.canvas


def _sea(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(60, 190, 220), bottom=(10, 84, 150))
    brush.dots(12, (0, 1), 0.02, (176, 232, 244))
    brush.dune(horizon + 0.08, 0.03, (196, 182, 130))
    return brush.canvas


def _city(rng: np.random.Generator, horizon: float, side: int) -> Picture:
    brush = _Brush(rng, side, top=(196, 210, 232), bottom=(228, 232, 242))
    for tone in (150, 122):
        brush.columns(5, (horizon * 0.25, horizon), (0.08, 0.14), (tone - 16, tone - 6, tone + 20))
    brush.below(horizon, top=(186, 184, 186), bottom=(164, 162, 166))
    return brush.canvas


PLACES: Mapping[str, Place] = {
    "beach": Place(phrases=("on a beach", "on the beach", "at the beach"), paint=_beach),
    "night": Place(phrases=("at night", "in the night"), paint=_night),
    "grass": Place(phrases=("on grass", "on the grass", "in a meadow"), paint=_grass),
    "space": Place(phrases=("in space", "in outer space"), paint=_space),
    "snow": Place(phrases=("in the snow", "in snow", "in winter"), paint=_snow),
    "desert": Place(phrases=("in a desert", "in the desert"), paint=_desert),
    "road": Place(phrases=("on a road", "on the road", "on a street"), paint=_road),
    "forest": Place(phrases=("in a forest", "in the forest", "in the woods"), paint=_forest),
    "room": Place(phrases=("in a room", "in the room", "indoors"), paint=_room),
    "sunset": Place(phrases=("at sunset", "in the evening"), paint=_sunset),
    "sea": Place(phrases=("in the sea", "under water", "underwater"), paint=_sea),
    "city": Place(phrases=("in a city", "in the city"), paint=_city),
}
"""All places by name."""


class _Brush:
    """Paints soft shapes on a canvas; lengths and positions are shares of the side."""

    def __init__(self, rng: np.random.Generator, side: int, top: Colour, bottom: Colour) -> None:
        self._rng = rng
        self._rows, self._columns = np.meshgrid(
            *(2 * [(np.arange(side, dtype=np.float32) + 0.5) / side]), indexing="ij", sparse=True
        )
        self.canvas: Picture = np.zeros((side, side, 3), dtype=np.float32)
        self.below(-1, top, bottom)

    def below(self, height: float, top: Colour, bottom: Colour) -> None:
        """Paint everything below a height with a vertical gradient."""
        start = max(height, 0)
        share = np.clip((self._rows - start) / (1 - start), 0, 1)[..., None]
        first, last = self._mixed(top), self._mixed(bottom)
        self._cover(self._rows - height, (first + (last - first) * share).astype(np.float32))

    def band(self, middle: float, thickness: float, colour: Colour) -> None:
        """Paint a horizontal stripe."""
        self._cover(thickness / 2 - np.abs(self._rows - middle), self._mixed(colour))

    def dune(self, height: float, swell: float, colour: Colour) -> None:
        """Paint everything under a wavy line."""
        phase, length = self._rng.uniform(0, 2 * np.pi), self._rng.uniform(5, 9)
        line = height + swell / 2 * np.sin(length * self._columns + phase)
        self._cover(self._rows - line, self._mixed(colour))

    def disc(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Paint one disc."""
        away = np.hypot(self._columns - x, self._rows - y)
        self._cover(radius - away, self._mixed(colour))

    def dots(self, count: int, rows: tuple[float, float], radius: float, colour: Colour) -> None:
        """Scatter discs between two heights."""
        low, high = min(rows), max(rows)
        for x, y in zip(self._rng.random(count), self._rng.uniform(low, high, count), strict=True):
            self._spot(float(x), float(y), radius, colour)

    def dashes(self, middle: float, thickness: float, count: int, colour: Colour) -> None:
        """Paint a dashed horizontal stripe."""
        wave = np.cos(2 * np.pi * count * (self._columns + self._rng.random())) / 10
        self._cover(
            np.minimum(thickness / 2 - np.abs(self._rows - middle), wave), self._mixed(colour)
        )

    def columns(
        self, count: int, rows: tuple[float, float], widths: tuple[float, float], colour: Colour
    ) -> None:
        """Paint vertical bars at random positions that all end at the lower height."""
        top, bottom = rows
        for place in (np.arange(count) + self._rng.uniform(0.2, 0.8, count)) / count:
            half = self._rng.uniform(*widths) / 2
            start = top * self._rng.uniform(0.4, 1.6)
            inside = np.minimum(self._rows - start, bottom - self._rows)
            self._cover(
                np.minimum(half - np.abs(self._columns - place), inside), self._mixed(colour)
            )

    def _mixed(self, colour: Colour) -> NDArray[np.float32]:
        tint = self._rng.uniform(-TINT, TINT, 3)
        return np.clip(np.asarray(colour) + tint, 0, 255).astype(np.float32)

    def _cover(self, depth: NDArray[np.floating], colour: NDArray[np.float32]) -> None:
        """Paint where the signed distance into a shape is positive, with a soft edge."""
        alpha = np.clip(depth / SOFTNESS + 0.5, 0, 1)[..., None].astype(np.float32)
        self.canvas += (colour - self.canvas) * alpha

    def _spot(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Paint a disc, changing only the pixels around it."""
        side = self.canvas.shape[0]
        reach = radius + SOFTNESS
        rows, columns = (
            slice(max(int((c - reach) * side), 0), int((c + reach) * side) + 2) for c in (y, x)
        )
        away = np.hypot(self._columns[:, columns] - x, self._rows[rows] - y)
        alpha = np.clip((radius - away) / SOFTNESS + 0.5, 0, 1)[..., None]
        window = self.canvas[rows, columns]
        window += (np.asarray(colour, dtype=np.float32) - window) * alpha


Background = NDArray[np.float32]

LIGHTEST, DARKEST = 255.0, 60.0
CLOUD_CELLS = 5
CLOUD_STRENGTH = 22.0
SKY_TINT = (70.0, 20.0, 0.0)
LOW_HORIZON = (0.72, 0.88)  # for places in flat scenes, where nothing is on the ground


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
