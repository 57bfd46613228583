"""Places of the objects and relations of two graphs side by side, for the window and figures.

Two columns of objects share their rows. The relations of the prompt run in lanes on the left, those
of the picture in lanes on the right.
"""

from spatialstudio.domain.drawing import Point
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_match import GraphArc, GraphRows

_FULL = 0.72
"""Height of an object as a share of its row."""
_FIRST, _NEXT, _LAST = 0.08, 0.09, 0.32
"""Offset of an arc's end from the middle of its row, by its lane; shares of the row."""


@frozen
class GraphSizes:
    """Sizes in one unit.

    Attributes:
        row: Height of a row.
        node: Width of an object.
        lanes: Width of a lane on the left and on the right.
        gap: Distance of the columns.
    """

    row: float
    node: float
    lanes: tuple[float, float]
    gap: float


class GraphGeometry:
    """Places from the top left.

    Args:
        rows: The graphs.
        sizes: The sizes.

    Attributes:
        width: Width of both graphs.
        height: Height of both graphs.
    """

    def __init__(self, rows: GraphRows, sizes: GraphSizes) -> None:
        self._sizes = sizes
        sides = zip((rows.wanted, rows.found), sizes.lanes, strict=True)
        left, right = (width * _lanes(arcs) for arcs, width in sides)
        self._starts = left, left + sizes.node + sizes.gap
        self.width = self._starts[1] + sizes.node + right
        self.height = sizes.row * len(rows.rows)

    def middle(self, row: float) -> float:
        """Return the y of the middle of a row."""
        return self._sizes.row * (row + 0.5)

    def box(self, row: int, *, is_found: bool) -> tuple[float, float, float, float]:
        """Return left, top, width and height of an object of the prompt or of the picture."""
        height = self._sizes.row * _FULL
        return (
            self._starts[is_found],
            self.middle(row) - height / 2,
            self._sizes.node,
            height,
        )

    def link(self, row: int) -> tuple[Point, Point]:
        """Return the line between the two objects of a row."""
        left = self._starts[0] + self._sizes.node
        return (left, self.middle(row)), (left + self._sizes.gap, self.middle(row))

    def path(self, arc: GraphArc, *, is_found: bool) -> tuple[Point, ...]:
        """Return the corners of an arc from its subject to its object."""
        edge = self._starts[1] + self._sizes.node if is_found else self._starts[0]
        lane, offset = self._lane(arc, is_found=is_found), self._offset(arc)
        down = 1 if arc.rows[1] > arc.rows[0] else -1
        first = self.middle(arc.rows[0]) + down * offset
        last = self.middle(arc.rows[1]) - down * offset
        return (edge, first), (lane, first), (lane, last), (edge, last)

    def label(self, arc: GraphArc, *, is_found: bool) -> Point:
        """Return the middle of an arc's label."""
        return self._lane(arc, is_found=is_found), self.middle(arc.middle)

    def _lane(self, arc: GraphArc, *, is_found: bool) -> float:
        reach = self._sizes.lanes[is_found] * (arc.lane + 0.5)
        return self._starts[1] + self._sizes.node + reach if is_found else self._starts[0] - reach

    def _offset(self, arc: GraphArc) -> float:
        return self._sizes.row * min(_FIRST + _NEXT * arc.lane, _LAST)


def _lanes(arcs: tuple[GraphArc, ...]) -> int:
    return max((arc.lane + 1 for arc in arcs), default=0)
