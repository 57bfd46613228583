"""Conversion between sketched layouts and relations.

Each object is a blob around a point. Relations of blobs are measured with the checker's rules for
boxes, so that a sketch and an evaluation agree. The method is ours.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import atan2, cos, dist, sin, tau
from typing import TypeAlias

from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.scene import (
    BY_HAND,
    NEAR,
    MentionId,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    relation_types,
)
from spatialstudio.domain.verdict import REPRODUCE, Box, CheckerSettings, Perception
from spatialstudio.science.checker.measurement import Reading, read_boxes
from spatialstudio.science.scenes.relation_boxes import relation_boxes

Point: TypeAlias = tuple[float, float]
"""x and y as fractions of the image sides, [0, 1], y down."""
Places: TypeAlias = Mapping[MentionId, Point]

BLOB_SIDE = 0.24
"""Side of a blob's box, fraction of the image side."""
APART = 1.4 * BLOB_SIDE
"""Distance at which blobs do not touch, soft edges and labels included."""
MOST_APART = int(1 / BLOB_SIDE**2)
"""Maximum number of objects that fit without overlap."""
EDGE = 0.15
"""Distance of the grid from the image edges."""
GRID = 15
"""Grid points per axis."""
CLEARANCE = 2.0
"""Target offset of a relation, in margins."""
ROOMY = 0.75
"""Fraction of the image used for the initial layout, leaving room to move objects."""
DIAGONAL = 0.7
"""Minimum ratio of the shorter to the longer offset for a diagonal."""
PIXELS = 1000
CENTRE = (0.5, 0.5)
SWEEPS = 4
"""Number of passes that move objects of unmet relations."""
DIGITS = 6
PAIR = 2
SURFACE = Perception(image_sha256="", height=PIXELS, width=PIXELS, detections=(), masks=())


def arrange(
    scene: SceneGraph,
    kept: Places,
    settings: CheckerSettings = REPRODUCE,
    held: Collection[MentionId] = (),
) -> Places:
    """Place all objects of a scene so that its relations hold.

    Args:
        scene: The scene graph; depth relations are ignored.
        kept: Existing places; they change only if a relation requires it.
        settings: Margins and distances.
        held: Objects that do not move, even if a relation requires it.
    """
    claims = [each for each in scene.relations if can_sketch(each.type)]
    known = {mention.id for mention in scene.mentions}
    places = {name: place for name, place in kept.items() if name in known} or _ranked(claims)
    for mention in sorted(scene.mentions, key=lambda one: _rank(one.id, claims)):
        if mention.id not in places:
            places[mention.id] = _best_place(mention.id, claims, places, settings)
    for _ in range(SWEEPS):
        wrong = [each for each in claims if not is_shown(each, places, settings)]
        for end in dict.fromkeys(end for relation in wrong for end in relation.ends):
            if end in held:
                continue
            places[end] = _best_place(end, claims, places, settings)
    return _unstacked(places, kept, claims, settings)


def _unstacked(
    places: Places, kept: Places, claims: Sequence[Relation], settings: CheckerSettings
) -> Places:
    """Separate overlapping objects that the user has not placed, if all relations still hold."""
    fresh = [name for name in places if name not in kept]
    for name in fresh if len(places) <= MOST_APART else ():
        others = [place for other, place in places.items() if other != name]
        if any(dist(places[name], other) < BLOB_SIDE for other in others):
            own = [each for each in claims if name in each.ends]
            taken = {**places, **_middles([each for each in claims if each not in own], places)}
            tried = {**places, name: _best_place(name, own, taken, settings)}
            if all(is_shown(each, tried, settings) for each in own):
                places = tried
    return places


def _middles(claims: Sequence[Relation], places: Places) -> Places:
    """Return the midpoints of relations, where their labels are drawn."""
    ends = {each.id: (places[each.subject], places[each.object]) for each in claims}
    return {
        MentionId(f"words of {name}"): ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)
        for name, (one, other) in ends.items()
    }


