"""A second verifier of pictures, which no loss, reward or other judge knows.

    python -m tests.performance.second_verifier train
    python -m tests.performance.second_verifier score

A small net looks at square windows of five sizes all over a picture and names the object that
fills the window, or none. It has learned this from painted scenes, a half of which went through
noise in the latents and the generator's decoder, so that they are as soft as drawn pictures. The
windows become boxes, and the checker's rules decide the relations from these; in depth, what
stands lower is nearer, as the scenes of the world are painted. ``train`` writes the net to the
golden data; ``score`` tells how right it is on painted scenes and on the labelled pictures.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from diffusers import AutoencoderTiny
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn import functional

from spatialstudio.adapters.stickers.training.scenes import (
    PaintedScene,
    SceneSettings,
    draw_scene,
    paint,
)
from spatialstudio.adapters.stickers.vocabulary import (
    WORLD_FOLDER,
    object_number,
    sticker_objects,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.scene import IN_FRONT_OF, ObjectMention, Relation, SceneGraph
from spatialstudio.domain.verdict import (
    REPRODUCE,
    Box,
    Detection,
    Outcome,
    Perception,
    box_around,
)
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.checker.measurement import intersection_over_union
from spatialstudio.science.quality.object_classifier import MARGIN
from tests.performance.intervals import wilson
from tests.performance.label_pictures import LABELLED_FOLDER, labelled_pictures
from tests.performance.object_classifier import (
    SIDE,
    ObjectClassifier,
    crop,
    to_tensor,
)
from tests.performance.studio_pictures import show

WEIGHTS_FILE = Path(__file__).parents[1] / "golden" / "second_verifier.safetensors"
GENERATOR_FOLDER = WORLD_FOLDER.with_name("stickers")
PICTURE_SIDE = 128
WINDOW_SIDES = (30, 38, 48, 60, 76)
"""Longer sides of objects that are looked for, pixels."""
STRIDE = 5  # pixels of crops
AT_ONCE = 64  # windows; more of them leave the processor's cache
LEAST_CHANCE = 0.4
"""Of a detection; on the calibration pictures 97 % of visible and 1 % of absent objects have it."""
MOST_OVERLAP = 0.3
LEAST_STEP = 2.0
"""Between two feet, pixels."""

SEED, HELD_OUT_SEED = 6160, 6161
TRAINING_SCENES, HELD_OUT_SCENES = 2600, 150
SETTINGS = SceneSettings(count_weights=(0.2, 0.35, 0.25, 0.2))
POSITIVES, NEGATIVES = 3, 5
STEPS, BATCH, LEARNING_RATE = 2600, 96, 4e-3
LATENT_NOISE = 0.25
"""Most, as a share of the deviation of the latents."""


@dataclass(frozen=True, slots=True)
class Window:
    """A square window, pixels of the picture."""

    x: float
    y: float
    side: float

    @property
    def box(self) -> Box:
        half = self.side / 2
        return Box(left=self.x - half, top=self.y - half, right=self.x + half, bottom=self.y + half)


class SecondVerifier:
    """Detects objects by the stored net and decides relations by their boxes."""

    def __init__(self) -> None:
        self._net = WindowNet()
        stored = load_file(WEIGHTS_FILE)
        self._net.load_state_dict({name: each.float() for name, each in stored.items()})
        self._net.eval()
        self._windows = all_windows()

    def perceive(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Perception:
        """Detect mentions in a picture of (128, 128, 3) uint8."""
        chances = self.chances(image)
        detections = [
            Detection(
                mention_id=mention.id,
                label=mention.head,
                score=score,
                box=box,
                detector_id="second",
            )
            for mention in mentions
            for score, box in self.instances(chances[:, _number_of(mention)])
        ]
        return Perception(
            image_sha256="",
            height=image.shape[0],
            width=image.shape[1],
            detections=tuple(sorted(detections, key=lambda found: -found.score)),
            masks=(),
        )

    @torch.inference_mode()
    def chances(self, image: RgbImage) -> NDArray[np.float32]:
        """Return the chance of each class in each window, (windows, classes + 1)."""
        crops = torch.cat([_window_crops(image, side) for side in WINDOW_SIDES])
        answers = torch.cat([self._net(some) for some in crops.split(AT_ONCE)])
        chances: NDArray[np.float32] = answers.softmax(-1).numpy()
        return chances

    def instances(self, chances: NDArray[np.float32]) -> Iterator[tuple[float, Box]]:
        """Yield chance and box of the surest window, and of others that do not overlap it."""
        kept: list[Box] = []
        for place in np.argsort(-chances):
            score, box = float(chances[place]), self._windows[place].box
            if score < LEAST_CHANCE:
                return
            if all(intersection_over_union(box, other) <= MOST_OVERLAP for other in kept):
                kept.append(box)
                yield score, box

    def outcomes(self, image: RgbImage, scene: SceneGraph) -> tuple[tuple[Outcome, ...], list[int]]:
        """Decide every relation of a scene, and count the instances of every mention."""
        seen = self.perceive(image, scene.mentions)
        counts = [len(seen.detections_of(mention.id)) for mention in scene.mentions]
        return tuple(_outcome(relation, seen) for relation in scene.relations), counts


def _outcome(relation: Relation, seen: Perception) -> Outcome:
    if not relation.type.needs_depth:
        return decide_relation(relation, seen, REPRODUCE).outcome
    found = [seen.detections_of(end) for end in relation.ends]
    if not all(found):
        return Outcome.UNDECIDABLE
    first, second = (own[0].box.bottom for own in found)
    if abs(first - second) < LEAST_STEP:
        return Outcome.UNDECIDABLE
    is_right = (first > second) is (relation.type is IN_FRONT_OF)
    return Outcome.PASS if is_right else Outcome.FAIL


def _number_of(mention: ObjectMention) -> int:
    number = object_number(mention.head)
    assert number is not None
    return number


class WindowNet(ObjectClassifier):
    """Names the object that fills a window; the last class is none."""

    def __init__(self) -> None:
        super().__init__(len(sticker_objects()) + 1)


def all_windows() -> list[Window]:
    """List the windows in the order of their crops."""
    windows = []
    for side in WINDOW_SIDES:
        scale, count = _grid(side)
        centres = (SIDE / 2 + STRIDE * np.arange(count)) / scale - MARGIN * side
        windows += [Window(float(x), float(y), side) for y in centres for x in centres]
    return windows


def _grid(side: int) -> tuple[float, int]:
    """Return the scale at which objects of a side fill a crop, and the windows of a row."""
    scale = SIDE / (side * (1 + 2 * MARGIN))
    return scale, (round((PICTURE_SIDE + 2 * MARGIN * side) * scale) - SIDE) // STRIDE + 1


def _window_crops(image: RgbImage, side: int) -> Tensor:
    """Return the crops of all windows of a side, (windows, 3, SIDE, SIDE) in [-1, 1]."""
    scale, count = _grid(side)
    margin = MARGIN * side
    pad = int(margin) + 1
    padded = Image.fromarray(np.pad(image, ((pad, pad), (pad, pad), (0, 0)), mode="edge"))
    reach = (count - 1) * STRIDE + SIDE
    low, high = pad - margin, pad - margin + reach / scale
    shrunk = padded.resize((reach, reach), Image.Resampling.BILINEAR, box=(low, low, high, high))
    picture = to_tensor([np.asarray(shrunk)])[0]
    crops = picture.unfold(1, SIDE, STRIDE).unfold(2, SIDE, STRIDE)  # (3, rows, columns, ...)
    return crops.permute(1, 2, 0, 3, 4).reshape(-1, 3, SIDE, SIDE)


def train() -> WindowNet:
    """Train the net; the same seed gives the same one on the same machine."""
    torch.manual_seed(SEED)
    crops, numbers = training_crops(np.random.default_rng(SEED), TRAINING_SCENES)
    show(f"{len(crops)} crops")
    net = WindowNet()
    optimizer = torch.optim.AdamW(net.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, total_steps=STEPS)
    for step in range(1, STEPS + 1):
        chosen = torch.randint(len(crops), (BATCH,))
        loss = functional.cross_entropy(
            net(_altered(to_tensor(crops[chosen.numpy()]))),
            torch.from_numpy(numbers[chosen.numpy()]),
            label_smoothing=0.02,
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 0:
            show(f"step {step} of {STEPS}: loss {loss.item():.3f}")
    return net.eval()


def _altered(pictures: Tensor) -> Tensor:
    """Change brightness, contrast and colour a little, and add noise."""
    count = len(pictures)
    contrast = 1 + 0.15 * torch.randn(count, 1, 1, 1)
    colour = 0.08 * torch.randn(count, 3, 1, 1)
    noise = 0.1 * torch.rand(count, 1, 1, 1) * torch.randn_like(pictures)
    return pictures * contrast + colour + noise


def training_crops(
    rng: np.random.Generator, scenes: int
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Cut windows with and without objects out of painted scenes, every other one softened."""
    soften = Softener()
    crops: list[RgbImage] = []
    numbers: list[int] = []
    for number in range(scenes):
        painted = paint(draw_scene(rng, SETTINGS), PICTURE_SIDE)
        pixels = soften(painted.pixels, rng) if number % 2 else painted.pixels
        for window, label in labelled_windows(painted, rng):
            crops.append(crop(pixels, window.box))
            numbers.append(label)
        if number % 500 == 0:
            show(f"scene {number} of {scenes}")
    return np.stack(crops), np.array(numbers)


