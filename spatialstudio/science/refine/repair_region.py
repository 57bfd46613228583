"""Where a failed object should be redrawn, from a picture's evidence.

The place is where the relations to the other objects hold best and the region covers least of
their masks. A misplaced object is redrawn at its new place and erased at its old one. Of an object
that is there twice one instance is kept: that beside which the other objects find a place. Ours.
"""

from collections.abc import Mapping, Sequence
from itertools import islice, product
from statistics import mean

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.repair import MOST_REGIONS, Region
from spatialstudio.domain.scene import MentionId, Relation, SceneGraph
from spatialstudio.domain.verdict import (
    REPRODUCE,
    AbstentionReason,
    Box,
    Evaluation,
    Outcome,
    Perception,
)
from spatialstudio.science.checker.instances import box_pixels
from spatialstudio.science.checker.measurement import read_boxes
from spatialstudio.science.scenes.layout import CLEARANCE, can_sketch
from spatialstudio.science.scenes.placement import find_object

USUAL_SIZE = 0.4
"""Size of an object where the picture shows no other, fraction of the side."""
LEAST_SIZE, MOST_SIZE = 0.25, 0.5
ROOM = 1.25
"""Side of a region, in sizes of its object."""
BORDER = 0.04
"""Border of an erased object, fraction of the side."""
GRID = 13
"""Places tried on each axis."""
MOST_INSTANCES, MOST_CHOICES = 3, 9
"""Instances of an object that may be kept, and choices that are compared."""
COVER_COST = 4.0
"""Cost of covering other objects with a whole region, in margins of a relation."""


@frozen
class RepairPlan:
    """What a local repair redraws.

    Attributes:
        mention_id: The object.
        regions: Where it is redrawn, then where it is erased.
        target: Where it should appear.
    """

    mention_id: MentionId
    regions: tuple[Region, ...]
    target: PlaceTarget


def plan_repair(
    scene: SceneGraph,
    evaluation: Evaluation,
    targets: Sequence[PlaceTarget] = (),
    mention_id: MentionId | None = None,
) -> RepairPlan | None:
    """Plan the repair of a picture.

    Args:
        scene: Scene of the prompt.
        evaluation: Its verdicts, with the perception.
        targets: Sketched places; the place of a sketched object is not searched for.
        mention_id: The object to redraw; None for the one that failed.

    Returns:
        None if no relation failed because of an object that can be redrawn.
    """
    candidates = (mention_id,) if mention_id is not None else failed_objects(scene, evaluation)
    plans = [_plan(scene, evaluation.perception, targets, each) for each in candidates]
    return max(plans, key=lambda plan: plan[0])[1] if plans else None


def failed_objects(scene: SceneGraph, evaluation: Evaluation) -> tuple[MentionId, ...]:
    """Return the missing objects of verdicts that are not passed, else the ends of those."""
    failed = [each for each in evaluation.verdicts if each.outcome is not Outcome.PASS]
    missing = (
        end
        for verdict in failed
        if verdict.reason is AbstentionReason.MISSING_OBJECT
        for end in verdict.about
    )
    if absent := tuple(dict.fromkeys(missing)):
        return absent
    relations = {each.id: each for each in scene.relations}
    ends = (end for verdict in failed for end in relations[verdict.relation_id].ends)
    return tuple(dict.fromkeys(ends))


@frozen(eq=False)
class _Kept:
    """The other objects, one instance of each.

    Attributes:
        boxes: Boxes of the instances, pixels.
        taken: (H, W), the pixels of the instances.
        extra: Boxes of further instances, which are erased; pixels.
    """

    boxes: Mapping[MentionId, Box]
    taken: BoolMask
    extra: tuple[Box, ...]


def _plan(
    scene: SceneGraph,
    perception: Perception,
    targets: Sequence[PlaceTarget],
    mention_id: MentionId,
) -> tuple[float, RepairPlan]:
    """Return the plan of one object, and its worth in margins of relations."""
    size = _size_of(mention_id, scene, perception, targets)
    side = min(size * ROOM, 1.0)
    claims = [each for each in scene.relations if mention_id in each.ends and can_sketch(each.type)]
    placed = next((each.place for each in targets if each.mention_id == mention_id), None)
    others = [each.id for each in scene.mentions if each.id != mention_id]

    def worth(choice: tuple[_Kept, tuple[float, float]]) -> tuple[float, float]:
        kept, (x, y) = choice
        own = {**kept.boxes, mention_id: _in_pixels(_around((x, y), size), perception)}
        inside = _slices(_around((x, y), side), perception)
        shown = sum(_clearness(each, own, perception) for each in claims)
        cost = COVER_COST * float(kept.taken[inside].mean())
        return shown - cost + _erased_share(kept, inside), -abs(x - 0.5) - abs(y - 0.5)

    stops = np.linspace(side / 2, 1 - side / 2, GRID)
    tried = [placed] if placed else [(float(x), float(y)) for x, y in product(stops, stops)]
    choices = product(_kept_instances(others, perception), tried)
    best = max(choices, key=worth)
    kept, (x, y) = best
    old = perception.boxes_above(mention_id, REPRODUCE.detection_score)
    erased = [_bordered(box, perception) for box in (*old, *kept.extra)]
    plan = RepairPlan(
        mention_id=mention_id,
        regions=(_around((x, y), side), *erased)[:MOST_REGIONS],
        target=PlaceTarget(mention_id=mention_id, x=x, y=y, size=size),
    )
    return worth(best)[0], plan


