"""Random scenes with ground truth: their layouts, and masks, boxes and depth of every object."""

from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.stickers.training.backgrounds import (
    PLACES,
    Backdrop,
    Painter,
    draw_background,
)
from spatialstudio.adapters.stickers.training.sprites import height_share, sticker
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.frozen import frozen

FRESH_SHARE = 0.25
"""Share of newly painted scenes in a draw; painting costs more than a training step."""

BACKGROUND_DEPTH = 1.0
FLAT_DEPTH = 0.6  # for all objects of a flat scene, which has no depth cues


@frozen
class SceneSettings:
    """Distribution of scenes.

    Attributes:
        side: Pixels of the picture's side.
        count_weights: Probabilities of one, two, three and four objects.
        size_ranges: For each count, the sticker's longer side as a share of the picture's side.
        place_share: Share of scenes in a named place.
        perspective_share: Share of scenes on a ground, where nearer objects are larger, lower and
            in front.
        horizon_range: Height of the horizon, as a share of the side.
        nearness_range: Nearness of objects on a ground: 0 is the horizon, 1 the lower edge.
        nearness_step: Minimum difference between any two of them.
        depth_range: Depth at the nearness of 1 and of 0.
        least_visible: Share of each sticker's box that no nearer box may cover.
        least_visible_on_ground: The same for scenes on a ground.
        grid: Cells per side of the grid to which boxes are aligned. It is the grid of the latents,
            so an object's latents look the same everywhere and a small model learns them.
        attempts: Layouts tried before new objects are drawn.
    """

    side: int = 128
    count_weights: tuple[float, ...] = (0.15, 0.6, 0.15, 0.1)
    size_ranges: tuple[tuple[float, float], ...] = (
        (0.45, 0.7),
        (0.34, 0.53),
        (0.29, 0.4),
        (0.25, 0.34),
    )
    place_share: float = 0.4
    perspective_share: float = 0.28
    horizon_range: tuple[float, float] = (0.25, 0.45)
    nearness_range: tuple[float, float] = (0.1, 1.0)
    nearness_step: float = 0.22
    depth_range: tuple[float, float] = (0.1, 0.9)
    least_visible: float = 0.82
    least_visible_on_ground: float = 0.7
    grid: int = 16
    attempts: int = 30


@frozen
class Placement:
    """One sticker of a scene.

    Attributes:
        number: Class number of the object.
        x: Centre as a share of the side; grows right.
        y: Centre as a share of the side; grows down.
        size: Longer side as a share of the picture's side.
        depth: [0, 1]; larger is farther, the background is 1.
        is_mirrored: Whether left and right are swapped; never in training.
    """

    number: int
    x: float
    y: float
    size: float
    depth: float
    is_mirrored: bool = False

    def sticker(self, side: int) -> NDArray[np.float32]:
        """Return its pixels in a picture of a given side; see ``sprites.sticker``."""
        pixels = sticker(self.number, round(self.size * side))
        return pixels[:, ::-1] if self.is_mirrored else pixels


@frozen
class Scene:
    """A layout that is not painted yet.

    Attributes:
        placements: In painting order, nearest last.
        backdrop: The background; a scene is flat if it has no horizon.
    """

    placements: tuple[Placement, ...]
    backdrop: Backdrop


def draw_scene(rng: np.random.Generator, settings: SceneSettings) -> Scene:
    """Draw a random scene of different, mostly visible objects."""
    backdrop = _draw_backdrop(rng, settings)
    count = int(rng.choice(len(settings.count_weights), p=settings.count_weights)) + 1
    while True:
        numbers = rng.permutation(len(sticker_objects()))[:count].tolist()
        for _ in range(settings.attempts):
            if backdrop.horizon is None:
                placements = _flat_layout(rng, numbers, settings)
                least_visible = settings.least_visible
            else:
                placements = _ground_layout(rng, numbers, backdrop.horizon, settings)
                least_visible = settings.least_visible_on_ground
            placements = tuple(_on_grid(placement, settings.grid) for placement in placements)
            if _all_visible(placements, least_visible):
                return Scene(placements=placements, backdrop=backdrop)


def draw_scenes(count: int, seed: int) -> list[Scene]:
    """Draw scenes from a seed."""
    rng = np.random.default_rng(seed)
    settings = SceneSettings()
    return [draw_scene(rng, settings) for _ in range(count)]