def free_place(places: Places) -> Point:
    """Return the free place nearest to the centre of the image.

    Without a free place, return the one farthest from its nearest object.
    """

    def worth(point: Point) -> tuple[float, float]:
        room = min((dist(point, other) for other in places.values()), default=APART)
        return min(room, APART), -dist(point, CENTRE)

    return max(_grid(), key=worth)


def on_a_ring(places: Places) -> Places:
    """Distribute objects evenly on a circle, preserving their angular order; for graphs.

    On a circle no object lies on the line between two others.
    """
    if len(places) < PAIR:
        return dict.fromkeys(places, CENTRE)
    middle = [sum(values) / len(places) for values in zip(*places.values(), strict=True)]
    angles = {
        name: atan2(place[1] - middle[1], place[0] - middle[0]) for name, place in places.items()
    }
    ranks = {name: rank for rank, name in enumerate(sorted(places, key=angles.__getitem__))}
    turns = [angles[name] - tau * rank / len(places) for name, rank in ranks.items()]
    turn = atan2(sum(map(sin, turns)), sum(map(cos, turns)))
    spread = {name: turn + tau * rank / len(places) for name, rank in ranks.items()}
    return {
        name: (CENTRE[0] * (1 + cos(angle)), CENTRE[1] * (1 + sin(angle)))
        for name, angle in spread.items()
    }


def can_sketch(relation_type: RelationType) -> bool:
    """Return True if a 2D layout can show a relation type."""
    return not relation_type.needs_depth


def is_shown(relation: Relation, places: Places, settings: CheckerSettings = REPRODUCE) -> bool:
    """Return True if a relation holds beyond its margin in a layout."""
    reading = _reading(relation.type, [places[end] for end in relation.ends], settings)
    return reading.is_clear and reading.offset > 0


def still_held(places: SketchedPlaces, scene: SceneGraph, before: SceneGraph) -> SketchedPlaces:
    """Return sketched places without those that a new or changed relation contradicts.

    Args:
        places: Places of objects.
        scene: The scene.
        before: The scene before, to which the places belonged.
    """
    where = {each.mention_id: each.place for each in places.targets}
    known = {(each.type, each.ends) for each in before.relations}
    new = [each for each in scene.relations if (each.type, each.ends) not in known]
    for relation in new:
        is_placed = can_sketch(relation.type) and where.keys() >= set(relation.ends)
        if is_placed and not is_shown(relation, where):
            for end in relation.ends:
                places = places.without(end)
    return places


def relations_after(
    scene: SceneGraph,
    places: Places,
    moved: MentionId,
    settings: CheckerSettings = REPRODUCE,
) -> tuple[Relation, ...]:
    """Return the relations of a scene after an object was moved.

    Relations that still hold stay. Other 2D relations of the object change to the relation that
    the layout shows; an object without relations gets one to its nearest neighbour. Depth
    relations stay.

    Args:
        scene: The scene before the move.
        places: Places of all objects after the move.
        moved: The moved object.
        settings: Margins and distances.
    """
    relations = [
        _redrawn(each, places, settings) if moved in each.ends and can_sketch(each.type) else each
        for each in scene.relations
    ]
    if not any(moved in each.ends for each in relations):
        relations += _with_neighbour(scene, places, moved, settings)
    return tuple(relations)


def shown_type(
    subject: Point, other: Point, settings: CheckerSettings = REPRODUCE
) -> RelationType | None:
    """Return the relation type that two places show; None within the margins.

    The longer offset determines the side; a diagonal requires two similar offsets.
    """
    across, down = (abs(a - b) for a, b in zip(subject, other, strict=True))
    is_diagonal = min(across, down) >= DIAGONAL * max(across, down)
    orders = [each for each in relation_types if each.shape is Shape.ORDER and can_sketch(each)]
    readings = [(_reading(each, [subject, other], settings), each) for each in orders]
    shown = [(reading, each) for reading, each in readings if _holds(reading)]
    wanted = [found for found in shown if (len(found[1].claims) > 1) == is_diagonal] or shown
    if wanted:
        return max(wanted, key=lambda found: found[0].offset)[1]
    return NEAR if _holds(_reading(NEAR, [subject, other], settings)) else None


