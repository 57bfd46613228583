"""Judge the counts and colours of painted sticker scenes whose truth is known.

    python -m tests.performance.judge_counts_colours [COUNT] [SEED]

Every row has COUNT scenes (400 by default) painted from SEED; thresholds were tuned on other seeds.

Counts: one to three equal stickers, apart, or two of them touching or slightly overlapping, in
every other scene with a sticker of another class, judged by the shipped models for prompts that
require two and three. A row holds the scenes of one true count; right is PASS for the true count
and FAIL for the other ones. Chains of three stickers that all touch, and stickers below the size
of the segmenter's training, are counted apart.

Colours: one sticker painted in a colour with its shading kept, for a prompt that requires this
colour or, in every other scene, another one. Another sticker has the required colour or one next to
it in half of the scenes, and the background is tinted in half of them. With the renderer's masks,
and with the shipped segmenter, which knows its objects in their own colours only and misses most
repainted ones.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.training.backgrounds import Backdrop, draw_background
from spatialstudio.adapters.stickers.training.sprites import sticker
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.scene import MentionId, ObjectMention, Prompt, SceneGraph, TextSpan
from spatialstudio.domain.verdict import (
    REPRODUCE,
    Detection,
    Mask,
    MentionVerdict,
    Outcome,
    Perception,
    box_around,
)
from spatialstudio.science.checker.decide_mentions import decide_mentions
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.colours import lab_of
from tests.performance.intervals import wilson
from tests.performance.rendered_cases import MODELS

SIDE = 128
SIZES = {1: (0.26, 0.6), 2: (0.28, 0.45), 3: (0.25, 0.36)}
SMALL = 0.2, 0.25
COLOURED = 0.15, 0.6
HALF = 0.5
TINT = 0.6
"""Share of a colour in a tinted background."""
OVERLAP = 0.02, 0.10
"""Share of a sticker that a slightly overlapping one covers."""
GAP = 4
ARRANGEMENTS = ("apart", "apart", "touching", "overlapping")
WORDS = {1: "one", 2: "two", 3: "three"}
HELD_OUT = 20261125
PAINTS = {
    "red": (48, 66, 44),
    "orange": (68, 40, 68),
    "yellow": (86, 0, 78),
    "green": (56, -48, 40),
    "blue": (46, 8, -56),
    "purple": (42, 48, -46),
    "pink": (72, 44, -2),
    "brown": (40, 20, 30),
    "black": (14, 0, 0),
    "white": (94, 0, 2),
    "grey": (55, 0, -1),
}
"""CIELAB of each colour; hue and lightness vary around it."""
JITTER = (4.0, 6.0, 6.0)
NEUTRAL_CHROMA, DARK, LIGHT = 14.0, 30.0, 85.0
"""Dark and light parts of a sticker without chroma, such as tyres and eyes, keep their colour."""
SHADING = 0.35

Sticker = NDArray[np.float32]
Point = tuple[int, int]
Placed = tuple[Sticker, Point]
"""A sticker and its top left corner."""


@dataclass(frozen=True)
class Case:
    """A painted picture, the class of its stickers, and the mask of all of them."""

    pixels: NDArray[np.uint8]
    number: int
    mask: NDArray[np.bool_]


def counted_case(
    rng: np.random.Generator,
    count: int,
    arrangement: str,
    *,
    is_chain: bool = False,
    sizes: tuple[float, float] | None = None,
) -> Case:
    """Paint equal stickers, and maybe another; all in a row of contacts if it is a chain."""
    while True:
        number = int(rng.integers(len(sticker_objects())))
        pixels = sticker(number, round(rng.uniform(*(sizes or SIZES[count])) * SIDE))
        if corners := _corners(rng, pixels, count, arrangement, is_chain):
            own = [(pixels, corner) for corner in corners]
            return _painted(
                rng, number, own, _another(rng, number, own) if rng.random() < HALF else ()
            )


def coloured_case(rng: np.random.Generator, colour: str, wanted: str = "") -> Case:
    """Paint a sticker in a colour; another one, or the ground, may have the required one."""
    number = int(rng.integers(len(sticker_objects())))
    own = [(pixels := painted_sticker(rng, number, colour), _corner(rng, pixels))]
    near = (wanted or colour, *NEXT_TO.get(wanted or colour, ()))
    others = _another(rng, number, own, str(rng.choice(near))) if rng.random() < HALF else ()
    tint = np.array(PAINTS[str(rng.choice(list(PAINTS)))]) if rng.random() < HALF else None
    return _painted(rng, number, own, others, tint)


def painted_sticker(rng: np.random.Generator, number: int, colour: str) -> Sticker:
    """Return a sticker of any size in a colour."""
    own = sticker(number, round(rng.uniform(*COLOURED) * SIDE))
    paint = np.array(PAINTS[colour]) + rng.uniform(-1, 1, 3) * JITTER * (colour not in NEUTRALS)
    return recoloured(own, paint)


def _another(
    rng: np.random.Generator, number: int, own: list[Placed], colour: str = ""
) -> tuple[Placed, ...]:
    """Return a sticker of another class that lies apart from all; none if there is no room."""
    for _ in range(30):
        other = int(rng.integers(len(sticker_objects())))
        if other == number:
            continue
        size = round(rng.uniform(*SIZES[3]) * SIDE)
        pixels = painted_sticker(rng, other, colour) if colour else sticker(other, size)
        corner = _corner(rng, pixels)
        if all(_is_apart(pixels, corner, *each) for each in own):
            return ((pixels, corner),)
    return ()


def _is_apart(pixels: Sticker, corner: Point, other: Sticker, there: Point) -> bool:
    below, right = (
        there[axis] - corner[axis] > pixels.shape[axis] + GAP
        or corner[axis] - there[axis] > other.shape[axis] + GAP
        for axis in (0, 1)
    )
    return below or right


NEUTRALS = ("black", "white", "grey")
NEXT_TO = {
    "red": ("orange", "pink"),
    "orange": ("red", "yellow"),
    "yellow": ("orange",),
    "blue": ("purple",),
    "purple": ("blue", "pink"),
    "pink": ("red", "purple"),
    "brown": ("orange", "black"),
    "black": ("grey",),
    "white": ("grey",),
    "grey": ("white", "black"),
}


def recoloured(pixels: Sticker, paint: NDArray[np.float64]) -> Sticker:
    """Return a sticker in a colour, CIELAB, with its shading."""
    lab = lab_of(pixels[..., :3].astype(np.float64) / 255)
    chroma = np.hypot(lab[..., 1], lab[..., 2])
    is_neutral = (chroma < NEUTRAL_CHROMA) & ((lab[..., 0] < DARK) | (lab[..., 0] > LIGHT))
    solid = pixels[..., 3] > 0.5
    if (is_neutral & solid).sum() > 0.5 * solid.sum():  # the whole thing is black or white
        is_neutral = np.zeros_like(is_neutral)
    body = solid & ~is_neutral
    shade = SHADING * (lab[..., 0] - np.median(lab[..., 0][body]))
    new = np.stack([np.clip(paint[0] + shade, 0, 100), *_flat(paint[1:], shade.shape)], -1)
    rgb = np.where(is_neutral[..., None], pixels[..., :3], srgb_of(new) * 255)
    return np.concatenate([rgb, pixels[..., 3:]], -1).astype(np.float32)


def _flat(values: NDArray[np.float64], shape: tuple[int, ...]) -> Iterator[NDArray[np.float64]]:
    return (np.full(shape, value) for value in values)


def srgb_of(lab: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert CIELAB to sRGB in [0, 1], clipped; the inverse of ``lab_of``."""
    y = (lab[..., 0] + 16) / 116
    curved = np.stack([y + lab[..., 1] / 500, y, y - lab[..., 2] / 200], -1)
    ratios = np.where(curved > 6 / 29, curved**3, 3 * (6 / 29) ** 2 * (curved - 4 / 29))
    to_rgb = np.array(
        [
            [3.2404542, -1.5371385, -0.4985314],
            [-0.9692660, 1.8760108, 0.0415560],
            [0.0556434, -0.2040259, 1.0572252],
        ]
    )
    linear = np.clip(ratios * np.array([0.95047, 1.0, 1.08883]) @ to_rgb.T, 0, 1)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)