def _draw_backdrop(rng: np.random.Generator, settings: SceneSettings) -> Backdrop:
    on_ground = rng.random() < settings.perspective_share
    in_place = rng.random() < settings.place_share
    return Backdrop(
        seed=int(rng.integers(2**31)),
        horizon=float(rng.uniform(*settings.horizon_range)) if on_ground else None,
        place=str(rng.choice(list(PLACES))) if in_place else None,
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
    nearest, farthest = settings.depth_range
    placements = []
    for number, nearness in zip(numbers, _draw_nearness(rng, len(numbers), settings), strict=True):
        size = smallest + (largest - smallest) * nearness
        foot = horizon + (1 - horizon) * nearness * 0.95
        x = float(rng.uniform(size / 2, 1 - size / 2))
        half_height = size * height_share(number) / 2
        y = max(foot - half_height, half_height)
        depth = farthest - (farthest - nearest) * nearness
        placements.append(Placement(number=number, x=x, y=y, size=size, depth=depth))
    return tuple(placements)


def _on_grid(placement: Placement, cells: int) -> Placement:
    """Align a sticker's box to a grid with the given cells per side."""
    size = round(placement.size * cells) / cells
    left, top = (
        min(max(round((centre - size / 2) * cells) / cells, 0), 1 - size)
        for centre in (placement.x, placement.y)
    )
    return replace(placement, x=left + size / 2, y=top + size / 2, size=size)


def _draw_nearness(rng: np.random.Generator, count: int, settings: SceneSettings) -> list[float]:
    """Draw the nearness of each object, farthest first, with a minimum separation."""
    least, most = settings.nearness_range
    slack = most - least - settings.nearness_step * (count - 1)
    steps = settings.nearness_step * np.arange(count)
    nearness: list[float] = (least + steps + slack * np.sort(rng.random(count))).tolist()
    return nearness


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


SOLID_ALPHA = 0.5


@frozen(eq=False)
class PaintedScene:
    """A picture with its ground truth.

    Attributes:
        pixels: (H, W, 3) uint8.
        masks: (objects, H, W) bool, the visible part of each placement.
        depth: (H, W) float32 in [0, 1]; larger is farther.
        scene: The painted scene; masks are in the order of its placements.
    """

    pixels: NDArray[np.uint8]
    masks: NDArray[np.bool_]
    depth: NDArray[np.float32]
    scene: Scene


def paint(scene: Scene, side: int, behind: Painter = draw_background) -> PaintedScene:
    """Paint a scene as a square picture of ``side`` pixels.

    Args:
        scene: The scene.
        side: Pixels of the picture's side.
        behind: Draws the background.
    """
    canvas = behind(scene.backdrop, side)
    depth = _background_depth(scene.backdrop.horizon, side)
    masks = np.zeros((len(scene.placements), side, side), dtype=np.bool_)
    for index, placement in enumerate(scene.placements):
        pixels = placement.sticker(side)
        rows, columns = _window(placement, pixels.shape[0], pixels.shape[1], side)
        alpha = pixels[..., 3:]
        canvas[rows, columns] += (pixels[..., :3] - canvas[rows, columns]) * alpha
        solid = alpha[..., 0] > SOLID_ALPHA
        masks[:index, rows, columns] &= ~solid
        masks[index, rows, columns] = solid
        depth[rows, columns][solid] = placement.depth
    return PaintedScene(
        pixels=(canvas + 0.5).astype(np.uint8), masks=masks, depth=depth, scene=scene
    )


def whole_masks(scene: Scene, side: int) -> NDArray[np.bool_]:
    """Return the (objects, side, side) masks of all placements, hidden parts included."""
    masks = np.zeros((len(scene.placements), side, side), dtype=np.bool_)
    for mask, placement in zip(masks, scene.placements, strict=True):
        alpha = placement.sticker(side)[..., 3]
        height, width = alpha.shape
        mask[_window(placement, height, width, side)] = alpha > SOLID_ALPHA
    return masks


class SceneReserve:
    """The latest painted scenes, replaced quickly because a share of every draw is new."""

    def __init__(self, settings: SceneSettings, kept: int = 1500) -> None:
        self._settings = settings
        self._scenes: deque[PaintedScene] = deque(maxlen=kept)

    def draw(self, rng: np.random.Generator, count: int) -> list[PaintedScene]:
        """Draw painted scenes; while the buffer is empty, all are newly painted."""
        missing = count - len(self._scenes)
        for _ in range(max(missing, round(count * FRESH_SHARE))):
            self._scenes.append(paint(draw_scene(rng, self._settings), self._settings.side))
        chosen = rng.integers(len(self._scenes), size=count)
        return [self._scenes[index] for index in chosen]


def _window(placement: Placement, height: int, width: int, side: int) -> tuple[slice, slice]:
    top = min(max(round(placement.y * side - height / 2), 0), side - height)
    left = min(max(round(placement.x * side - width / 2), 0), side - width)
    return slice(top, top + height), slice(left, left + width)


def _background_depth(horizon: float | None, side: int) -> NDArray[np.float32]:
    depth = np.full((side, side), BACKGROUND_DEPTH, dtype=np.float32)
    if horizon is not None:
        rows = np.linspace(0, 1, side, dtype=np.float32)[:, None]
        nearness = np.clip((rows - horizon) / (1 - horizon), 0, 1)
        depth -= 0.1 + 0.85 * nearness * (rows >= horizon)
        depth += 0.1 * (rows < horizon)
    return depth