def _kept_instances(others: Sequence[MentionId], perception: Perception) -> list[_Kept]:
    """Return the choices of one instance of each object, those of the best scores first."""
    found = [perception.boxes_above(each, REPRODUCE.detection_score) for each in others]
    known = [(name, boxes) for name, boxes in zip(others, found, strict=True) if boxes]
    numbers = product(*(range(min(len(boxes), MOST_INSTANCES)) for _, boxes in known))
    return [_kept(known, chosen, perception) for chosen in islice(numbers, MOST_CHOICES)]


def _kept(
    known: Sequence[tuple[MentionId, Sequence[Box]]],
    chosen: Sequence[int],
    perception: Perception,
) -> _Kept:
    shape = perception.height, perception.width
    taken = np.zeros(shape, np.bool_)
    boxes, extra = {}, []
    for (name, found), number in zip(known, chosen, strict=True):
        boxes[name] = found[number]
        extra += [box for place, box in enumerate(found) if place != number]
        masks = [mask.pixels for mask in perception.masks_of(name)]
        own = np.logical_or.reduce(masks) if masks else np.ones(shape, np.bool_)
        taken |= own & box_pixels(found[number], shape)
    return _Kept(boxes=boxes, taken=taken, extra=tuple(extra))


def _erased_share(kept: _Kept, inside: tuple[slice, slice]) -> float:
    """Return the share of the further instances that a region covers, [0, 1]."""
    shape = kept.taken.shape[0], kept.taken.shape[1]
    pixels = [box_pixels(box, shape) for box in kept.extra]
    covered = [float(each[inside].sum() / max(each.sum(), 1)) for each in pixels]
    return mean(covered) if covered else 0.0


def _size_of(
    mention_id: MentionId,
    scene: SceneGraph,
    perception: Perception,
    targets: Sequence[PlaceTarget],
) -> float:
    """Return the size of an object as sketched or found, else the mean of the others."""
    sketched = next((each.size for each in targets if each.mention_id == mention_id), None)
    if sketched is not None:
        return sketched
    own = find_object(mention_id, perception)
    found = (find_object(each.id, perception) for each in scene.mentions)
    sizes = [own.size] if own else [each.size for each in found if each]
    return min(max(mean(sizes or [USUAL_SIZE]), LEAST_SIZE), MOST_SIZE)


def _clearness(relation: Relation, boxes: Mapping[MentionId, Box], perception: Perception) -> float:
    """Return the offset of a relation in margins, limited; 0 if an end was not found."""
    if not boxes.keys() >= set(relation.ends):
        return 0.0
    ends = [boxes[end] for end in relation.ends]
    reading = read_boxes(relation.type, ends, perception, REPRODUCE)
    return max(min(reading.offset / reading.margin, CLEARANCE), -CLEARANCE)


def _bordered(box: Box, perception: Perception) -> Region:
    """Return the region of a box in pixels, with a border."""
    width, height = perception.width, perception.height
    left, top = max(box.left / width - BORDER, 0.0), max(box.top / height - BORDER, 0.0)
    right = min(box.right / width + BORDER, 1.0)
    bottom = min(box.bottom / height + BORDER, 1.0)
    return Region(x=left, y=top, width=right - left, height=bottom - top)


def _around(place: tuple[float, float], side: float) -> Region:
    """Return the square around a place, cut off at the borders of the picture."""
    left, top = (max(centre - side / 2, 0.0) for centre in place)
    right, bottom = (min(centre + side / 2, 1.0) for centre in place)
    return Region(x=left, y=top, width=right - left, height=bottom - top)


def _in_pixels(region: Region, perception: Perception) -> Box:
    width, height = perception.width, perception.height
    return Box(
        left=region.x * width,
        top=region.y * height,
        right=region.right * width,
        bottom=region.bottom * height,
    )


def _slices(region: Region, perception: Perception) -> tuple[slice, slice]:
    box = _in_pixels(region, perception)
    rows = slice(int(box.top), max(round(box.bottom), int(box.top) + 1))
    return rows, slice(int(box.left), max(round(box.right), int(box.left) + 1))
