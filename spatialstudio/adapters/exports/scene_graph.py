"""The graphs of prompt and picture side by side, as a figure."""

from collections.abc import Iterator, Sequence

from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    NORMAL,
    SMALL,
    caption,
    captioned,
    judged_by,
)
from spatialstudio.adapters.exports.lettering import elided, width_of
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Point, Text, box
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook
from spatialstudio.domain.graph_geometry import GraphGeometry, GraphSizes
from spatialstudio.domain.graph_match import (
    MATCH_COLOURS,
    MATCH_SIGNS,
    GraphArc,
    GraphMatch,
    GraphRows,
    MatchState,
)
from spatialstudio.science.scene_graph.rows import graph_rows
from spatialstudio.science.scene_graph.score import score_picture

ROW, GAP = 28.0, 44.0
NARROWEST, WIDEST = 60.0, 150.0
"""Widths of an object, points."""
PADDING = 16.0
HEAD = 4.0
LEAST_WIDTH = 320.0
APPROXIMATE = "approximate: an upper bound of the edit distance"


def match_of(run: ExportedRun, look: ExportLook) -> GraphMatch:
    """Return the scene-graph score of a run under the settings of a look.

    Raises:
        ExportError: The run is not judged, or its prompt names no object.
    """
    evaluation = run.record.evaluation
    if evaluation is None:
        raise ExportError(f"{run.path.name} is not judged.", hint="Judge the picture first.")
    match = score_picture(run.record.request.scene, evaluation, look.graph)
    if match is None:
        raise ExportError(
            f"The prompt of {run.path.name} names no object.", hint="Choose another run."
        )
    return match


def scene_graph_figure(run: ExportedRun, look: ExportLook) -> Drawing:
    """Draw both graphs with the state of each object and relation.

    Raises:
        ExportError: The run is not judged, or its prompt names no object.
    """
    match = match_of(run, look)
    rows = graph_rows(match)
    geometry = GraphGeometry(rows, _sizes(rows))
    top = MARGIN + 4 * LINE_HEIGHT
    width = max(geometry.width + 2 * MARGIN, LEAST_WIDTH)
    origin = (width - geometry.width) / 2, top
    pen = _Pen(rows, geometry, look, origin)
    items = [*_heading(match, look), *pen.draw()]
    foot = top + geometry.height + LINE_HEIGHT
    items += _legend(look, foot)
    words, settings = caption(run)
    return captioned(run, look, items, width, foot + LINE_HEIGHT, (words, judged_by(run), settings))


def _sizes(rows: GraphRows) -> GraphSizes:
    names = [name for row in rows.rows for name in (row.wanted, row.found)]
    widest = max(width_of(name, NORMAL) for name in names) + PADDING
    left, right = (_lane(arcs) for arcs in (rows.wanted, rows.found))
    return GraphSizes(
        row=ROW, node=min(max(widest, NARROWEST), WIDEST), lanes=(left, right), gap=GAP
    )


def _lane(arcs: Sequence[GraphArc]) -> float:
    widest = max((width_of(_signed(arc), SMALL) for arc in arcs), default=0.0)
    return min(widest, WIDEST) + PADDING


def _signed(arc: GraphArc) -> str:
    return f"{MATCH_SIGNS[arc.state]} {arc.label}"


def _heading(match: GraphMatch, look: ExportLook) -> Iterator[Item]:
    colours = look.palette.colours
    first = f"Scene-graph score {match.score:.2f}"
    at = (MARGIN, MARGIN + LINE_HEIGHT)
    yield Text(at=at, text=first, colour=colours["text"], size=LARGE, is_bold=True)
    parts = {
        "objects": match.object_score,
        "attributes": match.attribute_score,
        "relations": match.relation_score,
        "weighted": match.weighted,
    }
    words = ", ".join(f"{name} {value:.2f}" for name, value in parts.items() if value is not None)
    if not match.is_exact:
        words = f"{words}; {APPROXIMATE}"
    at = (MARGIN, MARGIN + 2 * LINE_HEIGHT + 2)
    yield Text(at=at, text=words, colour=colours["muted"], size=SMALL)


