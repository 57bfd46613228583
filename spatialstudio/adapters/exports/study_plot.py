"""Plot of a study: mean and interval of each number by the settings that differ."""

from collections.abc import Callable, Iterator, Sequence
from math import ceil, isnan

from spatialstudio.adapters.exports.figure_parts import (
    LARGE,
    LINE_HEIGHT,
    MARGIN,
    SMALL,
    captioned,
    made_with,
)
from spatialstudio.adapters.exports.lettering import width_of
from spatialstudio.adapters.exports.paper_figure import ticks_up_to
from spatialstudio.domain.drawing import Anchor, Drawing, Item, Line, Text, box
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import ExportedRun, ExportLook, StudyChoice
from spatialstudio.domain.interval import Interval
from spatialstudio.science.statistics.study import (
    SHARES,
    USUAL,
    Study,
    StudyRun,
    make_study,
    number_title,
    setting_label,
    setting_text,
    study_run,
    with_metrics,
)

PLOT_WIDTH, PLOT_HEIGHT = 360.0, 110.0
PANEL_GAP = 2.5 * LINE_HEIGHT
SIDE = 44.0
"""Room for the labels of the vertical axis."""
DOT, CAP = 2.5, 4.0
TICKS = 6
"""Largest number of intervals of the vertical axis."""
HEADROOM = 0.08
"""Room beyond the intervals, as a share of their span."""
EDGE = 0.04
"""Room beyond 0 and 1, so that no dot of a share lies on the frame."""
SMALL_SHARES = frozenset({"overlap", "peak"})
"""Shares that are usually too small to be told apart on an axis that ends at 1."""
FEWEST = 2
NAME_GAP = 6.0
"""Least room between the names of two groups."""


def study_of(runs: Sequence[ExportedRun], choice: StudyChoice) -> Study:
    """Return the study of exported runs.

    Raises:
        ExportError: There are fewer than two groups of runs.
        SettingsError: A setting or a number is unknown.
    """
    numbers = tuple(choice.numbers) or USUAL
    read = [_study_run(run, numbers) for run in runs if run.data]
    made = make_study(read, by=choice.by, measures=numbers)
    if len(made.groups) < FEWEST:
        raise ExportError(
            "The runs do not differ in a setting.",
            hint="Choose runs that differ in more than seed and prompt.",
        )
    return made


def _study_run(run: ExportedRun, numbers: Sequence[str]) -> StudyRun:
    """Return a run with the metrics that are shown, of which a run without them lacks each."""
    assert run.data is not None
    read = study_run(run.record, run.data.numbers())
    return with_metrics(read, numbers, lambda _names: run.scores())


def study_plot(runs: Sequence[ExportedRun], look: ExportLook) -> Drawing:
    """Plot each number of the runs' groups with its 95 % interval, a panel below the other.

    Raises:
        ExportError: There are fewer than two groups of runs, or none has one of the numbers.
        SettingsError: A setting or a number of the look is unknown.
    """
    made = study_of(runs, look.study)
    shown = _shown(made)
    if not shown:
        raise ExportError("None of the runs has a number to plot.", hint="Choose other numbers.")
    items: list[Item] = []
    top = MARGIN + LINE_HEIGHT
    for name in shown:
        items += _panel(made, name, look, top)
        top += PLOT_HEIGHT + PANEL_GAP
    top -= PANEL_GAP
    names, title, notes = _names(made), ", ".join(map(setting_label, made.by)), made.figure_notes
    if _stride(names) > 1 and not _are_numbers(made):
        notes = (_list_of_groups(made, names), *notes)
        names, title = [str(place) for place in range(1, len(names) + 1)], "Group"
    items += _group_axis(made, names, title, look, top + LINE_HEIGHT)
    width = 2 * MARGIN + SIDE + PLOT_WIDTH
    caption = _caption(made, runs, look.study, notes)
    return captioned(runs[0], look, items, width, top + 3 * LINE_HEIGHT, caption)


def _shown(made: Study) -> list[str]:
    """Return the numbers that some group has."""
    return [
        name
        for name in made.measures
        if any(not isnan(group.figures[name].value) for group in made.groups)
    ]


def _panel(made: Study, name: str, look: ExportLook, top: float) -> Iterator[Item]:
    colours = look.palette.colours
    left, figures = MARGIN + SIDE, [group.figures[name] for group in made.groups]
    low, high = _range(name, figures)

    def y_of(value: float) -> float:
        return top + PLOT_HEIGHT * (1 - (value - low) / (high - low))

    frame = box(left, top, PLOT_WIDTH, PLOT_HEIGHT)
    yield Line(points=frame, colour=colours["line"], width=0.5, is_closed=True)
    title = _title(name, look.study)
    yield Text(at=(left, top - 5), text=title, colour=colours["text"], size=LARGE)
    for value in ticks_up_to(high, TICKS, low):
        at = (left - 4, y_of(value) + 3)
        yield Text(at=at, text=f"{value:g}", colour=colours["muted"], size=SMALL, anchor=Anchor.END)
    for place, figure in enumerate(figures):
        if isnan(figure.value):
            continue
        x, y = _place(made, place), y_of(figure.value)
        yield from _whisker(x, figure, colours["text"], y_of)
        dot = box(x - DOT, y - DOT, 2 * DOT, 2 * DOT)
        yield Line(points=dot, fill=colours["text"], is_closed=True)


