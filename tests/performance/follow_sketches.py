"""See whether pictures follow sketched places: random layouts, and one object of each moved.

    python -m tests.performance.follow_sketches FOLDER --layouts 100 --variants none ours

Layouts of two to four objects at random places, in sizes of the sticker world, none covered by
others more than in that world. The prompt only lists the objects ("a cat, a dog and a lamp"); with
``--related`` it also relates each to the next, as the layout has them. The places become
``GuidanceSettings.targets``. Each layout is drawn unguided, as sketched, and with one object moved
by 0.3 of the side, all from one seed. Rows and pictures lie in FOLDER, as with ``compare_layouts``.

Distance: of the centroid of an object's best mask from its sketched place, as a share of the side.
Follows: the object has moved by 0.2 or more in the direction in which it was moved. Each stays:
another object has not moved by more than 0.1; all stay: no other one has. A missing object neither
follows nor stays. Background: the difference of its mean colours before and after, root mean square
of the channels, of 255.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import cos, hypot, pi, sin
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from PIL import Image

from spatialstudio.adapters.stickers.training.scenes import SceneSettings
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.generation import (
    LAYOUT,
    UNGUIDED,
    GenerationRequest,
    GuidanceSettings,
    PlaceTarget,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.verdict import REPRODUCE, Evaluation
from spatialstudio.science.scenes.placement import find_object
from tests.performance.compare_layouts import draw_variant
from tests.performance.guidance_variants import all_variants, guided, register_ablations
from tests.performance.intervals import wilson
from tests.performance.prompt_lists import HALF_OF_SEEDS, Split, chained, listed
from tests.performance.second_verifier import SecondVerifier
from tests.performance.shared_rows import (
    KEY,
    Values,
    add_sharing_options,
    grouped,
    key_of,
    make_rows,
    read_rows,
)
from tests.performance.studio_pictures import Bench, show

WORLD = SceneSettings()
FEWEST, MOST = 2, 4
MOVED_BY, FOLLOWS, STAYS = 0.3, 0.2, 0.1
NEAR, STILL_NEAR = 0.1, 0.2
MOVED = ", moved"
SECOND = "second_centres"
DISC_SHARE = 0.8
"""Diameter of the disc of a sprite's area, as a share of its longer side: the median of all."""
Place = tuple[float, float, float]
"""Centre (x, y) and longer side, as shares of the picture's side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Where the objects of a prompt should be.

    Attributes:
        id: Unique among the layouts of both splits.
        numbers: Class numbers of the objects.
        places: One for each object.
        moved: The places after the move.
        mover: Index of the moved object.
        seed: Of all pictures of the layout.
    """

    id: str
    numbers: tuple[int, ...]
    places: tuple[Place, ...]
    moved: tuple[Place, ...]
    mover: int
    seed: int

    def text(self, *, is_related: bool) -> str:
        phrases = [phrase_of(first, second) for first, second in pairwise(self.places)]
        return chained(self.numbers, phrases) if is_related else listed(self.numbers)


def phrase_of(first: Place, second: Place) -> str:
    """Name the direction of the larger difference."""
    across, down = first[0] - second[0], first[1] - second[1]
    if abs(across) >= abs(down):
        return "to the left of" if across < 0 else "to the right of"
    return "above" if down < 0 else "below"


def random_layouts(split: Split, count: int) -> list[Layout]:
    """Draw layouts; fewer are the first of more."""
    is_held_out = split is Split.HELD_OUT
    rng = np.random.default_rng([2000, is_held_out])
    layouts = []
    for number in range(count):
        objects = FEWEST + number % (MOST - FEWEST + 1)
        numbers = rng.permutation(len(sticker_objects()))[:objects].tolist()
        mover, places, moved = _places_and_move(rng, objects)
        seed = int(rng.integers(HALF_OF_SEEDS)) + HALF_OF_SEEDS * is_held_out
        layouts.append(
            Layout(
                id=f"layout-{split.value}-{number:04d}",
                numbers=tuple(numbers),
                places=places,
                moved=moved,
                mover=mover,
                seed=seed,
            )
        )
    return layouts


def _places_and_move(
    rng: np.random.Generator, objects: int
) -> tuple[int, tuple[Place, ...], tuple[Place, ...]]:
    """Draw places that fit, and a move after which they still fit."""
    sizes = rng.uniform(*WORLD.size_ranges[objects - 1], objects)
    mover = int(rng.integers(objects))
    while True:
        places = [(*rng.uniform(size / 2, 1 - size / 2, 2).tolist(), float(size)) for size in sizes]
        angle = rng.uniform(0, 2 * pi)
        x, y, size = places[mover]
        target = (x + MOVED_BY * cos(angle), y + MOVED_BY * sin(angle), size)
        moved = [target if number == mover else place for number, place in enumerate(places)]
        is_inside = all(size / 2 <= value <= 1 - size / 2 for value in target[:2])
        if is_inside and all_visible(places) and all_visible(moved):
            return mover, tuple(places), tuple(moved)