def _redrawn(relation: Relation, places: Places, settings: CheckerSettings) -> Relation:
    if is_shown(relation, places, settings):
        return relation
    shown = shown_type(places[relation.subject], places[relation.object], settings)
    if shown is None:
        return relation
    return replace(relation, type=shown, second_object=None, source=BY_HAND)


def _with_neighbour(
    scene: SceneGraph, places: Places, moved: MentionId, settings: CheckerSettings
) -> Iterator[Relation]:
    others = [mention.id for mention in scene.mentions if mention.id != moved]
    if others:
        nearest = min(others, key=lambda name: dist(places[moved], places[name]))
        shown = shown_type(places[moved], places[nearest], settings)
        if shown is not None:
            taken = {relation.id for relation in scene.relations}
            yield Relation(
                id=next(
                    name
                    for n in range(1, len(taken) + 2)
                    if (name := RelationId(f"r{n}")) not in taken
                ),
                type=shown,
                subject=moved,
                object=nearest,
                source=BY_HAND,
            )


def _best_place(
    mention: MentionId, claims: Sequence[Relation], places: Places, settings: CheckerSettings
) -> Point:
    """Return the grid point with the best relations, then fewest overlaps, then shortest move."""
    own = [each for each in claims if mention in each.ends]
    others = {name: place for name, place in places.items() if name != mention}
    known = [each for each in own if all(end in others or end == mention for end in each.ends)]
    origin = places.get(mention, CENTRE)

    def worth(point: Point) -> tuple[float, int, float]:
        tried = {**others, mention: point}
        shown = sum(_clearness(each, tried, settings) for each in known)
        crowded = sum(dist(point, other) < BLOB_SIDE for other in others.values())
        return round(shown, DIGITS), -crowded, -dist(point, origin)

    return max(_grid(), key=worth)


def _clearness(relation: Relation, places: Places, settings: CheckerSettings) -> float:
    """Return the offset of a relation in margins, at most ``CLEARANCE``."""
    reading = _reading(relation.type, [places[end] for end in relation.ends], settings)
    return min(reading.offset / reading.margin, CLEARANCE)


def _grid() -> Iterable[Point]:
    step = (1 - 2 * EDGE) / (GRID - 1)
    stops = [EDGE + step * number for number in range(GRID)]
    return product(stops, stops)


def _ranked(claims: Sequence[Relation]) -> dict[MentionId, Point]:
    """Return the centres of the relations' boxes, contracted to leave room on all sides."""
    return {
        mention: (_inwards((box.left + box.right) / 2), _inwards((box.top + box.bottom) / 2))
        for mention, box in relation_boxes(claims).items()
    }


def _inwards(share: float) -> float:
    return 0.5 + ROOMY * (share - 0.5)


def _rank(mention: MentionId, claims: Sequence[Relation]) -> bool:
    """Sort objects of relations before subjects."""
    return any(mention == each.subject for each in claims)


def _holds(reading: Reading) -> bool:
    return reading.is_clear and reading.offset > 0


def _reading(
    relation_type: RelationType, points: Sequence[Point], settings: CheckerSettings
) -> Reading:
    return read_boxes(relation_type, [_box(point) for point in points], SURFACE, settings)


def _box(point: Point) -> Box:
    half = BLOB_SIDE / 2
    x, y = point
    return Box(
        left=(x - half) * PIXELS,
        top=(y - half) * PIXELS,
        right=(x + half) * PIXELS,
        bottom=(y + half) * PIXELS,
    )
