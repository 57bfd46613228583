"""Measure how much of each word's attention falls on the objects of a generated picture.

    python -m tests.performance.measure_attention [--prompts N]

Draws two-object prompts of SpatialBench-UC without guidance and keeps the attention to every word.
A word's map is the mean over the finest layers; each kept step's map is made to sum to 1, and their
mean is read. The region of an object is the cells that the segmenter's mask covers by half, and
their neighbours; objects that the segmenter misses do not count. A noun is held against its own
object, all other words against each object in turn. Attention that ignores an object has as much of
its mass there as the region takes of the picture: once. Intervals are those of a bootstrap over
pictures, at 95 %.
"""

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from scipy import ndimage

from spatialstudio.adapters.diffusion.diffusers_backend import DiffusersBackend
from spatialstudio.adapters.models.model_files import read_card
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER
from spatialstudio.application.compose.prompt_words import PromptWord, words_of
from spatialstudio.application.inspect.layer_maps import places_of
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    RgbImage,
)
from spatialstudio.domain.attention import AttentionDetail, AttentionFile
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    ModelRef,
    RequestId,
    SamplingSettings,
)
from spatialstudio.domain.scene import MentionId, SceneGraph
from tests.adapters.stickers.asking import sure
from tests.fakes import events_of
from tests.performance.intervals import bootstrap, ratio
from tests.performance.prompt_lists import spatialbench_prompts
from tests.performance.studio_pictures import show

CAPTURE = CaptureSettings(attention_every=4, preview_every=0, detail=AttentionDetail.EVERY_WORD)
SEED = 8_000
COVERED = 0.5
NOUNS = "nouns, own object"

Maps = Mapping[MentionId, FloatMap]


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What a region holds of a word's attention and of the picture, [0, 1] each."""

    name: str
    held: float
    area: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Run:
    """A picture, and for each word a map that sums to 1."""

    image: RgbImage
    maps: Maps


class Painter:
    """Draws with the embedded model and reads the attention it kept."""

    def __init__(self, archives: Path) -> None:
        self._archives = archives
        self._backend = DiffusersBackend(archives)
        self._card = read_card(WORLD_FOLDER.with_name("stickers"))

    def draw(self, scene: SceneGraph, seed: int) -> Run:
        request = GenerationRequest(
            id=RequestId(f"measured-{seed}"),
            scene=scene,
            backend_id="diffusers",
            model=ModelRef(id=self._card.id),
            sampling=SamplingSettings(seed=seed),
            capture=CAPTURE,
        )
        started, *_, finished = events_of(self._backend, request, self._card)
        files = started.attention_files
        maps = word_maps(self._archives / request.id, files, words_of(scene))
        return Run(image=finished.image, maps=maps)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=100, help="spread over 200")
    options = parser.parse_args()
    listed = spatialbench_prompts()
    texts = [listed[n * len(listed) // options.prompts].text for n in range(options.prompts)]
    studio = Studio.open("inline")
    segmenter = StickerSegmenter(WORLD_FOLDER.with_name(StickerSegmenter.id))
    pictures: list[list[Share]] = []
    with TemporaryDirectory() as archives:
        painter = Painter(Path(archives))
        for number, text in enumerate(texts):
            scene = studio.parse_for_model(text)
            run = painter.draw(scene, SEED + number)
            pictures.append(list(shares_of(run, scene, segmenter)))
    show("\n".join(table(pictures)))
    return 0


def word_maps(
    folder: Path, files: tuple[AttentionFile, ...], words: tuple[PromptWord, ...]
) -> Maps:
    """Average the finest layers' maps of each word over the kept steps, each made to sum to 1."""
    finest = max(file.shape[-1] for file in files)
    layers = [file for file in files if file.shape[-1] == finest]
    kept = np.mean([np.load(folder / file.name).astype(np.float32) for file in layers], axis=0)
    maps = {}
    for word, places in places_of(words, layers[0].words).items():
        steps = kept[:, :, places].mean((1, 2))
        maps[word] = (steps / steps.sum((1, 2), keepdims=True)).mean(0)
    return maps


def shares_of(run: Run, scene: SceneGraph, segmenter: StickerSegmenter) -> Iterator[Share]:
    """Hold every word's map against the regions of the objects that were found."""
    masks = sure(segmenter.detect(run.image, scene.mentions).masks)
    side = next(iter(run.maps.values())).shape[-1]
    regions = {
        mention.id: object_region(
            [mask.pixels for mask in masks if mask.mention_id == mention.id], side
        )
        for mention in scene.mentions
    }
    found = {mention: region for mention, region in regions.items() if region.any()}
    for word in words_of(scene):
        own = {word.key} if word.is_mention else found.keys()
        for mention in own & found.keys():
            yield Share(
                name=NOUNS if word.is_mention else word.text.lower(),
                held=float(run.maps[word.key][found[mention]].sum()),
                area=float(found[mention].mean()),
            )


def object_region(masks: list[BoolMask], side: int) -> BoolMask:
    """Bring an object's masks to (side, side) cells, and add the cells around them."""
    cells = np.zeros((side, side), dtype=np.bool_)
    for mask in masks:
        step = mask.shape[0] // side
        cells |= mask.reshape(side, step, side, step).mean((1, 3)) >= COVERED
    return ndimage.binary_dilation(cells, np.ones((3, 3)))


def table(pictures: list[list[Share]]) -> Iterator[str]:
    sums: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for shares in pictures:
        for name in dict.fromkeys(share.name for share in shares):
            own = [share for share in shares if share.name == name]
            held, area = sum(share.held for share in own), sum(share.area for share in own)
            sums[name].append((held, area, len(own)))
    yield f"{'':20} {'of its attention, %':>20} {'of the picture, %':>20} {'times':>20}"
    for name, rows in sorted(sums.items(), key=lambda item: -len(item[1])):
        held = bootstrap(lambda total: ratio(total[[0, 2]]), rows).percent
        area = bootstrap(lambda total: ratio(total[[1, 2]]), rows).percent
        times = bootstrap(lambda total: ratio(total[[0, 1]]), rows)
        ends = f"{times.value:.2f} [{times.low:.2f}, {times.high:.2f}]"
        yield f"{name:20} {held:>20} {area:>20} {ends:>20}"


if __name__ == "__main__":
    sys.exit(main())
