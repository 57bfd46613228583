"""Studies of stored runs: a number of many runs by settings, with intervals and differences."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isnan
from pathlib import Path
from typing import TypeAlias

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.metrics import (
    METRICS,
    MetricFailed,
    choose_metrics,
    picture_scores,
)
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.inspect.run_data import run_data
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.errors import (
    ErrorReport,
    SettingsError,
    StoreError,
    StudioError,
)
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.library import EntryId, LibraryEntry, RunRecord
from spatialstudio.domain.run_data import MEASURES, AnyArray
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.science.statistics.study import (
    PASSES,
    REPEATED,
    SHARES,
    USUAL,
    Study,
    StudyGroup,
    StudyRun,
    make_study,
    methods_in_words,
    number_label,
    number_title,
    setting_label,
    setting_text,
    varied_settings,
    with_metrics,
)
from spatialstudio.science.statistics.study import study_run as settings_and_values

Runs: TypeAlias = tuple[StudyRun, ...]

MEANINGS = {PASSES: "share of the decided runs with the verdict PASS"} | {
    name: meaning for name, (_, meaning) in MEASURES.items()
}
"""What each number of a study is, except the metrics."""
MISSING_RULE = (
    "A run without this number is missing: it is counted and enters no mean. A pair counts only if "
    "both of its runs have the number."
)

ALL_RUNS = "all runs"


@frozen
class StudyRow:
    """One group of runs.

    Attributes:
        settings: Values of the grouping settings, as text.
        runs: Number of runs.
        figure: Mean of the number with its interval; of ``PASSES`` the share.
        difference: Paired difference to the reference group; None for that group.
        holm_p: p-value of McNemar's test of ``PASSES`` with Holm's correction; None without it.
    """

    settings: tuple[str, ...]
    runs: int
    figure: Interval
    difference: Interval | None
    holm_p: float | None

    @property
    def name(self) -> str:
        """The settings in one line; "all runs" without settings."""
        return ", ".join(self.settings) or ALL_RUNS


@frozen
class StudyTable:
    """One number of a study.

    Attributes:
        number: Name of the number.
        by: Names of the grouping settings.
        rows: The groups.
        reference: Index of the row that differences refer to.
        notes: Sentences on the runs, the intervals and missing values.
        is_share: Whether the number is in [0, 1].
    """

    number: str
    by: tuple[str, ...]
    rows: tuple[StudyRow, ...]
    reference: int
    notes: tuple[str, ...]
    is_share: bool = False


@frozen
class RunsRead:
    """The runs of a study. May cross threads.

    Attributes:
        runs: Those that could be read.
        errors: One per run that could not be read.
        paths: A file of each of ``runs``.
    """

    runs: Runs
    errors: tuple[ErrorReport, ...]
    paths: tuple[Path, ...]


def read_runs(
    store: RunStore, paths: Sequence[Path], tick: Callable[[int, int], object]
) -> RunsRead:
    """Read settings and all numbers of stored runs.

    Args:
        store: Reads the runs.
        paths: Any file of each run.
        tick: Receives the number of runs read and in total; may raise ``Cancelled``.
    """
    runs, errors, read = [], [], []
    for done, path in enumerate(paths):
        tick(done, len(paths))
        try:
            runs.append(read_study_run(store, path, offered_numbers()))
            read.append(path)
        except StudioError as error:
            errors.append(report_on(error, "Reading a run"))
    return RunsRead(runs=tuple(runs), errors=tuple(errors), paths=tuple(read))


def runs_to_study(
    library: Library, tiles: int, members: Sequence[EntryId]
) -> tuple[LibraryEntry, ...]:
    """Return selected runs of the gallery; a single tile of a sweep stands for the whole sweep.

    Args:
        library: The library.
        tiles: Number of selected tiles.
        members: Their runs, with those of closed stacks.
    """
    chosen = library.entries(members)
    sweeps = {entry.summary.sweep.sweep_id if entry.summary.sweep else None for entry in chosen}
    if tiles == 1 and len(sweeps) == 1 and (sweep := sweeps.pop()):
        chosen = library.entries(library.list(f"sweep:{sweep}"))
    return tuple(entry for entry in chosen if not entry.is_missing)


def read_study_run(
    store: RunStore,
    path: Path,
    numbers: Sequence[str],
    failed: MetricFailed = lambda _metric_id, _error: None,
) -> StudyRun:
    """Read settings and measures of a stored run, and the metrics among some numbers.

    Args:
        store: Reads the run.
        path: Any file of the run.
        numbers: Names of numbers; metrics that are not among them are not computed.
        failed: Receives the id and the error of each metric that fails; its number is missing.

    Raises:
        StoreError: The run does not exist or is damaged.
        SettingsError: A number is unknown.
    """
    record, events = store.load(path)
    steps = [event for event in events if isinstance(event, StepEvent)]
    run = settings_and_values(record, run_data(record, steps, None, _no_layer).numbers())
    return with_metrics(run, numbers, partial(_scores, record, failed))


def _scores(record: RunRecord, failed: MetricFailed, names: Sequence[str]) -> Mapping[str, float]:
    """Return metrics of a run; none without an evaluation."""
    if record.evaluation is None:
        return {}
    metrics = choose_metrics(names)
    return picture_scores(record.request.scene, record.evaluation, metrics, failed)


def _no_layer(_file: AttentionFile) -> AnyArray:
    """Leave recorded layers out, which no number of a study needs.

    Raises:
        StoreError: Always.
    """
    raise StoreError("A study reads no recorded layers.")


def offered_numbers() -> tuple[str, ...]:
    """Return the names of all numbers of a study, the usual ones first."""
    return tuple(dict.fromkeys((*USUAL, *MEANINGS, *(metric.id for metric in METRICS))))


def check_numbers(names: Sequence[str]) -> None:
    """Raise ``SettingsError`` if a number of a study is unknown."""
    offered = offered_numbers()
    if unknown := [name for name in names if name not in offered]:
        raise SettingsError(
            f'There is no number "{unknown[0]}".', hint=f"Available: {', '.join(offered)}."
        )


def numbers_of(runs: Runs) -> tuple[str, ...]:
    """Return the numbers that some run has, the usual ones first."""
    return tuple(
        name for name in offered_numbers() if any(not isnan(run.value(name)) for run in runs)
    )


def label_of(number: str) -> str:
    """Return the label of a number: "PoS"."""
    return _metric_label(number) or number_label(number)


def title_of(number: str) -> str:
    """Return the label of a number with its unit: "PoS (probability)"."""
    return number_title(number, _metric_label(number))


def _metric_label(number: str) -> str:
    return METRICS[number].label if number in METRICS and number not in MEANINGS else ""


def setting_title(name: str) -> str:
    """Return the label of a setting: "Step size"."""
    return setting_label(name)


def meaning_of(number: str) -> str:
    """Return what a number of a study is; the number may be the id of a metric."""
    return MEANINGS[number] if number in MEANINGS else METRICS[number].help


def settings_to_group_by(runs: Runs) -> tuple[str, ...]:
    """Return the settings that differ."""
    return varied_settings(runs)


def usual_grouping(runs: Runs) -> tuple[str, ...]:
    """Return the settings that differ, except seed and prompt."""
    return tuple(name for name in varied_settings(runs) if name not in REPEATED)


def study_table(runs: Runs, number: str, by: Sequence[str] = (), reference: int = 0) -> StudyTable:
    """Return one number of a study by groups.

    Args:
        runs: The runs; at least one.
        number: Name of the number.
        by: Names of the grouping settings; empty for ``usual_grouping``.
        reference: Index of the group that differences refer to; the first if there is no such one.

    Raises:
        SettingsError: A setting or the number is unknown, or there are no runs.
    """
    made = make_study(runs, by=by, measures=(number,))
    reference = reference if reference < len(made.groups) else 0
    wanted = made.groups[reference].settings
    texts = {name: setting_text(value) for name, value in wanted.items()}
    made = make_study(runs, by=by, measures=(number,), reference=texts)
    rows = tuple(_row(group, number) for group in made.groups)
    others = [name for name in made.varied if name not in made.by]
    return StudyTable(
        number=number,
        by=made.by,
        rows=rows,
        reference=reference,
        notes=_notes(rows, made, others),
        is_share=number in SHARES,
    )


def _row(group: StudyGroup, number: str) -> StudyRow:
    return StudyRow(
        settings=tuple(map(setting_text, group.settings.values())),
        runs=group.runs,
        figure=group.figures[number],
        difference=group.differences.get(number),
        holm_p=group.holm_p if number == PASSES else None,
    )


def _notes(rows: Sequence[StudyRow], made: Study, others: Sequence[str]) -> tuple[str, ...]:
    """Return what the groups average over, the study's notes, intervals and the missing rule."""
    over = ", ".join(others) or "nothing"
    methods = methods_in_words((row.name, row.figure) for row in rows)
    notes = [f"{len(made.runs)} runs, averaged over {over}.", *made.notes]
    notes.append(f"95 % intervals: {methods}.")
    pairs = [(row.name, row.difference) for row in rows if row.difference]
    if pairs:
        same, words = ", ".join(others) or "settings", methods_in_words(pairs)
        notes.append(f"Differences are of pairs with the same {same}: {words}.")
    return (*notes, MISSING_RULE)


def tab_separated(table: StudyTable) -> str:
    """Return a study's table as tab-separated text, with the bounds in their own columns."""
    head = (
        *table.by,
        *("runs", table.number, "low", "high", "n", "missing"),
        *("difference", "difference_low", "difference_high", "pairs", "incomplete_pairs", "holm_p"),
    )
    rows = [
        (*row.settings, row.runs, *_cells(row.figure), *_cells(row.difference), row.holm_p)
        for row in table.rows
    ]
    return table_text([head, *rows], delimiter="\t", line_end="\n", number_format=".6g")


def _cells(figure: Interval | None) -> tuple[object, ...]:
    if figure is None:
        return (None,) * 5
    values = (figure.value, figure.low, figure.high)
    return (*(None if isnan(each) else each for each in values), figure.n, figure.missing)