class Softener:
    """Encodes pictures, adds noise to the latents, and decodes them as the generator does."""

    def __init__(self) -> None:
        self._autoencoder = AutoencoderTiny.from_pretrained(GENERATOR_FOLDER, subfolder="vae")

    @torch.inference_mode()
    def __call__(self, pixels: RgbImage, rng: np.random.Generator) -> RgbImage:
        latents = self._autoencoder.encode(to_tensor(pixels[None])).latents
        amount = float(rng.uniform(0, LATENT_NOISE)) * latents.std()
        drawn = self._autoencoder.decode(latents + amount * torch.randn_like(latents)).sample
        soft: RgbImage = ((drawn[0].clamp(-1, 1) + 1) * 127.5).byte().permute(1, 2, 0).numpy()
        return soft


def labelled_windows(
    painted: PaintedScene, rng: np.random.Generator
) -> Iterator[tuple[Window, int]]:
    """Yield windows about each object, and others that no object fills."""
    none = len(sticker_objects())
    objects = [window_about(box_around(mask)) for mask in painted.masks]
    for placement, own in zip(painted.scene.placements, objects, strict=True):
        for _ in range(POSITIVES):
            x, y = rng.normal(0, 0.04 * own.side, 2)
            side = own.side * float(np.exp(rng.normal(0, 0.07)))
            centre = np.clip((own.x + x, own.y + y), 0, PICTURE_SIDE)
            yield Window(*centre.tolist(), side), placement.number
    found = 0
    while found < NEGATIVES:
        side = float(rng.uniform(24, 84))
        about = objects[rng.integers(len(objects))]
        x, y = (
            rng.normal((about.x, about.y), 0.4 * about.side)
            if found % 2
            else rng.uniform(side / 2, PICTURE_SIDE - side / 2, 2)
        )
        window = Window(*np.clip((x, y), 0, PICTURE_SIDE).tolist(), side)
        if all(is_elsewhere(window, own) for own in objects):
            found += 1
            yield window, none


