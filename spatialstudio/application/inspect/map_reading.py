"""Readings of attention maps: isolines, scale, single positions and descriptions."""

from collections.abc import Iterable, Mapping

import numpy as np

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.inspect.inspection import relation_in_words
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import MapScale
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    MentionId,
    Relation,
    SceneGraph,
)
from spatialstudio.science.checker.evidence import share_in_words
from spatialstudio.science.pos.isolines import (
    Segments,
    isolines,
    mass_level,
)
from spatialstudio.science.pos.superiority import (
    Curve,
    DividingLine,
    can_guide,
    cumulative_at_edges,
    dividing_line,
    marginal,
    relation_pos,
)

MASS_SHARES = (0.5, 0.8)
"""Shares of a map's mass enclosed by its isolines."""

PERCENT = 100

Maps = Mapping[MentionId, FloatMap]
"""Maps by word, each (h, w), not negative."""


@frozen(eq=False)
class Isoline:
    """Contour around the strongest positions that contain a share of a map's mass.

    Attributes:
        share: Share of the mass, (0, 1].
        pieces: (n, 2, 2) segments from and to, x and y as shares of the image sides.
    """

    share: float
    pieces: Segments


@frozen
class PlaceReading:
    """Values of one position of a map.

    Attributes:
        value: Attention, not negative.
        share: Share of the map's mass, [0, 1].
    """

    value: float
    share: float


def isolines_of(weights: FloatMap) -> tuple[Isoline, ...]:
    """Return the contours that enclose ``MASS_SHARES`` of a map, (h, w); empty for an empty map."""
    levels = ((share, mass_level(weights, share)) for share in MASS_SHARES)
    return tuple(
        Isoline(share=share, pieces=isolines(weights, level))
        for share, level in levels
        if level > 0
    )


def top_of(weights: FloatMap, scale: MapScale, peak: float) -> float:
    """Return the map value that is drawn in full colour.

    Args:
        weights: (h, w), not negative.
        scale: How the value is chosen.
        peak: Maximum of all maps with a shared scale; see ``peak_of``.
    """
    match scale:
        case MapScale.PER_MAP:
            return float(weights.max(initial=0.0))
        case MapScale.SHARED:
            return peak
        case MapScale.ABSOLUTE:
            return 1.0


def difference_of(first: Maps, second: Maps) -> Maps:
    """Return the differences of maps; omit words in one run only, or with maps of unequal size.

    Args:
        first: Maps by word, (h, w).
        second: Maps by word of another run, (h, w).

    Returns:
        Differences by word, (h, w), negative where the second is higher.
    """
    return {
        word: weights - second[word]
        for word, weights in first.items()
        if word in second and second[word].shape == weights.shape
    }


def peak_of(runs: Iterable[OpenRun]) -> float:
    """Return the maximum of all maps of all readings of some runs; 0 without maps."""
    maps = (
        weights
        for run in runs
        for event in run.steps
        for attention in (event.attention, event.attention_after)
        if attention is not None
        for weights in attention.maps.values()
    )
    return max((float(weights.max(initial=0.0)) for weights in maps), default=0.0)


def reading_at(weights: FloatMap, x: float, y: float) -> PlaceReading:
    """Read a map at an image position.

    Args:
        weights: (h, w), not negative.
        x: Share of the width, [0, 1].
        y: Share of the height, [0, 1].
    """
    height, width = weights.shape
    value = float(weights[min(int(y * height), height - 1), min(int(x * width), width - 1)])
    mass = float(weights.sum())
    return PlaceReading(value=value, share=value / mass if mass > 0 else 0.0)


def map_in_words(phrase: str, weights: FloatMap) -> str:
    """Describe a map: its peak, the peak's position, and the area that holds half of its mass.

    Args:
        phrase: The word.
        weights: (h, w), not negative.
    """
    peak = float(weights.max(initial=0.0))
    if peak <= 0:
        return f"The map of {phrase} is empty."
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    height, width = weights.shape
    across, down = (column + 0.5) / width * PERCENT, (row + 0.5) / height * PERCENT
    half = float((weights >= mass_level(weights, MASS_SHARES[0])).mean()) * PERCENT
    return (
        f"The map of {phrase} peaks at {peak:.3f}, {across:.0f} % from the left and "
        f"{down:.0f} % from the top; half of its mass covers {half:.0f} % of the picture."
    )


