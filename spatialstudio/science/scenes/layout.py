"""Sketched places and relations, each made from the other.

A thing is a blob around a point. What blobs show is read by the checker's own rules for boxes, so
that a sketch claims what the judge would see. Ours throughout.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import atan2, cos, dist, sin, tau
from typing import TypeAlias

from spatialstudio.domain.perception import Box, Perception
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import (
    BY_HAND,
    NEAR,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    relation_types,
)
from spatialstudio.domain.verdict import REPRODUCE, CheckerSettings
from spatialstudio.science.checker.measurement import Reading, read_boxes
from spatialstudio.science.scenes.relation_boxes import relation_boxes

Point: TypeAlias = tuple[float, float]
"""x and y in shares of the picture, [0, 1], y down."""
Places: TypeAlias = Mapping[MentionId, Point]

BLOB_SIDE = 0.24
"""Side of the box that a blob stands for, share of the picture."""
APART = 1.4 * BLOB_SIDE
"""Things so far from each other do not touch, their soft edges and names included."""
MOST_APART = int(1 / BLOB_SIDE**2)
"""More things have no room beside each other."""
EDGE = 0.15
"""Points of the grid keep this far from the picture's edges."""
GRID = 15
"""Points of the grid on which things are placed, each way."""
CLEARANCE = 2.0
"""A thing is placed this many margins from where its relations turn."""
ROOMY = 0.75
"""Share of the picture over which things are first spread; each can be pushed past another."""
DIAGONAL = 0.7
"""Share of the longer offset that the shorter one needs for a diagonal."""
PIXELS = 1000
CENTRE = (0.5, 0.5)
SWEEPS = 4
"""How often things are moved that stand in the way of a relation."""
DIGITS = 6
PAIR = 2
SURFACE = Perception(image_sha256="", height=PIXELS, width=PIXELS, detections=(), masks=())


def arrange(scene: SceneGraph, kept: Places, settings: CheckerSettings = REPRODUCE) -> Places:
    """Place all things of a scene so that its relations are shown.

    Args:
        scene: What is claimed; relations of depth place nothing.
        kept: Where things stand already; they move only where a relation asks for it.
        settings: Margins and distances.
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
            places[end] = _best_place(end, claims, places, settings)
    return _unstacked(places, kept, claims, settings)


def _unstacked(
    places: Places, kept: Places, claims: Sequence[Relation], settings: CheckerSettings
) -> Places:
    """Take things off each other that nobody has put there, as far as all stays shown."""
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
    """Return the middles of relations, where their words stand."""
    ends = {each.id: (places[each.subject], places[each.object]) for each in claims}
    return {
        MentionId(f"words of {name}"): ((one[0] + other[0]) / 2, (one[1] + other[1]) / 2)
        for name, (one, other) in ends.items()
    }


def free_place(places: Places) -> Point:
    """Return the place nearest to the middle that is clear of other things.

    Where there is none, the one farthest from its nearest thing.
    """

    def worth(point: Point) -> tuple[float, float]:
        room = min((dist(point, other) for other in places.values()), default=APART)
        return min(room, APART), -dist(point, CENTRE)

    return max(_grid(), key=worth)


def on_a_ring(places: Places) -> Places:
    """Spread things evenly over a ring, each on the side where it stands; for graphs.

    On a ring no thing lies on the line between two others.
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
    """Tell whether places in the plane can show a relation."""
    return not relation_type.needs_depth


def is_shown(relation: Relation, places: Places, settings: CheckerSettings = REPRODUCE) -> bool:
    """Tell whether a relation holds, beyond its margin, where the things stand."""
    reading = _reading(relation.type, [places[end] for end in relation.ends], settings)
    return reading.is_clear and reading.offset > 0


def relations_after(
    scene: SceneGraph,
    places: Places,
    moved: MentionId,
    settings: CheckerSettings = REPRODUCE,
) -> tuple[Relation, ...]:
    """Return the relations of a scene after a thing was moved to its place.

    What is still shown stays. What is not becomes what is shown instead; a thing in no relation of
    the plane is related to its nearest neighbour. Relations of depth stay.

    Args:
        scene: What was claimed.
        places: Where all things stand now.
        moved: The thing that was moved.
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
    """Return the relation that two places show; None within the margins.

    The longer offset names the side; a diagonal is two offsets nearly alike.
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
    """Return the point of the grid that shows most, free of others, near where it stood."""
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
    """Return by how many margins a relation holds; more than enough counts as enough."""
    reading = _reading(relation.type, [places[end] for end in relation.ends], settings)
    return min(reading.offset / reading.margin, CLEARANCE)


def _grid() -> Iterable[Point]:
    step = (1 - 2 * EDGE) / (GRID - 1)
    stops = [EDGE + step * number for number in range(GRID)]
    return product(stops, stops)


def _ranked(claims: Sequence[Relation]) -> dict[MentionId, Point]:
    """Return the middles of the boxes that the relations ask for, with room on all sides."""
    return {
        mention: (_inwards((box.left + box.right) / 2), _inwards((box.top + box.bottom) / 2))
        for mention, box in relation_boxes(claims).items()
    }


def _inwards(share: float) -> float:
    return 0.5 + ROOMY * (share - 0.5)


def _rank(mention: MentionId, claims: Sequence[Relation]) -> bool:
    """Put what others are placed against first."""
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