def all_visible(places: Sequence[Place]) -> bool:
    """Return True if no square is covered by later ones more than in the sticker world."""
    for number, (x, y, size) in enumerate(places):
        covered = 0.0
        for other_x, other_y, other_size in places[number + 1 :]:
            reach = (size + other_size) / 2
            least = min(size, other_size)
            width = min(reach - abs(x - other_x), least)
            height = min(reach - abs(y - other_y), least)
            covered += max(width, 0) * max(height, 0)
        if covered > (1 - WORLD.least_visible) * size**2:
            return False
    return True


def main() -> int:
    options = parse_arguments()
    layouts = random_layouts(options.split, options.layouts)
    if not options.table:
        module = "tests.performance.follow_sketches"
        make_rows(options, module, layouts, lambda own: rows_of(own, options))
    if options.worker is None:
        ids = {row_id(layout, options) for layout in layouts}
        rows = [row for row in read_rows(options.folder) if row["id"] in ids]
        lines = list(table(rows))
        if any(SECOND in row for row in rows):
            judged = [{**row, "centres": row[SECOND]} for row in rows if SECOND in row]
            lines += [
                "",
                "By the second verifier, to the centre of its window:",
                "",
                *table(judged),
            ]
        show("\n".join(lines))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sharing_options(parser)
    parser.add_argument("--layouts", type=int, default=100)
    parser.add_argument("--variants", nargs="+", default=[UNGUIDED, "ours"])
    parser.add_argument("--variants-file", type=Path, help="Python file with further VARIANTS")
    parser.add_argument("--split", type=Split, choices=Split, default=Split.DEVELOPMENT)
    parser.add_argument("--second", action="store_true", help="also run the second verifier")
    parser.add_argument("--related", action="store_true", help="state relations in the prompt")
    parser.add_argument("--passes", type=int, default=30, help="of a picture; 20 is a plain one")
    return parser.parse_args()


def rows_of(layouts: Iterable[Layout], options: argparse.Namespace) -> Iterator[Values]:
    """Draw what has no row yet."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    register_ablations()
    variants = {**all_variants(options.variants_file), "any size": guided(_any_size)}
    done = {key_of(row): row for row in read_rows(options.folder)}
    bench, second = Bench(), SecondVerifier() if options.second else None
    pictures = options.folder / "pictures"
    pictures.mkdir(exist_ok=True)
    for layout in layouts:
        scene = bench.scene(layout.text(is_related=options.related))
        for variant, places in wanted_places(layout, options.variants).items():
            row: Values = {"id": row_id(layout, options), "variant": variant}
            path = pictures / f"{row['id']}-{variant}.png"
            known = done.get(key_of(row))
            if known is None:
                request = sketched_request(bench, scene, layout.seed, places)
                plan = variants[variant.removesuffix(MOVED)]
                drawn = draw_variant(bench, plan, request, options.passes)
                Image.fromarray(drawn.image).save(path, compress_level=1)
                row |= {
                    "seed": layout.seed,
                    "text": scene.prompt.text,
                    "places": places,
                    "mover": layout.mover,
                    **found_values(scene, drawn.evaluation, drawn.image),
                    "passes": drawn.passes,
                    "processor_s": round(drawn.processor_s, 3),
                }
            if second is not None and SECOND not in (known or {}):
                row[SECOND] = second_centres(scene, np.array(Image.open(path)), second)
            if len(row) > len(KEY):
                yield row


def wanted_places(layout: Layout, variants: Sequence[str]) -> dict[str, tuple[Place, ...]]:
    """Name the pictures of a layout; the unguided one knows no places and is drawn once."""
    wanted = {}
    for name in variants:
        wanted[name] = layout.places
        if name != UNGUIDED:
            wanted[name + MOVED] = layout.moved
    return wanted


def row_id(layout: Layout, options: argparse.Namespace) -> str:
    return layout.id + "-related" * options.related


def second_centres(
    scene: SceneGraph, image: RgbImage, verifier: SecondVerifier
) -> list[tuple[float, float] | None]:
    """Return the centre of each object's best window, shares of the sides."""
    seen = verifier.perceive(image, scene.mentions)
    found = [find_object(mention.id, seen) for mention in scene.mentions]
    return [each and (round(each.x, 4), round(each.y, 4)) for each in found]


def _any_size(guidance: GuidanceSettings) -> GuidanceSettings:
    return replace(
        guidance, targets=tuple(replace(target, size=None) for target in guidance.targets)
    )


def sketched_request(
    bench: Bench, scene: SceneGraph, seed: int, places: Sequence[Place]
) -> GenerationRequest:
    """Create a request with layout guidance as recommended and the sketched places."""
    guidance = choose_guidance(LAYOUT, bench.card, bench.card.steps)
    targets = tuple(
        PlaceTarget(mention_id=mention.id, x=x, y=y, size=size * DISC_SHARE)
        for mention, (x, y, size) in zip(scene.mentions, places, strict=True)
    )
    return with_values(bench.request(scene, seed), guidance=replace(guidance, targets=targets))