def _corners(
    rng: np.random.Generator, pixels: Sticker, count: int, arrangement: str, is_chain: bool
) -> list[Point]:
    """Draw the top left corners of stickers; empty when they do not fit."""
    for _ in range(60):
        corners = [_corner(rng, pixels)]
        while len(corners) < count:
            is_joined = arrangement != "apart" and (len(corners) == 1 or is_chain)
            place = _contact(rng, pixels, corners[-1], arrangement) if is_joined else None
            corners.append(place or _corner(rng, pixels))
            if is_joined and place is None:
                break
        if len(corners) == count and _fits(corners, pixels, arrangement, is_chain):
            return corners
    return []


def _corner(rng: np.random.Generator, pixels: Sticker) -> Point:
    height, width = pixels.shape[:2]
    return int(rng.integers(SIDE - height + 1)), int(rng.integers(SIDE - width + 1))


def _contact(
    rng: np.random.Generator, pixels: Sticker, corner: Point, arrangement: str
) -> Point | None:
    """Move a sticker towards another from a random side until it touches or overlaps it."""
    solid = pixels[..., 3] > 0.5
    wanted = 0.0 if arrangement == "touching" else float(rng.uniform(*OVERLAP))
    angle = rng.uniform(0, 2 * np.pi)
    for distance in range(2 * max(solid.shape), 2, -1):
        down, right = round(distance * np.sin(angle)), round(distance * np.cos(angle))
        if _shared(solid, down, right) / solid.sum() > wanted:
            return corner[0] + down, corner[1] + right
    return None