def sentences_on(scene: SceneGraph, maps: Maps) -> tuple[str, ...]:
    """Describe each map, and the relation between the words if there are two."""
    texts = {word.key: word.text for word in words_of(scene)}
    about = tuple(map_in_words(texts.get(word, word), weights) for word, weights in maps.items())
    relation = relation_between(scene, *maps) if len(maps) == PAIR else None
    if relation is None:
        return about
    reading = read_relation(relation, scene, maps)
    return (*about, reading.sentence, *reading.details)


PAIR = 2

SIDES = {Axis.X: ("left", "right", "width"), Axis.Y: ("above", "below", "height")}
"""Words for before and after on an axis, and its extent."""


@frozen(eq=False)
class AxisReading:
    """How two words are separated along one axis.

    Attributes:
        axis: X or Y.
        first: Word that the relation puts first: left or above.
        second: The other word.
        rising: (bins + 1,) share of the first word before each edge.
        falling: (bins + 1,) share of the second word after each edge.
        line: Position where the curves cross.
    """

    axis: Axis
    first: MentionId
    second: MentionId
    rising: Curve
    falling: Curve
    line: DividingLine


@frozen(eq=False)
class RelationReading:
    """A relation as measured on the maps of a step.

    Attributes:
        relation: The relation.
        pos: PoS, [0, 1]; None if it cannot be read from 2D maps, or a map is empty.
        sentence: Description of the PoS, or why there is none.
        axes: One reading per axis of the relation.
        details: Descriptions of the readings.
    """

    relation: Relation
    pos: float | None
    sentence: str
    axes: tuple[AxisReading, ...] = ()
    details: tuple[str, ...] = ()


def relation_between(scene: SceneGraph, one: MentionId, other: MentionId) -> Relation | None:
    """Return the first relation that contains both words; None if there is none."""
    for relation in scene.relations:
        if {one, other} <= set(relation.ends):
            return relation
    return None


def read_relation(relation: Relation, scene: SceneGraph, maps: Maps) -> RelationReading:
    """Measure a relation on the maps of one step.

    Args:
        relation: Relation of the scene.
        scene: Scene with the names of its mentions.
        maps: Maps of the step.
    """
    claim = scene.sentence(relation)
    if not can_guide(relation.type):
        sentence = f"Attention maps are two-dimensional and cannot show whether {claim}."
        return RelationReading(relation=relation, pos=None, sentence=sentence)
    if not all(end in maps and maps[end].any() for end in relation.ends):
        sentence = f"There is no attention map that shows whether {claim}."
        return RelationReading(relation=relation, pos=None, sentence=sentence)
    pos = float(relation_pos(relation.type, [maps[end] for end in relation.ends]))
    axes = tuple(_read_axis(each, relation, maps) for each in relation.type.claims)
    return RelationReading(
        relation=relation,
        pos=pos,
        sentence=relation_in_words(relation, pos, scene),
        axes=axes,
        details=tuple(_line_in_words(axis, scene) for axis in axes),
    )


def _read_axis(claim: AxisClaim, relation: Relation, maps: Maps) -> AxisReading:
    ends = (relation.subject, relation.object)
    first, second = ends if claim.subject_first else reversed(ends)
    before, behind = marginal(maps[first], claim.axis), marginal(maps[second], claim.axis)
    return AxisReading(
        axis=claim.axis,
        first=first,
        second=second,
        rising=cumulative_at_edges(before),
        falling=1 - cumulative_at_edges(behind),
        line=dividing_line(before, behind),
    )


def _line_in_words(reading: AxisReading, scene: SceneGraph) -> str:
    before, behind, side = SIDES[reading.axis]
    first, second = map(scene.name, (reading.first, reading.second))
    preposition = " of it" if reading.axis is Axis.X else " it"
    share = share_in_words(reading.line.share)
    return (
        f"The curves cross at {reading.line.place * PERCENT:.0f} % of the {side}: {share} of "
        f"the attention to {first} is {before}{preposition}, and {share} of the attention to "
        f"{second} is {behind}{preposition}."
    )
