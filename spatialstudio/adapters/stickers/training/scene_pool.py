"""A pool of encoded scenes that is reused throughout the generator's training."""

from pathlib import Path

import numpy as np
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from numpy.typing import NDArray

from spatialstudio.adapters.stickers.training.patch_encoder import SHRINKING
from spatialstudio.adapters.stickers.training.scenes import (
    Scene,
    SceneSettings,
    draw_scenes,
    paint,
)
from spatialstudio.adapters.stickers.training.train_autoencoder import encode, to_tensor
from spatialstudio.adapters.stickers.training.training_loop import Report
from spatialstudio.domain.frozen import frozen

MOST_OBJECTS = 4


@frozen(eq=False)
class ScenePool:
    """Encoded scenes.

    Attributes:
        scenes: The painted scenes.
        latents: (scenes, channels, h, w) float16.
        masks: (scenes, MOST_OBJECTS, h, w) uint8; coverage of each latent pixel by an object,
            0 to 255, in the order of the scene's placements.
    """

    scenes: tuple[Scene, ...]
    latents: NDArray[np.float16]
    masks: NDArray[np.uint8]


def fill_pool(
    autoencoder: AutoencoderTiny,
    count: int,
    seed: int,
    folder: Path,
    report: Report,
) -> ScenePool:
    """Paint and encode scenes; files of an earlier run in the folder are reused."""
    scenes = tuple(draw_scenes(count, seed))
    file = folder / f"pool-{seed}-{count}.npz"
    if not file.exists():
        latents, masks = _encode_all(autoencoder, scenes, report)
        folder.mkdir(parents=True, exist_ok=True)
        with file.with_suffix(".unfinished").open("wb") as unfinished:
            np.savez(unfinished, latents=latents, masks=masks)
        file.with_suffix(".unfinished").replace(file)
    with np.load(file) as arrays:
        return ScenePool(scenes=scenes, latents=arrays["latents"], masks=arrays["masks"])


def shrink_masks(masks: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Convert (objects, H, W) masks to (MOST_OBJECTS, h, w) coverage, 0 to 255."""
    count, height, width = masks.shape
    blocks = masks.reshape(
        count, height // SHRINKING, SHRINKING, width // SHRINKING, SHRINKING
    )  # fmt: skip
    coverage = np.zeros(
        (MOST_OBJECTS, height // SHRINKING, width // SHRINKING), dtype=np.uint8
    )  # fmt: skip
    coverage[:count] = (blocks.mean((2, 4)) * 255).astype(np.uint8)
    return coverage


def _encode_all(
    autoencoder: AutoencoderTiny, scenes: tuple[Scene, ...], report: Report
) -> tuple[NDArray[np.float16], NDArray[np.uint8]]:
    side, batch = SceneSettings().side, 64
    latent_side = side // SHRINKING
    channels = autoencoder.config["latent_channels"]
    latents = np.empty((len(scenes), channels, latent_side, latent_side), dtype=np.float16)
    masks = np.empty((len(scenes), MOST_OBJECTS, latent_side, latent_side), dtype=np.uint8)
    for start in range(0, len(scenes), batch):
        painted = [paint(scene, side) for scene in scenes[start : start + batch]]
        pictures = to_tensor(np.stack([picture.pixels for picture in painted]))
        stop = start + len(painted)
        latents[start:stop] = encode(autoencoder, pictures).numpy()
        masks[start:stop] = np.stack([shrink_masks(picture.masks) for picture in painted])
        if start // batch % 100 == 0:
            report(f"encoded {stop} of {len(scenes)} scenes")
    return latents, masks
