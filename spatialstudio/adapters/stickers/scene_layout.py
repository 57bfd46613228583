"""Decides which stickers stand where: sizes, places, painting order and depth."""

from dataclasses import dataclass

import numpy as np

from spatialstudio.adapters.stickers.vocabulary import sticker_objects

BACKGROUND_DEPTH = 1.0
FLAT_DEPTH = 0.6  # of all objects of a flat scene: nothing in it tells which is nearer


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSettings:
    """What scenes look like.

    Attributes:
        side: Pixels of the picture's side.
        count_weights: Chances of one, two, three and four objects.
        size_ranges: For each count, the sticker's longer side as a share of the picture's side.
        perspective_share: Share of scenes on a ground where the nearer is larger, lower, in front.
        horizon_range: Where sky meets ground, as a share of the side.
        least_visible: Share of each sticker's box that no nearer box may cover.
        attempts: Layouts tried before the objects are drawn anew.
    """

    side: int = 128
    count_weights: tuple[float, ...] = (0.15, 0.6, 0.15, 0.1)
    size_ranges: tuple[tuple[float, float], ...] = (
        (0.4, 0.8),
        (0.32, 0.55),
        (0.28, 0.42),
        (0.25, 0.36),
    )
    perspective_share: float = 0.2
    horizon_range: tuple[float, float] = (0.25, 0.45)
    least_visible: float = 0.82
    attempts: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """One sticker of a scene.

    Attributes:
        number: Class number of the object.
        x: Centre as a share of the side; grows right.
        y: Centre as a share of the side; grows down.
        size: Longer side as a share of the picture's side.
        depth: [0, 1]; larger is farther, the background is 1.
    """

    number: int
    x: float
    y: float
    size: float
    depth: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A picture before it is painted.

    Attributes:
        placements: In painting order: the nearest comes last.
        horizon: Where sky meets ground as a share of the side; None in a flat scene.
        background_seed: Decides the background's kind and colours.
    """

    placements: tuple[Placement, ...]
    horizon: float | None
    background_seed: int


def draw_scene(rng: np.random.Generator, settings: SceneSettings) -> Scene:
    """Draw a random scene whose objects are all different and mostly visible."""
    in_perspective = rng.random() < settings.perspective_share
    count = int(rng.choice(len(settings.count_weights), p=settings.count_weights)) + 1
    while True:
        numbers = rng.permutation(len(sticker_objects()))[:count]
        horizon = float(rng.uniform(*settings.horizon_range)) if in_perspective else None
        for _ in range(settings.attempts):
            if horizon is None:
                placements = _flat_layout(rng, numbers.tolist(), settings)
            else:
                placements = _ground_layout(rng, numbers.tolist(), horizon, settings)
            if _all_visible(placements, settings.least_visible):
                return Scene(
                    placements=placements,
                    horizon=horizon,
                    background_seed=int(rng.integers(2**31)),
                )


def _flat_layout(
    rng: np.random.Generator, numbers: list[int], settings: SceneSettings
) -> tuple[Placement, ...]:
    smallest, largest = settings.size_ranges[len(numbers) - 1]
    placements = []
    for number in numbers:
        size = float(rng.uniform(smallest, largest))
        x, y = rng.uniform(size / 2, 1 - size / 2, 2).tolist()
        placements.append(Placement(number=number, x=x, y=y, size=size, depth=FLAT_DEPTH))
    return tuple(placements)


def _ground_layout(
    rng: np.random.Generator, numbers: list[int], horizon: float, settings: SceneSettings
) -> tuple[Placement, ...]:
    smallest, largest = settings.size_ranges[len(numbers) - 1]
    placements = []
    for number in numbers:
        nearness = float(rng.uniform(0.15, 1))
        size = smallest + (largest - smallest) * nearness
        foot = horizon + (1 - horizon) * nearness * 0.95
        x = float(rng.uniform(size / 2, 1 - size / 2))
        y = max(foot - size / 2, size / 2)
        depth = 0.9 - 0.8 * nearness
        placements.append(Placement(number=number, x=x, y=y, size=size, depth=depth))
    return tuple(sorted(placements, key=lambda placement: -placement.depth))


def _all_visible(placements: tuple[Placement, ...], least_visible: float) -> bool:
    for index, placement in enumerate(placements):
        covered = sum(_shared_area(placement, nearer) for nearer in placements[index + 1 :])
        if covered > (1 - least_visible) * placement.size**2:
            return False
    return True


def _shared_area(first: Placement, second: Placement) -> float:
    reach = (first.size + second.size) / 2
    width = min(reach - abs(first.x - second.x), first.size, second.size)
    height = min(reach - abs(first.y - second.y), first.size, second.size)
    return max(width, 0.0) * max(height, 0.0)
