"""Measurements of a run per step: map statistics of each word and PoS of each relation."""

from collections.abc import Iterable, Sequence
from enum import Enum

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId, StepEvent, moment_read
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.pos.map_numbers import map_numbers, map_overlap

NUMBERS = ".6g"
FLANKS = 2
"""Number of mentions per relation whose overlap is measured, the first two."""


class Measure(Enum):
    """Measure of a column; the value is its short name."""

    ENTROPY = "entropy"
    CENTRE_X = "centre x"
    CENTRE_Y = "centre y"
    SPREAD = "spread"
    OVERLAP = "overlap"
    POS = "PoS"


OF_WORDS = (Measure.ENTROPY, Measure.CENTRE_X, Measure.CENTRE_Y, Measure.SPREAD)
OF_RELATIONS = (Measure.OVERLAP, Measure.POS)

Row = tuple[float | None, ...]


@frozen(kw_only=False)
class Column:
    """One column.

    Attributes:
        of: The word, or the relation in words.
        measure: The measure.
    """

    of: str
    measure: Measure


@frozen(eq=False, kw_only=False)
class StepTable:
    """Measurements of a run.

    Attributes:
        columns: Columns, in order.
        moment: Moment of the readings within guided steps; None for one reading per step.
        steps: The step of each row, from 0.
        rows: One value per column; None if not recorded.
    """

    columns: tuple[Column, ...] = ()
    moment: Moment | None = None
    steps: tuple[int, ...] = ()
    rows: tuple[Row, ...] = ()


class StepNumbers:
    """Measures runs; caches the measurements of the last run."""

    def __init__(self) -> None:
        self._run_id: tuple[RequestId, Moment] | None = None
        self._known: dict[int, tuple[StepEvent, Row]] = {}

    def table(self, run: OpenRun, wanted: Moment = Moment.AFTER) -> StepTable:
        """Return the measurements of a live or finished run, one reading per step."""
        read = moment_read(run.steps, wanted)
        moment = read or wanted
        if (run.id, moment) != self._run_id:
            self._run_id, self._known = (run.id, moment), {}
        for event in run.steps:
            known = self._known.get(event.step)
            if known is None or known[0] is not event:
                self._known[event.step] = event, _row(event, run.scene, moment)
        steps = tuple(event.step for event in run.steps)
        rows = tuple(self._known[step][1] for step in steps)
        return StepTable(columns_of(run.scene), read, steps, rows)


def difference(first: StepTable, second: StepTable) -> StepTable:
    """Return the differences of two runs' measurements, where both have values."""
    places = {column: place for place, column in enumerate(second.columns)}
    shared = [(place, places[c]) for place, c in enumerate(first.columns) if c in places]
    others = dict(zip(second.steps, second.rows, strict=True))
    both = [(s, row) for s, row in zip(first.steps, first.rows, strict=True) if s in others]
    return StepTable(
        columns=tuple(first.columns[mine] for mine, _ in shared),
        moment=first.moment or second.moment,
        steps=tuple(step for step, _ in both),
        rows=tuple(
            tuple(_above(row[mine], others[step][theirs]) for mine, theirs in shared)
            for step, row in both
        ),
    )


def columns_of(scene: SceneGraph) -> tuple[Column, ...]:
    """Return the columns of a scene: words, then relations."""
    words = [Column(mention.phrase, measure) for mention in scene.mentions for measure in OF_WORDS]
    relations = [
        Column(scene.sentence(relation), measure)
        for relation in scene.relations
        for measure in OF_RELATIONS
    ]
    return (*words, *relations)


def tab_separated(table: StepTable, places: Iterable[int] | None = None) -> str:
    """Return rows as tab-separated text: a header line, then one line per step, counted from 1.

    Args:
        table: The whole table.
        places: Indices of the rows; None for all.
    """
    when = f" {table.moment.value}" if table.moment is not None else ""
    names = [_plain(f"{column.of}: {column.measure.value}{when}") for column in table.columns]
    rows: list[Sequence[object]] = [("step", *names)]
    for place in range(len(table.rows)) if places is None else places:
        rows.append((table.steps[place] + 1, *table.rows[place]))
    return table_text(rows, delimiter="\t", line_end="\n", number_format=NUMBERS)


def _row(event: StepEvent, scene: SceneGraph, moment: Moment) -> Row:
    values: list[float | None] = []
    attention = event.attention_at(moment)
    maps = attention.maps if attention else {}
    for mention in scene.mentions:
        numbers = map_numbers(maps[mention.id]) if mention.id in maps else None
        if numbers is None:
            values += [None] * len(OF_WORDS)
        else:
            values += [numbers.entropy, *numbers.centre_xy, numbers.spread]
    for relation in scene.relations:
        ends = [maps[end] for end in relation.ends[:FLANKS] if end in maps]
        values.append(map_overlap(*ends) if len(ends) == FLANKS else None)
        values.append(event.pos_at(moment).get(relation.id))
    return tuple(values)


def _above(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other


def _plain(name: str) -> str:
    """Return a name without tabs and line breaks."""
    return " ".join(name.split())