def _shared(solid: NDArray[np.bool_], down: int, right: int) -> int:
    height, width = solid.shape
    if abs(down) >= height or abs(right) >= width:
        return 0
    first = solid[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)]
    other = solid[max(-down, 0) : height + min(-down, 0), max(-right, 0) : width + min(-right, 0)]
    return int((first & other).sum())


def _fits(corners: list[Point], pixels: Sticker, arrangement: str, is_chain: bool) -> bool:
    height, width = pixels.shape[:2]
    if not all(0 <= y <= SIDE - height and 0 <= x <= SIDE - width for y, x in corners):
        return False
    for (first, one), (other, two) in combinations(enumerate(corners), 2):
        down, right = abs(one[0] - two[0]), abs(one[1] - two[1])
        is_joined = arrangement != "apart" and other == first + 1 and (first == 0 or is_chain)
        room = -0.15 if is_chain else GAP
        if is_chain and not is_joined:
            if down < height * (1 + room) and right < width * (1 + room):
                return False
        elif not is_joined and down < height + GAP and right < width + GAP:
            return False
    return True


def _painted(
    rng: np.random.Generator,
    number: int,
    stickers: Sequence[Placed],
    others: Sequence[Placed] = (),
    tint: NDArray[np.int_] | None = None,
) -> Case:
    backdrop = Backdrop(seed=int(rng.integers(2**31)), horizon=None, place=None)
    canvas, mask = draw_background(backdrop, SIDE), np.zeros((SIDE, SIDE), np.bool_)
    if tint is not None:
        canvas += TINT * (255 * srgb_of(tint.astype(np.float64)).astype(np.float32) - canvas)
    for pixels, (top, left) in (*others, *stickers):
        area = canvas[top : top + pixels.shape[0], left : left + pixels.shape[1]]
        area += (pixels[..., :3] - area) * pixels[..., 3:]
    for pixels, (top, left) in stickers:
        mask[top : top + pixels.shape[0], left : left + pixels.shape[1]] |= pixels[..., 3] > 0.5
    return Case((canvas + 0.5).astype(np.uint8), number, mask)


def scene_of(number: int, count: int = 1, colour: str = "") -> SceneGraph:
    """Return the scene of "three cups" or "red cup"."""
    thing = sticker_objects()[number]
    noun = thing.plural if count > 1 else thing.name
    phrase = " ".join(filter(None, (WORDS[count] if count > 1 else "", colour, noun)))
    mention = ObjectMention(
        id=MentionId("m1"),
        phrase=phrase,
        head=thing.name,
        attributes=(colour,) if colour else (),
        is_plural=count > 1,
        span=TextSpan(start=0, stop=len(phrase)),
    )
    prompt = Prompt(text=phrase)
    return SceneGraph(prompt=prompt, mentions=(mention,), relations=(), extractor_id="test")


def judged(case: Case, scene: SceneGraph, judges: JudgeSet) -> MentionVerdict:
    (verdict,) = evaluate_image(case.pixels, scene, judges, CancelFlag()).mention_verdicts
    return verdict


def answer_of(verdict: MentionVerdict) -> str:
    return verdict.doubt.value if verdict.doubt else verdict.outcome.value


Row = Counter[tuple[str, bool, str]]
"""Scenes by what the prompt requires, whether that is true, and the answer."""


