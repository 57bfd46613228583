"""Places in the picture: "on the left", "in the foreground"; two of them make a relation."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from spatialstudio.adapters.extractors.references import Ends
from spatialstudio.adapters.extractors.words import Word
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.relation import Axis, AxisClaim, RelationType, relation_types

FIRST, MIDDLE, LAST = -1, 0, 1
WAYS_ACROSS = ([FIRST, MIDDLE, LAST], [LAST, MIDDLE, FIRST])


@frozen(kw_only=False)
class Framed:
    """Things at one place of the picture.

    Attributes:
        word: What says so.
        ends: The things.
    """

    word: Word
    ends: Ends

    @property
    def place(self) -> Mapping[Axis, int]:
        """Where along each axis that the word speaks of."""
        if self.word.relation_type is None:
            return {Axis.X: MIDDLE, Axis.Y: MIDDLE}
        return {
            claim.axis: FIRST if claim.subject_first else LAST
            for claim in self.word.relation_type.claims
        }

    def relation_to(self, other: "Framed") -> RelationType | None:
        """Return how these things stand to those; None where their places say nothing."""
        here, there = self.place, other.place
        claims = tuple(
            AxisClaim(axis, here[axis] < there[axis])
            for axis in Axis
            if axis in here and axis in there and here[axis] != there[axis]
        )
        return next((each for each in relation_types if claims and each.claims == claims), None)


def opposites(framed: Sequence[Framed]) -> Iterator[tuple[Framed, RelationType, Framed]]:
    """Pair the things at different places of the picture, and say how they stand."""
    for first, second in combinations(framed, 2):
        relation_type = first.relation_to(second)
        is_parted = any(_is_between(other, first, second) for other in framed)
        if relation_type is not None and first.ends != second.ends and not is_parted:
            yield first, relation_type, second


def _is_between(middle: Framed, first: Framed, last: Framed) -> bool:
    """Tell whether two things are told apart by a third: left, middle, right."""
    places = [each.place for each in (first, middle, last)]
    axes = set(places[0]) & set(places[2])
    return len(axes) == 1 and all(
        [places[0][axis], places[1].get(axis), places[2][axis]] in WAYS_ACROSS for axis in axes
    )