def _title(name: str, choice: StudyChoice) -> str:
    return choice.numbers.get(name) or number_title(name)


def _whisker(
    x: float, figure: Interval, colour: str, y_of: Callable[[float], float]
) -> Iterator[Item]:
    if isnan(figure.low):
        return
    low, high = y_of(figure.low), y_of(figure.high)
    yield Line(points=((x, low), (x, high)), colour=colour, width=1)
    for y in (low, high):
        yield Line(points=((x - CAP, y), (x + CAP, y)), colour=colour, width=1)


def _range(name: str, figures: Sequence[Interval]) -> tuple[float, float]:
    """Return the ends of an axis, with room beyond [0, 1] for shares, else beyond all intervals.

    The axis of small shares ends above the largest.
    """
    ends = [end for each in figures for end in (each.value, each.low, each.high) if not isnan(end)]
    low, high = min(ends), max(ends)
    if name in SHARES:
        top = min(high or 1.0, 1.0) if name in SMALL_SHARES else 1.0
        return -EDGE * top, (1 + EDGE) * top
    room = (high - low) * HEADROOM or 0.5
    return low - room, high + room


def _place(made: Study, place: int) -> float:
    return MARGIN + SIDE + PLOT_WIDTH * (place + 0.5) / len(made.groups)


def _group_axis(
    made: Study, names: Sequence[str], title: str, look: ExportLook, y: float
) -> Iterator[Item]:
    """Yield the names of the groups that have room, at equal distances, and the axis title."""
    colours = look.palette.colours
    for place, name in list(enumerate(names))[:: _stride(names)]:
        at = (_place(made, place), y)
        yield Text(at=at, text=name, colour=colours["muted"], size=SMALL, anchor=Anchor.MIDDLE)
    at = (MARGIN + SIDE + PLOT_WIDTH, y + LINE_HEIGHT)
    yield Text(at=at, text=title, colour=colours["text"], anchor=Anchor.END)


def _names(made: Study) -> list[str]:
    """Return the values of the groups' settings."""
    return [
        ", ".join(setting_text(group.settings[each]) for each in made.by) for group in made.groups
    ]


def _stride(names: Sequence[str]) -> int:
    """Return the stride at which the names fit beside each other; 1 if all fit."""
    width = max(width_of(name, SMALL) for name in names) + NAME_GAP
    return ceil(width * len(names) / PLOT_WIDTH)


def _are_numbers(made: Study) -> bool:
    """Return True if the groups differ in one setting, a number."""
    values = [value for group in made.groups for value in group.settings.values()]
    return len(made.by) == 1 and all(isinstance(value, int | float) for value in values)


def _caption(
    made: Study, runs: Sequence[ExportedRun], choice: StudyChoice, notes: Sequence[str]
) -> tuple[str, ...]:
    """Return how many runs were averaged over what, and how the intervals are computed.

    Args:
        made: The study.
        runs: The runs.
        choice: The titles of the numbers.
        notes: Sentences on the groups.
    """
    others = [name for name in made.varied if name not in made.by]
    over = ", ".join(_in_sentence(setting_label(name)) for name in others) or "nothing"
    methods = made.methods({name: _title(name, choice) for name in _shown(made)})
    counts = ", ".join(str(group.runs) for group in made.groups)
    first, *others = {run.record.request.scene.prompt.text for run in runs}
    named = () if others else (f"Prompt: {first.rstrip('.')}.",)
    return (
        f"Mean and 95 % interval over {over}; runs by group: {counts}; {_missing(made, choice)}.",
        *named,
        *notes,
        f"Intervals: {methods}. {made_with(runs[0])}",
    )


def _missing(made: Study, choice: StudyChoice) -> str:
    """Return in how many runs which of the shown numbers are missing."""
    counts = {
        _title(name, choice): sum(group.figures[name].missing for group in made.groups)
        for name in _shown(made)
    }
    named = ", ".join(f"{title} in {count}" for title, count in counts.items() if count)
    return f"runs without a number: {named or 'none'}"


def _list_of_groups(made: Study, names: Sequence[str]) -> str:
    by = ", ".join(_in_sentence(setting_label(name)) for name in made.by)
    entries = "; ".join(f"{place}: {name}" for place, name in enumerate(names, 1))
    return f"Groups by {by}: {entries}."


def _in_sentence(label: str) -> str:
    """Return a label within a sentence: "steps", "CFG scale"."""
    first, *_ = label.split()
    is_name = not first[1:].islower()
    return label if is_name else label[:1].lower() + label[1:]
