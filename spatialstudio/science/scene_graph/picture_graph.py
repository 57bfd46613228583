"""The graph of a picture: objects from masks, attributes from colours and answers, and relations.

Order in the picture holds from a PSE of one half on the masks of two objects, order in depth the
same on the depth map; near and far follow from the gap between the boxes. The detector searches
for the prompt's objects only, so further objects are those of the prompt's classes.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations, product

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.assertion import AssertionKind
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_match import (
    GraphObject,
    GraphRelation,
    ObjectGraph,
)
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.requirements import requirements_of
from spatialstudio.domain.scene import (
    BETWEEN,
    FAR_FROM,
    NEAR,
    Axis,
    AxisClaim,
    MentionId,
    SceneGraph,
    Shape,
    relation_types,
)
from spatialstudio.domain.verdict import Box, Evaluation, Instance, box_around
from spatialstudio.science.checker.decide_mentions import LEAST_PART
from spatialstudio.science.checker.instances import box_pixels, merged_regions, regions_of
from spatialstudio.science.checker.measurement import box_gap, intersection_over_union
from spatialstudio.science.colours import colour_chance
from spatialstudio.science.pos.superiority import (
    cumulative,
    depth_pos,
    marginal,
    pse_from_pos,
    relation_pos_on_masks,
)
from spatialstudio.science.scene_graph.prompt_graph import is_thing, kind_of, open_kinds

_SAME_BOX = 0.5
_SINGLE_CLAIMS = {each.claims[0]: each.id for each in relation_types if len(each.claims) == 1}
_INVERSE = {claim: AxisClaim(claim.axis, not claim.subject_first) for claim in _SINGLE_CLAIMS}


@frozen(eq=False)
class _Seen:
    """One object in the picture.

    Attributes:
        kind: Its class.
        mention_id: The mention that it was detected for.
        pixels: (H, W) bool, not empty.
        box: Pixels.
        colours: Its colour terms with their shares; None where they were not measured.
    """

    kind: str
    mention_id: MentionId
    pixels: BoolMask
    box: Box
    colours: dict[str, float] | None


def picture_graph(
    scene: SceneGraph,
    evaluation: Evaluation,
    settings: GraphSettings,
) -> ObjectGraph:
    """Return the graph of an evaluated picture.

    Args:
        scene: The scene graph of its prompt, by which the classes were searched.
        evaluation: Masks, depth, instances and answers of the picture.
        settings: Thresholds, and the classes of the background.
    """
    seen = _objects_seen(scene, evaluation)
    objects = []
    free = () if settings.charges_open_counts else open_kinds(scene)
    numbers = defaultdict[str, int](int)
    for each in seen:
        numbers[each.kind] += 1
        shown, unjudged = _attributes(each, scene, evaluation, settings)
        objects.append(
            GraphObject(
                id=f"{each.kind}.{numbers[each.kind]}",
                kind=each.kind,
                attributes=frozenset(shown),
                unjudged=frozenset(unjudged),
                is_foreground=is_thing(each.kind, settings),
                mention_id=each.mention_id,
                box=each.box,
                is_free=each.kind in free,
            )
        )
    relations = _relations(scene, evaluation, seen, settings)
    return ObjectGraph(
        objects=tuple(objects),
        relations=tuple(
            GraphRelation(subject=objects[one].id, object=objects[other].id, relation_type=name)
            for one, other, name in dict.fromkeys(relations)
        ),
    )


def _objects_seen(scene: SceneGraph, evaluation: Evaluation) -> list[_Seen]:
    """Return the objects of each class; those of several mentions of one class are merged."""
    seen: list[_Seen] = []
    for mention in scene.mentions:
        instances = [each for each in evaluation.instances if each.mention_id == mention.id]
        own = (
            _from_instances(kind_of(mention), instances, evaluation)
            if instances
            else _from_regions(kind_of(mention), mention.id, evaluation)
        )
        for each in own:
            if not any(
                each.kind == other.kind
                and intersection_over_union(each.box, other.box) >= _SAME_BOX
                for other in seen
                if other.mention_id != mention.id
            ):
                seen.append(each)
    return seen


def _from_instances(
    kind: str, instances: Sequence[Instance], evaluation: Evaluation
) -> Iterator[_Seen]:
    """Yield the measured instances, with the pixels of their best mask inside their box."""
    perception, checker = evaluation.perception, evaluation.checker
    for each in instances:
        if each.score < checker.detection_score or each.area < checker.min_area_fraction:
            continue
        inside = box_pixels(each.box, (perception.height, perception.width))
        masks = [mask.pixels & inside for mask in perception.masks_of(each.mention_id)]
        best = max(masks, key=np.count_nonzero, default=inside)
        pixels = best if best.any() else inside
        if pixels.any():
            yield _Seen(
                kind=kind,
                mention_id=each.mention_id,
                pixels=pixels,
                box=each.box,
                colours={c.term: c.share for c in each.colours} if each.colours else None,
            )


def _from_regions(kind: str, mention_id: MentionId, evaluation: Evaluation) -> Iterator[_Seen]:
    """Yield the merged regions of a mention without a required count or colour."""
    least = evaluation.checker.detection_score
    for region in merged_regions(regions_of(mention_id, evaluation.perception)):
        share = region.size / region.pixels.size
        if region.score >= least and share >= evaluation.checker.min_area_fraction:
            yield _Seen(
                kind=kind,
                mention_id=mention_id,
                pixels=region.pixels,
                box=box_around(region.pixels),
                colours=None,
            )


def _attributes(
    seen: _Seen, scene: SceneGraph, evaluation: Evaluation, settings: GraphSettings
) -> tuple[set[str], set[str]]:
    """Return the attributes of an object, and the attributes that could not be judged.

    Colours are measured on the object; other attributes are those of the mention's answers.
    """
    shown, unjudged = set[str](), set[str]()
    is_coloured = False
    for mention in scene.mentions:
        if kind_of(mention) != seen.kind:
            continue
        required = requirements_of(scene, mention.id)
        for colour in required.colours:
            is_coloured = True
            if seen.colours is None:
                unjudged.add(colour.words.lower())
            elif _has_colour(seen.colours, colour.terms, len(required.colours), settings):
                shown.add(colour.words.lower())
        answers = _answers(evaluation, mention.id)
        for word in required.others:
            chance = answers.get(word)
            if chance is None:
                unjudged.add(word.lower())
            elif chance >= settings.least_answer:
                shown.add(word.lower())
    if is_coloured and not shown and seen.colours:
        shown.add(max(seen.colours, key=lambda term: (seen.colours or {})[term]))
    return shown, unjudged


def _has_colour(
    shares: dict[str, float], terms: Sequence[str], number: int, settings: GraphSettings
) -> bool:
    if number > 1:
        return sum(shares[term] for term in terms if term in shares) >= LEAST_PART
    return colour_chance(shares, terms) >= settings.least_colour


def _answers(evaluation: Evaluation, mention_id: MentionId) -> dict[str, float]:
    """Return the answered attributes of a mention: word and probability of "yes"."""
    if evaluation.da_score is None:
        return {}
    return {
        each.assertion.attribute: each.probability_yes
        for each in evaluation.da_score.scores
        if each.assertion.kind is AssertionKind.ATTRIBUTE
        and each.assertion.mention_id == mention_id
        and each.probability_yes is not None
    }


_Edge = tuple[int, int, str]


def _relations(
    scene: SceneGraph, evaluation: Evaluation, seen: Sequence[_Seen], settings: GraphSettings
) -> Iterator[_Edge]:
    if not seen:
        return
    yield from _orders_in_plane(seen, settings)
    yield from _orders_in_depth(scene, evaluation, seen, settings)
    yield from _distances(evaluation, seen, settings)
    yield from _betweens(scene, seen, settings)


def _orders_in_plane(seen: Sequence[_Seen], settings: GraphSettings) -> Iterator[_Edge]:
    for axis in (Axis.X, Axis.Y):
        profiles = np.stack([marginal(each.pixels.astype(np.float64), axis) for each in seen])
        before = profiles @ (1 - cumulative(profiles) + profiles / 2).T
        ordered = pse_from_pos(before) >= settings.least_pse
        for one, other in np.argwhere(ordered).tolist():
            if one != other:
                yield from _both_ways(one, other, AxisClaim(axis, True))


def _both_ways(one: int, other: int, claim: AxisClaim) -> Iterator[_Edge]:
    yield one, other, _SINGLE_CLAIMS[claim]
    yield other, one, _SINGLE_CLAIMS[_INVERSE[claim]]


def _orders_in_depth(
    scene: SceneGraph, evaluation: Evaluation, seen: Sequence[_Seen], settings: GraphSettings
) -> Iterator[_Edge]:
    """Yield order in depth between the classes of which the prompt states it."""
    depth = evaluation.perception.depth
    if depth is None:
        return
    kinds = {each.id: kind_of(each) for each in scene.mentions}
    related = {
        frozenset((kinds[each.subject], kinds[each.object]))
        for each in scene.relations
        if each.type.needs_depth
    }
    for one, other in permutations(range(len(seen)), 2):
        if frozenset((seen[one].kind, seen[other].kind)) in related:
            pos = depth_pos(depth.values, seen[one].pixels, seen[other].pixels)
            if pse_from_pos(pos) >= settings.least_pse:
                yield from _both_ways(one, other, AxisClaim(Axis.DEPTH, True))


def _distances(
    evaluation: Evaluation, seen: Sequence[_Seen], settings: GraphSettings
) -> Iterator[_Edge]:
    width, height = evaluation.perception.width, evaluation.perception.height
    for one, other in permutations(range(len(seen)), 2):
        gap = box_gap(seen[one].box, seen[other].box, width, height)
        if gap <= settings.near_gap:
            yield one, other, NEAR.id
        elif gap >= settings.far_gap:
            yield one, other, FAR_FROM.id


def _betweens(scene: SceneGraph, seen: Sequence[_Seen], settings: GraphSettings) -> Iterator[_Edge]:
    """Yield "between" for the classes of which the prompt states it, to each of its two objects."""
    places = defaultdict[str, list[int]](list)
    for place, each in enumerate(seen):
        places[each.kind].append(place)
    for relation in scene.relations:
        if relation.type.shape is Shape.BETWEEN:
            kinds = [kind_of(scene.mention(end)) for end in relation.ends]
            for trio in product(*(places[kind] for kind in kinds)):
                if len(set(trio)) == len(trio):
                    pos = relation_pos_on_masks(relation.type, [seen[p].pixels for p in trio])
                    if pos is not None and pse_from_pos(pos) >= settings.least_pse:
                        yield trio[0], trio[1], BETWEEN.id
                        yield trio[0], trio[2], BETWEEN.id