def window_about(box: Box) -> Window:
    return Window(*box.center_xy, max(box.width, box.height))


def is_elsewhere(window: Window, own: Window) -> bool:
    """Return True if a window is so far from an object's, or of such another size, to be none."""
    far = max(abs(window.x - own.x), abs(window.y - own.y)) > 0.27 * own.side
    return far or abs(np.log(window.side / own.side)) > 0.42


def score(scenes: int) -> Iterator[str]:
    """Tell how right the verifier is on painted scenes and on labelled pictures."""
    verifier, rng = SecondVerifier(), np.random.default_rng(HELD_OUT_SEED)
    soften = Softener()
    for name, change in (("painted", lambda pixels, _: pixels), ("softened", soften)):
        found, placed, invented, others = 0, 0, 0, 0
        asked = 0
        for _ in range(scenes):
            painted = paint(draw_scene(rng, SETTINGS), PICTURE_SIDE)
            image = change(painted.pixels, rng)
            numbers = [placement.number for placement in painted.scene.placements]
            absent = [int(n) for n in rng.permutation(len(sticker_objects())) if n not in numbers]
            chances = verifier.chances(image)
            for number, mask in zip(numbers, painted.masks, strict=True):
                (_, box), *_ = [*verifier.instances(chances[:, number]), (0.0, None)]
                true = window_about(box_around(mask))
                found += box is not None
                placed += box is not None and not is_elsewhere(window_about(box), true)
            asked += len(numbers)
            invented += sum(any(verifier.instances(chances[:, number])) for number in absent[:4])
            others += 4
        yield f"{name}: found, % {wilson(found, asked).percent}"
        yield f"{name}: found in its place, % {wilson(placed, asked).percent}"
        yield f"{name}: absent objects found, % {wilson(invented, others).percent}"


def score_labelled(asked_of: Callable[[str], Sequence[str]]) -> Iterator[str]:
    """Tell how right the verifier is on labelled pictures."""
    verifier = SecondVerifier()
    sums = {"visible": [0, 0], "requested, not visible": [0, 0], "neither": [0, 0]}
    rng = np.random.default_rng(HELD_OUT_SEED)
    for label, image in labelled_pictures(LABELLED_FOLDER):
        chances, visible = verifier.chances(image), set(label.visible or ())
        absent = set(asked_of(label.prompt)) - visible
        rest = [thing.name for thing in sticker_objects() if thing.name not in visible | absent]
        for kind, names in (
            ("visible", visible),
            ("requested, not visible", absent),
            ("neither", rng.choice(rest, 4, replace=False)),
        ):
            for name in names:
                number = object_number(str(name))
                sums[kind][0] += any(verifier.instances(chances[:, number]))
                sums[kind][1] += 1
    for kind, (found, count) in sums.items():
        yield f"labelled pictures: found of what is {kind}, % {wilson(found, count).percent}"


def main() -> int:
    torch.set_num_threads(1)
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("train", "score"))
    if parser.parse_args().command == "train":
        net = train()
        save_file({name: each.half() for name, each in net.state_dict().items()}, WEIGHTS_FILE)
    studio = Studio.open("inline")
    for line in score(HELD_OUT_SCENES):
        show(line)
    for line in score_labelled(
        lambda text: [mention.head for mention in studio.parse_for_model(text).mentions]
    ):
        show(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