def found_values(scene: SceneGraph, evaluation: Evaluation, image: RgbImage) -> Values:
    """Return where the objects are and what the background looks like."""
    seen = replace(evaluation.perception, cut=REPRODUCE.detection_score)
    found = [find_object(mention.id, seen) for mention in scene.mentions]
    background = np.ones(image.shape[:2], dtype=np.bool_)
    for mask in seen.masks:
        background &= ~mask.pixels
    colours = image[background].mean(0)
    return {
        "found": [len(seen.detections_of(mention.id)) for mention in scene.mentions],
        "centres": [each and (round(each.x, 4), round(each.y, 4)) for each in found],
        "sizes": [each and round(each.size, 4) for each in found],
        "background": [round(float(colour), 2) for colour in colours],
    }


def table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield the lines of two Markdown tables: places, and moves."""
    by_variant = {variant: own for (variant,), own in grouped(rows, "variant")}
    yield (
        "| variant | layouts | objects | found | median | 90 % within | within 0.1 | within 0.2 "
        "| passes |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for variant, own in by_variant.items():
        if not variant.endswith(MOVED):
            yield place_line(variant, own)
    yield ""
    yield (
        "| variant | moves | follows by 0.2 | each other stays | all stay | median follow "
        "| others' median | others' largest | background |"
    )
    yield "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
    for variant, own in by_variant.items():
        if variant + MOVED in by_variant:
            yield move_line(variant, own, by_variant[variant + MOVED])


def place_line(variant: str, rows: Sequence[Values]) -> str:
    """Count the distances of all objects; those of missing ones are above any threshold."""
    distances = [distance for row in rows for distance in distances_of(row)]
    found = [distance for distance in distances if distance is not None]
    asked = len(distances)
    cells = (
        variant,
        str(len(rows)),
        str(asked),
        wilson(len(found), asked).percent,
        f"{np.median(found):.3f}" if found else "",
        f"{np.percentile(found, 90):.3f}" if found else "",
        wilson(sum(distance <= NEAR for distance in found), asked).percent,
        wilson(sum(distance <= STILL_NEAR for distance in found), asked).percent,
        f"{mean(row['passes'] for row in rows):.1f}",
    )
    return f"| {' | '.join(cells)} |"


def distances_of(row: Values) -> list[float | None]:
    return [
        None if centre is None else hypot(centre[0] - place[0], centre[1] - place[1])
        for centre, place in zip(row["centres"], row["places"], strict=True)
    ]


def move_line(variant: str, before: Sequence[Values], after: Sequence[Values]) -> str:
    """Count how the moved object follows and whether the others stay."""
    moves = [Move.of(row, other) for row, other in paired(before, after)]
    others = [shift for move in moves for shift in move.others]
    shifts = [shift for shift in others if shift is not None]
    follows = [move.follow for move in moves if move.follow is not None]
    cells = (
        variant,
        str(len(moves)),
        wilson(sum(follow >= FOLLOWS for follow in follows), len(moves)).percent,
        wilson(sum(shift <= STAYS for shift in shifts), len(others)).percent,
        wilson(sum(move.stays for move in moves), len(moves)).percent,
        f"{np.median(follows):.3f}" if follows else "",
        f"{np.median(shifts):.3f}" if shifts else "",
        f"{max(shifts):.3f}" if shifts else "",
        f"{np.median([move.recoloured for move in moves]):.1f}" if moves else "",
    )
    return f"| {' | '.join(cells)} |"


def paired(before: Sequence[Values], after: Sequence[Values]) -> Iterator[tuple[Values, Values]]:
    """Pair the rows of the same layouts."""
    moved = {row["id"]: row for row in after}
    yield from ((row, moved[row["id"]]) for row in before if row["id"] in moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What one moved place changes in the picture.

    Attributes:
        follow: How far the object has moved in the direction of the move; None if it is missing.
        others: How far each other object has moved; None if it is missing in one picture.
        recoloured: Difference of the background's mean colours.
    """

    follow: float | None
    others: tuple[float | None, ...]
    recoloured: float

    @property
    def stays(self) -> bool:
        return all(shift is not None and shift <= STAYS for shift in self.others)

    @classmethod
    def of(cls, before: Values, after: Values) -> "Move":
        shifts = [
            None if None in (first, second) else (second[0] - first[0], second[1] - first[1])
            for first, second in zip(before["centres"], after["centres"], strict=True)
        ]
        mover = before["mover"]
        (x, y, _), (to_x, to_y, _) = before["places"][mover], after["places"][mover]
        length, moved = hypot(to_x - x, to_y - y), shifts.pop(mover)
        colours = np.subtract(before["background"], after["background"])
        return cls(
            follow=moved and (moved[0] * (to_x - x) + moved[1] * (to_y - y)) / length,
            others=tuple(shift and hypot(*shift) for shift in shifts),
            recoloured=float(np.sqrt(np.square(colours).mean())),
        )


if __name__ == "__main__":
    sys.exit(main())