def _legend(look: ExportLook, y: float) -> Iterator[Item]:
    x = MARGIN
    for state, sign in MATCH_SIGNS.items():
        words = f"{sign} {state.value}"
        colour = look.palette.colours[MATCH_COLOURS[state]]
        yield Text(at=(x, y), text=words, colour=colour, size=SMALL)
        x += width_of(words, SMALL) + PADDING


class _Pen:
    """Draws the graphs at an origin."""

    def __init__(
        self, rows: GraphRows, geometry: GraphGeometry, look: ExportLook, origin: Point
    ) -> None:
        self._rows = rows
        self._geometry = geometry
        self._colours = look.palette.colours
        self._origin = origin

    def draw(self) -> Iterator[Item]:
        for is_found, name in ((False, "Prompt"), (True, "Picture")):
            left, _, width, _ = self._geometry.box(0, is_found=is_found)
            at = self._moved((left + width / 2, -6.0))
            yield Text(
                at=at,
                text=name,
                colour=self._colours["muted"],
                size=SMALL,
                anchor=Anchor.MIDDLE,
            )
        sides = ((self._rows.wanted, False), (self._rows.found, True))
        for arcs, is_found in sides:
            for arc in arcs:
                yield from self._arc(arc, is_found=is_found)
        for arcs, is_found in sides:
            for arc in arcs:
                yield from self._label(arc, is_found=is_found)
        for place, row in enumerate(self._rows.rows):
            yield from self._match(place, row.match.state)
            for name, is_found in ((row.wanted, False), (row.found, True)):
                if name:
                    yield from self._node(place, name, row.match.state, is_found=is_found)

    def _moved(self, point: Point) -> Point:
        return self._origin[0] + point[0], self._origin[1] + point[1]

    def _arc(self, arc: GraphArc, *, is_found: bool) -> Iterator[Item]:
        points = [self._moved(each) for each in self._geometry.path(arc, is_found=is_found)]
        colour = self._colours[MATCH_COLOURS[arc.state]]
        yield Line(points=tuple(points), colour=colour, is_dashed=_is_dashed(arc.state))
        (x, y), out = points[-1], 1 if is_found else -1
        tip = ((x, y), (x + out * 2 * HEAD, y - HEAD), (x + out * 2 * HEAD, y + HEAD))
        yield Line(points=tip, fill=colour, is_closed=True)

    def _label(self, arc: GraphArc, *, is_found: bool) -> Iterator[Item]:
        x, y = self._moved(self._geometry.label(arc, is_found=is_found))
        text = elided(_signed(arc), WIDEST, SMALL)
        width = width_of(text, SMALL) + 4
        ground = box(x - width / 2, y - SMALL * 0.7, width, SMALL * 1.4)
        yield Line(points=ground, fill=self._colours["raised"], is_closed=True)
        yield Text(
            at=(x, y + SMALL * 0.35),
            text=text,
            colour=self._colours[MATCH_COLOURS[arc.state]],
            size=SMALL,
            anchor=Anchor.MIDDLE,
        )

    def _match(self, place: int, state: MatchState) -> Iterator[Item]:
        left, right = (self._moved(point) for point in self._geometry.link(place))
        colour = self._colours[MATCH_COLOURS[state]]
        if state in {MatchState.MATCHED, MatchState.WRONG}:
            yield Line(points=(left, right), colour=self._colours["line"])
        at = ((left[0] + right[0]) / 2, left[1] + NORMAL * 0.35)
        yield Text(
            at=at,
            text=MATCH_SIGNS[state],
            colour=colour,
            anchor=Anchor.MIDDLE,
            is_bold=True,
            halo=self._colours["raised"],
        )

    def _node(self, place: int, name: str, state: MatchState, *, is_found: bool) -> Iterator[Item]:
        left, top, width, height = self._geometry.box(place, is_found=is_found)
        x, y = self._moved((left, top))
        colour = self._colours[MATCH_COLOURS[state]]
        yield Line(
            points=box(x, y, width, height),
            colour=colour,
            fill=self._colours["raised"],
            width=1.2,
            is_closed=True,
            is_dashed=_is_dashed(state),
        )
        yield Text(
            at=(x + width / 2, y + height / 2 + NORMAL * 0.35),
            text=elided(name, width - 8, NORMAL),
            colour=self._colours["text"],
            anchor=Anchor.MIDDLE,
        )


def _is_dashed(state: MatchState) -> bool:
    return state in {MatchState.MISSING, MatchState.EXTRA}
