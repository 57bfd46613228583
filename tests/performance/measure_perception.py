"""Measure segmenter and depth net on painted scenes that no training saw, and print the table.

    python -m tests.performance.measure_perception [--models FOLDER] [--scenes N]

Twice: on scenes of the world as it is, from another seed, and on the same scenes before patterns
that no training paints. The segmenter is asked for every class of the world in every scene. What
it is sure of is right where it covers the object of that class by half of their union; F1 is over
all objects and answers, IoU the mean over all objects, one that was missed counting 0. The depth
net is asked which of two objects is nearer, wherever their true depths differ plainly. F1 and IoU
have intervals of a bootstrap over scenes, the order of depth has Wilson's; all at 95 %.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import numpy as np

from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.training.backgrounds import (
    Painter,
    draw_background,
)
from spatialstudio.adapters.stickers.training.scenes import (
    PaintedScene,
    SceneSettings,
    draw_scenes,
    paint,
)
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from tests.adapters.stickers.asking import mention_of, sure
from tests.performance.intervals import Floats, bootstrap, ratio, wilson
from tests.performance.studio_pictures import show
from tests.strange_backgrounds import draw_strange_background

HELD_OUT_SEED = 90_001
SAME_OBJECT_IOU = 0.5
LEAST_DEPTH_STEP = 0.1
WORST_SHOWN = 6
PAINTERS: dict[str, Painter] = {
    "the world, another seed": draw_background,
    "before strange patterns": draw_strange_background,
}


@dataclass(slots=True)
class Tally:
    """What was counted so far; sums hold right answers, all answers, all objects, overlaps."""

    sums: list[tuple[float, ...]] = field(default_factory=list)
    missed: Counter[str] = field(default_factory=Counter)
    invented: Counter[str] = field(default_factory=Counter)
    pairs: int = 0
    pairs_right: int = 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models", type=Path, default=WORLD_FOLDER.parent)
    parser.add_argument("--scenes", type=int, default=2000)
    options = parser.parse_args()
    scenes = draw_scenes(options.scenes, HELD_OUT_SEED)
    segmenter = StickerSegmenter(options.models / StickerSegmenter.id)
    depth = StickerDepth(options.models / StickerDepth.id)
    for name, painter in PAINTERS.items():
        tally = Tally()
        for scene in scenes:
            painted = paint(scene, SceneSettings().side, painter)
            count_objects(tally, segmenter, painted)
            count_depth_order(tally, depth, painted)
        show("\n".join(table(f"{len(scenes)} scenes, {name}", tally)))
    return 0


def count_objects(tally: Tally, segmenter: StickerSegmenter, painted: PaintedScene) -> None:
    """Ask for every class and compare with the truth."""
    things = sticker_objects()
    seen = segmenter.detect(painted.pixels, [mention_of(thing.name) for thing in things])
    answers = sure(seen.masks)
    truth = {
        things[placement.number].name: mask
        for placement, mask in zip(painted.scene.placements, painted.masks, strict=True)
    }
    overlaps = dict.fromkeys(truth, 0.0)
    for answer in answers:
        if answer.mention_id in truth:
            overlap = iou(answer.pixels, truth[answer.mention_id])
            overlaps[answer.mention_id] = max(overlap, overlaps[answer.mention_id])
        else:
            tally.invented[answer.mention_id] += 1
    right = [name for name, overlap in overlaps.items() if overlap >= SAME_OBJECT_IOU]
    tally.missed.update(truth.keys() - right)
    tally.sums.append((len(right), len(answers), len(truth), sum(overlaps.values())))


def iou(first: np.ndarray, second: np.ndarray) -> float:
    return float((first & second).sum() / (first | second).sum())


def count_depth_order(tally: Tally, depth: StickerDepth, painted: PaintedScene) -> None:
    """Ask which of two objects is nearer, for all pairs that stand plainly apart."""
    if painted.scene.backdrop.horizon is None:
        return
    estimated = depth.estimate(painted.pixels).values
    places = [
        (placement.depth, float(np.median(estimated[mask])))
        for placement, mask in zip(painted.scene.placements, painted.masks, strict=True)
    ]
    for (true_first, first), (true_second, second) in combinations(places, 2):
        if abs(true_first - true_second) >= LEAST_DEPTH_STEP:
            tally.pairs += 1
            tally.pairs_right += (first < second) == (true_first < true_second)


def table(title: str, tally: Tally) -> Iterator[str]:
    yield title
    yield f"  class F1, %          {bootstrap(f1, tally.sums).percent}"
    yield f"  mean IoU, %          {bootstrap(mean_iou, tally.sums).percent}"
    yield f"  depth order right, % {wilson(tally.pairs_right, tally.pairs).percent}"
    yield f"  most often missed    {listed(tally.missed.most_common(WORST_SHOWN))}"
    yield f"  most often invented  {listed(tally.invented.most_common(WORST_SHOWN))}"


def f1(sums: Floats) -> float:
    right, answered, told, _ = sums
    return 2 * float(right / (answered + told))


def mean_iou(sums: Floats) -> float:
    return ratio(sums[[3, 2]])


def listed(counts: Sequence[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts) or "none"


if __name__ == "__main__":
    sys.exit(main())
