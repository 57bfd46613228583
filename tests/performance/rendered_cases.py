"""Painted sticker scenes with a claim, and what a perfect observer would see in them."""

import json
import math
from dataclasses import dataclass

import numpy as np

from spatialstudio.adapters.stickers.training.backgrounds import Backdrop
from spatialstudio.adapters.stickers.training.scenes import (
    FLAT_DEPTH,
    PaintedScene,
    Placement,
    Scene,
    paint,
)
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from spatialstudio.domain.scene import (
    ABOVE,
    BETWEEN,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import (
    DepthMap,
    Detection,
    Mask,
    Perception,
    box_around,
)

SIDE = 128
SIZE = 0.3
SMALL = 0.26
MODELS = WORLD_FOLDER.parent
HORIZON = 0.35
TYPES = (LEFT_OF, ABOVE, IN_FRONT_OF, NEAR, FAR_FROM, BETWEEN)


@dataclass(frozen=True)
class Case:
    """A painted scene, what is claimed of it, and what is truly there."""

    painted: PaintedScene
    scene: SceneGraph
    truth: Perception


def random_case(
    relation_type: RelationType, rng: np.random.Generator, *, with_twin: bool = False
) -> Case:
    """Paint a claim at a random place between plainly true and plainly false."""
    known = json.loads((MODELS / "sticker-segmenter" / "config.json").read_text())["outputs"] - 1
    numbers = rng.choice(known, 3, replace=False).tolist()
    seed = int(rng.integers(2**31))
    if relation_type is IN_FRONT_OF:
        return ground_case(numbers[:2], float(rng.uniform(-0.7, 0.7)), seed)
    if relation_type in {NEAR, FAR_FROM}:
        return distance_case(relation_type, numbers[:2], float(rng.uniform(0.27, 0.74)), seed)
    if relation_type is BETWEEN:
        return between_case(numbers, float(rng.uniform(0.14, 0.86)), seed)
    offset = float(rng.uniform(-0.6, 0.6))
    if with_twin:  # far enough from the first that they do not touch
        offset = math.copysign(rng.uniform(0.2, 0.28), offset)
    return painted_case(relation_type, numbers[:2], offset, with_twin=with_twin, seed=seed)


def painted_case(
    relation_type: RelationType,
    numbers: list[int],
    offset: float,
    *,
    with_twin: bool = False,
    seed: int = 1,
) -> Case:
    """Paint two stickers at an offset along the relation's axis, and a twin of the first."""
    places = [(0.5 + offset / 2, 0.65), (0.5 - offset / 2, 0.35)]
    if with_twin:
        places.append((min(max(0.5 - 1.5 * offset, SIZE / 2), 1 - SIZE / 2), 0.65))
    if relation_type is ABOVE:
        places = [(y, x) for x, y in places]
    names = [*numbers, numbers[0]][: len(places)]
    return _case(relation_type, names, [(*place, SIZE, FLAT_DEPTH) for place in places], seed)


def distance_case(
    relation_type: RelationType, numbers: list[int], distance: float, seed: int = 1
) -> Case:
    """Paint two small stickers with their centres so far apart, as a share of the side."""
    places = [
        (0.5 - distance / 2, 0.5, SMALL, FLAT_DEPTH),
        (0.5 + distance / 2, 0.5, SMALL, FLAT_DEPTH),
    ]
    return _case(relation_type, numbers, places, seed)


def between_case(numbers: list[int], x: float, seed: int = 1) -> Case:
    """Paint a sticker at a place along x, and two flanks at 0.3 and 0.7."""
    places = [(x, 0.75), (0.3, 0.3), (0.7, 0.3)]
    return _case(BETWEEN, numbers, [(*place, SMALL, FLAT_DEPTH) for place in places], seed)


def ground_case(numbers: list[int], nearer: float, seed: int = 1) -> Case:
    """Paint two stickers on a ground; the first nearer by this, in [-0.8, 0.8]."""
    places = [
        _on_ground(x, nearness)
        for x, nearness in ((0.27, 0.55 + nearer / 2), (0.73, 0.55 - nearer / 2))
    ]
    return _case(IN_FRONT_OF, numbers, places, seed, horizon=HORIZON)


def _on_ground(x: float, nearness: float) -> tuple[float, float, float, float]:
    size = 0.3 + 0.2 * nearness
    foot = HORIZON + (1 - HORIZON) * nearness * 0.95
    return x, max(foot - size / 2, size / 2), size, 0.9 - 0.8 * nearness


def _case(
    relation_type: RelationType,
    numbers: list[int],
    places: list[tuple[float, float, float, float]],
    seed: int,
    horizon: float | None = None,
) -> Case:
    stickers = [
        Placement(number=number, x=x, y=y, size=size, depth=depth)
        for number, (x, y, size, depth) in zip(numbers, places, strict=True)
    ]
    farthest_first = tuple(sorted(stickers, key=lambda sticker: -sticker.depth))
    backdrop = Backdrop(seed=seed, horizon=horizon)
    painted = paint(Scene(placements=farthest_first, backdrop=backdrop), SIDE)
    scene = _claim(relation_type, list(dict.fromkeys(numbers)))
    return Case(painted=painted, scene=scene, truth=_truth(painted, stickers))


def _claim(relation_type: RelationType, numbers: list[int]) -> SceneGraph:
    span = TextSpan(start=0, stop=1)
    mentions = tuple(
        ObjectMention(id=MentionId(str(number)), phrase=name, head=name, span=span)
        for number in numbers
        for name in (sticker_objects()[number].name,)
    )
    subject, other, *flank = (mention.id for mention in mentions)
    relation = Relation(
        id=RelationId("r"),
        type=relation_type,
        subject=subject,
        object=other,
        second_object=flank[0] if flank else None,
    )
    return SceneGraph(
        prompt=Prompt(text="a painted scene"),
        mentions=mentions,
        relations=(relation,),
        extractor_id="test",
    )


def _truth(painted: PaintedScene, stickers: list[Placement]) -> Perception:
    """Return what is there, sticker by sticker, each as sure as can be."""
    masks = dict(zip(painted.scene.placements, painted.masks, strict=True))
    seen = [(MentionId(str(sticker.number)), masks[sticker].copy()) for sticker in stickers]
    return Perception(
        image_sha256="",
        height=SIDE,
        width=SIDE,
        detections=tuple(
            Detection(
                mention_id=name, label=name, score=1.0, box=box_around(mask), detector_id="truth"
            )
            for name, mask in seen
        ),
        masks=tuple(
            Mask(mention_id=name, pixels=mask, score=1.0, source_id="truth") for name, mask in seen
        ),
        depth=DepthMap(values=painted.depth.copy(), estimator_id="truth"),
    )
