"""A run over its steps: map statistics of each word, PoS of each relation, bounds and means."""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import AttentionSnapshot, Moment
from spatialstudio.domain.derived_requests import has_baseline
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    UNGUIDED,
    RequestId,
    StepEvent,
    moment_read,
)
from spatialstudio.domain.scene import Relation, RelationId, SceneGraph
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.guidance.methods import is_left_unguided
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.map_numbers import map_numbers, map_overlap
from spatialstudio.science.pos.superiority import Ties, can_guide, relation_pos

NUMBERS = ".6g"
BASELINE = "Baseline"
FLANKS = 2
"""Number of mentions per relation whose overlap is measured, the first two."""


class Measure(Enum):
    """Measure of a column; the value is its short name."""

    ENTROPY = "entropy"
    CENTRE_X = "centre x"
    CENTRE_Y = "centre y"
    SPREAD = "spread"
    MASS = "mass"
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


NOTHING_BETWEEN = 5e-3
"""Difference below which two bounds are equal at two displayed digits."""
BOUNDS_KEPT = 512
"""Size of the cache, enough for two runs on one timeline; it keeps their maps in memory."""


def pos_bounds(
    event: StepEvent, relation: Relation, moment: Moment = Moment.AFTER
) -> tuple[float, float] | None:
    """Return a relation's PoS with ties counted as zero and as one.

    Args:
        event: A step with maps.
        relation: A relation measured on the step.
        moment: Reading of the step.

    Returns:
        Both in [0, 1], lower first; None without maps, or if the difference is not visible.
    """
    attention = event.attention_at(moment)
    if attention is None:
        return None
    return _bounds(attention, relation)


@lru_cache(maxsize=BOUNDS_KEPT)
def _bounds(attention: AttentionSnapshot, relation: Relation) -> tuple[float, float] | None:
    if not can_guide(relation.type) or any(end not in attention.maps for end in relation.ends):
        return None
    maps = [attention.maps[end] for end in relation.ends]
    if not all(weights.any() for weights in maps):
        return None
    strict, inclusive = (
        float(relation_pos(relation.type, maps, ties)) for ties in (Ties.STRICT, Ties.INCLUSIVE)
    )
    return (strict, inclusive) if inclusive - strict >= NOTHING_BETWEEN else None


def due_steps(run: OpenRun) -> tuple[int, ...]:
    """Return the steps so far on which guidance was due, whether it acted or paused."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return ()
    if needed_no_guidance(run):
        return ()
    schedule = GuidanceSchedule(run.request.sampling.guidance, run.request.sampling.steps)
    return tuple(
        event.step
        for event in run.steps
        if schedule.guides(event.step) or event.step_size is not None
    )


def needed_no_guidance(run: OpenRun) -> bool:
    """Return True if all steps are done, and the trial has left them unguided."""
    if run.request is None or len(run.steps) < run.total_steps:
        return False
    return is_left_unguided(run.request, [event.guiding_passes for event in run.steps])


def goal_of(run: OpenRun) -> float | None:
    """Return the PoS at which guidance pauses, (0.5, 1]; None without guidance."""
    if run.request is None or run.request.sampling.guidance.method_id == UNGUIDED:
        return None
    return run.request.sampling.guidance.goal


def mean_pos(
    run: OpenRun, first: int, last: int, wanted: Moment = Moment.AFTER
) -> Mapping[RelationId, float]:
    """Return the mean PoS over a range of steps, both ends inclusive, one reading per step.

    Returns:
        Means by relation id; relations without a measurement are omitted.
    """
    means = {}
    moment = moment_of(run, wanted)
    for relation in run.scene.relations:
        values = [
            event.pos_at(moment)[relation.id]
            for event in run.steps
            if first <= event.step <= last and relation.id in event.pos_at(moment)
        ]
        if values:
            means[relation.id] = sum(values) / len(values)
    return means


def moment_of(run: OpenRun, wanted: Moment) -> Moment:
    """Return the available moment of a run's steps that is closest to the wanted one."""
    return moment_read(run.steps, wanted) or wanted


def moment_in_words(run: OpenRun, wanted: Moment) -> str:
    """Describe the moment of a reading within a step; empty for one reading per step."""
    moment = moment_read(run.steps, wanted)
    if moment is None:
        return ""
    sentence = f"{moment.value[:1].upper()}{moment.value[1:]}"
    return (
        sentence if moment is wanted else (f"{sentence}; this run was recorded at this moment only")
    )


def name_second(run: OpenRun, second: OpenRun) -> str:
    """Return the name of a second run relative to the open one.

    Args:
        run: The open run.
        second: The comparison run.

    Returns:
        "Start" for the picture that the open one was to fix; else "Baseline", "Seed 8" or
        "Other run".
    """
    if _is_start(run, second):
        return "Start"
    asked, other = run.request, second.request
    if asked is None or other is None:
        return "Other run"
    if asked.sampling.seed != other.sampling.seed:
        return f"Seed {other.sampling.seed}"
    return "Other run" if has_baseline(other) else BASELINE


def baseline_in_words(run: OpenRun, second: OpenRun, sentence: str) -> str:
    """Return a sentence on the baseline of a run: "Baseline: attention PoS 1 %: ...".

    Args:
        run: The open run.
        second: The comparison run.
        sentence: A sentence on the comparison run, such as on its attention PoS.

    Returns:
        Empty if the comparison run is not the baseline of the open run, or nothing is said of it.
    """
    name = name_second(run, second)
    if name != BASELINE or not sentence:
        return ""
    return f"{name}: {sentence[:1].lower()}{sentence[1:]}"


def name_first(run: OpenRun, second: OpenRun | None = None) -> str:
    """Return the name of the open run in a comparison.

    Args:
        run: The open run.
        second: The comparison run; the name gives the seed if the seeds differ.

    Returns:
        "Fixed" next to its start if it passes, else "Attempt"; next to other runs "Seed 7",
        "Guided", "Guidance not needed" by its trial, or "This run".
    """
    if second is not None and _is_start(run, second):
        return "Fixed" if _outcome(run) is Outcome.PASS else "Attempt"
    asked, other = run.request, second.request if second else None
    if asked is not None and other is not None and asked.sampling.seed != other.sampling.seed:
        return f"Seed {asked.sampling.seed}"
    if needed_no_guidance(run):
        return "Guidance not needed"
    return "This run" if goal_of(run) is None else "Guided"


def _is_start(run: OpenRun, second: OpenRun) -> bool:
    """Return True if a run was derived from the second one, which does not pass."""
    if run.request is None or second.request is None or second.path is None:
        return False
    is_parent = run.request.parent_run_id == second.path.stem
    return is_parent and _outcome(second) in (Outcome.FAIL, Outcome.UNDECIDABLE)


def _outcome(run: OpenRun) -> Outcome | None:
    return run.evaluation.outcome if run.evaluation else None
