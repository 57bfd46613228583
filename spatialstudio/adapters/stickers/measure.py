"""Measures the shipped models: ``python -m spatialstudio.adapters.stickers.measure MODELS``.

The figures go into the model cards. All seeds and scenes differ from those of the trainings.
"""

import argparse
import logging
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import (
    StableDiffusionPipeline,
)

from spatialstudio.adapters.model_files import ADVICE_FILE, Advice
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.scene_layout import SceneSettings
from spatialstudio.adapters.stickers.scene_pool import draw_scenes
from spatialstudio.adapters.stickers.scenes import PaintedScene, paint
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.train import PIPELINE_FOLDER
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.perception import Mask
from spatialstudio.domain.prompt import MentionId, ObjectMention, TextSpan

HELD_OUT_SEED = 90_001
SURE_SCORE = 0.5
SAME_OBJECT_IOU = 0.5
LEAST_DEPTH_STEP = 0.1

log = logging.getLogger("spatialstudio.stickers")


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmenterFigures:
    """How well the segmenter does on painted scenes.

    Attributes:
        precision: Share of its instances that lie on an object of that class.
        recall: Share of the objects that it found.
        iou: Mean overlap of what was found with the truth.
    """

    precision: float
    recall: float
    iou: float

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / (self.precision + self.recall)


def measure_segmenter(
    segmenter: StickerSegmenter, scenes: Sequence[PaintedScene]
) -> SegmenterFigures:
    """Ask for every class in every scene and compare with the truth."""
    everything = [mention_of(thing.name) for thing in sticker_objects()]
    found, told, overlaps = 0, 0, []
    for scene in scenes:
        truth = {
            sticker_objects()[placement.number].name: mask
            for placement, mask in zip(scene.scene.placements, scene.masks, strict=True)
        }
        told += len(truth)
        for mask in sure(segmenter.detect(scene.pixels, everything).masks):
            found += 1
            if mask.mention_id in truth:
                true_pixels = truth[mask.mention_id]
                union = (mask.pixels | true_pixels).sum()
                overlaps.append(float((mask.pixels & true_pixels).sum() / union))
    right = sum(overlap >= SAME_OBJECT_IOU for overlap in overlaps)
    return SegmenterFigures(
        precision=right / found, recall=right / told, iou=float(np.mean(overlaps))
    )


def measure_depth_order(depth: StickerDepth, scenes: Sequence[PaintedScene]) -> float:
    """Return how often the nearer of two objects is estimated to be nearer."""
    right = []
    for scene in scenes:
        estimated = depth.estimate(scene.pixels).values
        places = [
            (placement.depth, float(np.median(estimated[mask])))
            for placement, mask in zip(scene.scene.placements, scene.masks, strict=True)
        ]
        for index, (true_first, first) in enumerate(places):
            for true_second, second in places[index + 1 :]:
                if abs(true_first - true_second) >= LEAST_DEPTH_STEP:
                    right.append((first < second) == (true_first < true_second))
    return float(np.mean(right))


def measure_obedience(
    pipeline: StableDiffusionPipeline,
    advice: Advice,
    segmenter: StickerSegmenter,
    pairs: Sequence[tuple[str, str]],
) -> float:
    """Return how often both objects of "a photo of a X and a Y" are found in the picture."""
    both = []
    for seed in range(2):
        for pair in pairs:
            prompt = f"a photo of a {pair[0]} and a {pair[1]}"
            picture = draw(pipeline, advice, prompt, seed)
            seen = segmenter.detect(picture, [mention_of(name) for name in pair])
            both.append(len({mask.mention_id for mask in sure(seen.masks)}) == len(pair))
    return float(np.mean(both))


def draw(pipeline: StableDiffusionPipeline, advice: Advice, prompt: str, seed: int) -> RgbImage:
    """Draw one picture."""
    picture = pipeline(
        prompt,
        num_inference_steps=advice.steps,
        guidance_scale=advice.guidance_scale,
        generator=torch.Generator().manual_seed(seed),
        output_type="np",
    ).images[0]
    return np.asarray((picture * 255).round(), dtype=np.uint8)


def draw_pairs(count: int, seed: int = HELD_OUT_SEED) -> list[tuple[str, str]]:
    """Draw pairs of different objects."""
    rng = np.random.default_rng(seed)
    names = [thing.name for thing in sticker_objects()]
    return [
        (names[first], names[second])
        for first, second in (rng.permutation(len(names))[:2] for _ in range(count))
    ]


def sure(masks: Sequence[Mask]) -> list[Mask]:
    """Keep the masks that the segmenter is sure of."""
    return [mask for mask in masks if mask.score >= SURE_SCORE]


def mention_of(name: str) -> ObjectMention:
    """Ask for an object by its name alone; the name is the mention's id too."""
    return ObjectMention(
        id=MentionId(name), phrase=name, head=name, span=TextSpan(start=0, stop=len(name))
    )


def main() -> None:
    """Measure everything and log the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", type=Path, help="the folder of the model folders")
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--pairs", type=int, default=40)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    side = SceneSettings().side
    scenes = [paint(scene, side) for scene in draw_scenes(arguments.scenes, HELD_OUT_SEED)]
    segmenter = StickerSegmenter(arguments.models / StickerSegmenter.id)
    figures = measure_segmenter(segmenter, scenes)
    log.info("segmenter: F1 %.3f, IoU %.3f", figures.f1, figures.iou)
    order = measure_depth_order(StickerDepth(arguments.models / StickerDepth.id), scenes)
    log.info("depth: order right in %.1f %% of pairs", 100 * order)
    folder = arguments.models / PIPELINE_FOLDER
    pipeline = StableDiffusionPipeline.from_pretrained(folder, dtype=torch.float32)
    pipeline.set_progress_bar_config(disable=True)  # type: ignore[no-untyped-call]
    advice = Advice(**tomllib.loads((folder / ADVICE_FILE).read_text(encoding="utf-8")))
    obedience = measure_obedience(pipeline, advice, segmenter, draw_pairs(arguments.pairs))
    log.info("generator: both objects found in %.1f %% of pictures", 100 * obedience)


if __name__ == "__main__":
    main()
