"""A small classifier of single objects, which no guidance and no other judge knows.

    python -m tests.performance.object_classifier

trains it on painted crops in two minutes on one core and writes it beside the objects. It
sees a crop with some of its surroundings, any background, other objects at the edge.
"""

import sys

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from spatialstudio.adapters.stickers.training.backgrounds import (
    draw_background,
)
from spatialstudio.adapters.stickers.training.scenes import SceneSettings, draw_scene, paint
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.application.evaluate.object_quality import (
    NAMES,
    WEIGHTS_FILE,
    object_classifier,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.verdict import Box, box_around
from spatialstudio.science.quality.object_classifier import SIDE
from spatialstudio.science.quality.object_classifier import crop as object_crop
from tests.performance.studio_pictures import show
from tests.strange_backgrounds import draw_strange_background

WIDTHS = (16, 32, 40, 48)
SEED = 5150
STEPS, BATCH, LEARNING_RATE = 400, 48, 4e-3
STRANGE_SHARE = 0.2
HELD_OUT_SEED = 5151
HELD_OUT_SCENES = 500


class ObjectClassifier(nn.Sequential):
    """(batch, 3, SIDE, SIDE) in [-1, 1] to (batch, classes)."""

    def __init__(self, classes: int | None = None) -> None:
        layers: list[nn.Module] = []
        for before, after in zip((3, *WIDTHS[:-1]), WIDTHS, strict=True):
            layers += [
                nn.Conv2d(before, after, 3, padding=1, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
                nn.MaxPool2d(2),
            ]
        pooled = WIDTHS[-1] * (SIDE // 2 ** len(WIDTHS)) ** 2
        super().__init__(
            *layers, nn.Flatten(), nn.Linear(pooled, classes or len(sticker_objects()))
        )


def read_classifier() -> ObjectClassifier:
    """Read the stored classifier."""
    net = ObjectClassifier()
    weights = object_classifier().weights
    given = {name: torch.from_numpy(each).float() for name, each in weights.items()}
    net.load_state_dict(given, strict=False)  # without the counts of batches
    return net.eval()


@torch.inference_mode()
def class_chances(net: ObjectClassifier, image: RgbImage, box: Box) -> NDArray[np.float32]:
    """Return the chance of each class for what stands in a box, (classes,)."""
    chances: NDArray[np.float32] = net(to_tensor([crop(image, box)])).softmax(-1)[0].numpy()
    return chances


def crop(image: RgbImage, box: Box) -> RgbImage:
    """Cut a square around a box and bring it to SIDE x SIDE pixels."""
    return np.rint(object_crop(image, box)).astype(np.uint8)


def train() -> ObjectClassifier:
    """Train a classifier; the same seed gives the same one on the same machine."""
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    net = ObjectClassifier()
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=STEPS)
    for step in range(1, STEPS + 1):
        crops, numbers = painted_crops(rng, BATCH)
        pictures = to_tensor(crops)
        pictures = pictures + 0.1 * torch.rand(len(crops), 1, 1, 1) * torch.randn_like(pictures)
        loss = functional.cross_entropy(net(pictures), torch.tensor(numbers))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 0:
            show(f"step {step} of {STEPS}: loss {loss.item():.3f}")
    return net.eval()


def painted_crops(rng: np.random.Generator, least: int) -> tuple[list[RgbImage], list[int]]:
    """Paint scenes and cut out their objects, a little beside where they are."""
    settings = SceneSettings()
    crops: list[RgbImage] = []
    numbers: list[int] = []
    while len(crops) < least:
        strange = rng.random() < STRANGE_SHARE
        behind = draw_strange_background if strange else draw_background
        painted = paint(draw_scene(rng, settings), settings.side, behind)
        for placement, mask in zip(painted.scene.placements, painted.masks, strict=True):
            crops.append(crop(painted.pixels, _shaken(box_around(mask), rng)))
            numbers.append(placement.number)
    return crops, numbers


def _shaken(box: Box, rng: np.random.Generator) -> Box:
    by_x, by_y, grown = rng.normal(0, 0.04, 3)
    return Box(
        left=box.left + (by_x - abs(grown)) * box.width,
        right=box.right + (by_x + abs(grown)) * box.width,
        top=box.top + (by_y - abs(grown)) * box.height,
        bottom=box.bottom + (by_y + abs(grown)) * box.height,
    )


def to_tensor(crops: list[RgbImage]) -> Tensor:
    return torch.from_numpy(np.stack(crops)).permute(0, 3, 1, 2).float() / 127.5 - 1


def main() -> int:
    net = train()
    crops, numbers = painted_crops(np.random.default_rng(HELD_OUT_SEED), HELD_OUT_SCENES)
    with torch.inference_mode():
        right = net(to_tensor(crops)).argmax(-1) == torch.tensor(numbers)
    show(f"right on {100 * right.float().mean():.1f} % of {len(crops)} held-out crops")
    weights = {name: each.half().numpy() for name, each in net.state_dict().items()}
    kept = {name: each for name, each in weights.items() if not name.endswith("batches_tracked")}
    np.savez(WEIGHTS_FILE, **{NAMES: [each.name for each in sticker_objects()]}, **kept)
    return 0


if __name__ == "__main__":
    sys.exit(main())