def count_row(draw: Callable[[], Case], count: int, scenes: int, judges: JudgeSet) -> Row:
    row: Row = Counter()
    for _ in range(scenes):
        case = draw()
        scenes_asked = {wanted: scene_of(case.number, wanted) for wanted in (2, 3)}
        evaluation = evaluate_image(case.pixels, scenes_asked[2], judges, CancelFlag())
        for wanted, scene in scenes_asked.items():
            (verdict,) = decide_mentions(scene, evaluation.instances, evaluation.checker)
            row[WORDS[wanted], wanted == count, answer_of(verdict)] += 1
    return row


def judged_by_truth(case: Case, scene: SceneGraph) -> MentionVerdict:
    """Judge a colour with the renderer's mask."""
    name, box = scene.mentions[0].id, box_around(case.mask)
    found = Detection(mention_id=name, label="", score=1.0, box=box, detector_id="truth")
    mask = Mask(mention_id=name, pixels=case.mask, score=1.0, source_id="truth")
    seen = Perception(image_sha256="", height=SIDE, width=SIDE, detections=(found,), masks=(mask,))
    instances = measure_instances(scene, seen, case.pixels)
    (verdict,) = decide_mentions(scene, instances, REPRODUCE)
    return verdict


def colour_row(
    rng: np.random.Generator, colour: str, scenes: int, judges: JudgeSet | None = None
) -> Row:
    """Judge by the shipped models, or with the renderer's masks."""
    row: Row = Counter()
    others = [other for other in PAINTS if other != colour]
    for place in range(scenes):
        wanted = colour if place % 2 else str(rng.choice(others))
        case = coloured_case(rng, colour, wanted)
        scene = scene_of(case.number, colour=wanted)
        verdict = judged(case, scene, judges) if judges else judged_by_truth(case, scene)
        row[wanted if wanted == colour else "another", wanted == colour, answer_of(verdict)] += 1
    return row


def lines_of(name: str, row: Row) -> Iterator[str]:
    """Yield the shares of right and wrong answers and of false PASS, and what was not right."""
    right, wrong = (
        sum(number for (_, is_true, answer), number in row.items() if answer == due(is_true))
        for due in (_due, _opposite)
    )
    false = sum(n for (_, is_true, answer), n in row.items() if not is_true and answer == "PASS")
    untrue = sum(number for (_, is_true, _), number in row.items() if not is_true)
    shares = (wilson(n, of).percent for n, of in ((right, row.total()), (wrong, row.total())))
    own, other = shares
    passes = wilson(false, untrue).percent
    yield f"{name:28} right {own:20} wrong {other:18} false PASS {passes} (n = {row.total()})"
    for (wanted, is_true, answer), number in sorted(row.items()):
        if answer != _due(is_true):
            yield f"    requires {wanted}: {answer} {number}"


def _opposite(is_true: bool) -> str:
    return _due(not is_true)


def _due(is_true: bool) -> str:
    return (Outcome.PASS if is_true else Outcome.FAIL).value


def main(scenes: int, seed: int) -> None:
    judges = JudgeSet(detector=StickerSegmenter(MODELS / "sticker-segmenter"))
    rng = np.random.default_rng(seed)
    for count in (1, 2, 3):

        def draw(count: int = count) -> Case:
            return counted_case(rng, count, str(rng.choice(ARRANGEMENTS)) if count > 1 else "apart")

        _print(lines_of(f"{WORDS[count]} in the picture", count_row(draw, count, scenes, judges)))
    for count in (1, 2, 3):

        def small(count: int = count) -> Case:
            return counted_case(rng, count, "apart", sizes=SMALL)

        row = count_row(small, count, scenes // 4, judges)
        _print(lines_of(f"{WORDS[count]}, small", row))
    for arrangement in ("touching", "overlapping"):

        def chain(arrangement: str = arrangement) -> Case:
            return counted_case(rng, 3, arrangement, is_chain=True)

        row = count_row(chain, 3, scenes // 4, judges)
        _print(lines_of(f"chain of three, {arrangement}", row))
    for colour in PAINTS:
        _print(lines_of(f"{colour}, true masks", colour_row(rng, colour, scenes)))
    for colour in PAINTS:
        row = colour_row(rng, colour, scenes // 4, judges)
        _print(lines_of(f"{colour}, shipped models", row))


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    main(numbers[0] if numbers else 400, numbers[1] if len(numbers) > 1 else HELD_OUT)
