"""Random scenes of stickers for questions: with repeated, mirrored and partly hidden stickers."""

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.stickers.training.scenes import (
    Placement,
    Scene,
    SceneSettings,
    draw_scene,
    paint,
    whole_masks,
)
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.known_scene import KnownObject, KnownScene
from spatialstudio.domain.ports import Surroundings

COUNT_WEIGHTS = (0.05, 0.3, 0.4, 0.25)
CLOSE_SHARE, LEAST_VISIBLE = 0.35, 0.5
"""Share of scenes whose stickers may hide much of each other, and how much stays visible."""
REPEAT_SHARE = 0.4
"""Share of flat scenes in which the first sticker is repeated."""
FACING_LEFT = frozenset(
    (
        *("bird", "cat", "cow", "elephant", "giraffe", "horse"),
        *("truck", "zebra", "fish", "train", "sheep", "dinosaur"),
    )
)
"""Objects whose sprite shows them from the side, with the front at the left."""


def build(_: Surroundings) -> "StickerScenes":
    """Create the renderer."""
    return StickerScenes()


class StickerScenes:
    """Implements ``SceneRenderer`` with the sprites of the embedded models."""

    id = "stickers"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all stickers."""
        return tuple(each.name for each in sticker_objects())

    def render(self, seed: int) -> KnownScene:
        """Return a scene; equal seeds give equal scenes."""
        rng = np.random.default_rng(seed)
        is_close = rng.random() < CLOSE_SHARE
        settings = SceneSettings(count_weights=COUNT_WEIGHTS)
        if is_close:
            settings = replace(
                settings, least_visible=LEAST_VISIBLE, least_visible_on_ground=LEAST_VISIBLE
            )
        scene = _mirrored(rng, _repeated(rng, draw_scene(rng, settings)))
        painted, whole = paint(scene, settings.side), whole_masks(scene, settings.side)
        is_flat = scene.backdrop.horizon is None
        objects = tuple(
            _known(placement, visible, own, is_flat=is_flat)
            for placement, visible, own in zip(scene.placements, painted.masks, whole, strict=True)
        )
        return KnownScene(
            image=painted.pixels,
            objects=objects,
            prompt=" and ".join(each.name for each in objects),
            kind="flat" if is_flat else "on the ground",
        )

    def write(self, scene: KnownScene, path: Path) -> None:
        """Write the picture of a scene as PNG.

        Raises:
            StoreError: The folder cannot be written.
        """
        file = BytesIO()
        Image.fromarray(scene.image).save(file, "PNG")
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, file.getvalue())


def _repeated(rng: np.random.Generator, scene: Scene) -> Scene:
    """Replace some stickers of a flat scene by the first one, in its size."""
    first, *others = scene.placements
    if scene.backdrop.horizon is not None or not others or rng.random() > REPEAT_SHARE:
        return scene
    repeats = int(rng.integers(1, len(others) + 1))
    same = [replace(each, number=first.number) for each in others[:repeats]]
    return replace(scene, placements=(first, *same, *others[repeats:]))


def _mirrored(rng: np.random.Generator, scene: Scene) -> Scene:
    placements = tuple(
        replace(each, is_mirrored=bool(_has_front(each) and rng.random() < 1 / 2))
        for each in scene.placements
    )
    return replace(scene, placements=placements)


def _has_front(placement: Placement) -> bool:
    return sticker_objects()[placement.number].name in FACING_LEFT


def _known(
    placement: Placement,
    visible: NDArray[np.bool_],
    whole: NDArray[np.bool_],
    *,
    is_flat: bool,
) -> KnownObject:
    thing = sticker_objects()[placement.number]
    return KnownObject(
        name=thing.name,
        plural=thing.plural,
        visible=visible.copy(),
        whole=whole.copy(),
        depth=None if is_flat else placement.depth,
        faces_left=not placement.is_mirrored if _has_front(placement) else None,
    )
