"""The command that prints a table of many runs with intervals."""

import argparse
from argparse import ArgumentTypeError
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from math import isnan
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE, report_on
from spatialstudio.application.gallery.exports import ExportOrder, check_targets
from spatialstudio.application.gallery.figures import pictures_named
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.gallery.study import check_numbers, read_study_run, title_of
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.studio import Studio
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_overwrite
from spatialstudio.cli.printing import (
    aligned,
    complain,
    show_json,
    show_lines,
    show_progress,
    show_table,
)
from spatialstudio.domain.errors import PluginError, StudioError
from spatialstudio.domain.export import FIGURE_SUFFIXES, STUDY, StudyChoice
from spatialstudio.domain.interval import Interval, decimals_of
from spatialstudio.domain.run_data import MEASURES
from spatialstudio.science.statistics.study import (
    PASSES,
    USUAL,
    Study,
    StudyGroup,
    StudyRun,
    make_study,
    setting_text,
)

FIGURE_COLUMNS = (
    *("number", "value", "low", "high", "n", "missing", "interval", "level", "bootstrap_seed"),
    *("difference", "difference_low", "difference_high", "pairs", "incomplete_pairs"),
    *("mcnemar_exact_p", "holm_p"),
)


def add_study_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``study``."""
    parser.add_argument(
        "runs", type=Path, nargs="*", metavar="RUN", help="files or ids of runs, or folders of runs"
    )
    parser.add_argument("--filter", metavar="FILTER", help="add runs of the library")
    parser.add_argument(
        "--library",
        type=Path,
        metavar="DIR",
        help="library folder (default: the configured library)",
    )
    add_table_options(parser)


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a study's table."""
    group = parser.add_argument_group("table")
    group.add_argument(
        "--by",
        type=names_in,
        default=(),
        metavar="NAMES",
        help="comma-separated settings that form groups (default: all that differ, except seed "
        "and prompt)",
    )
    group.add_argument(
        "--numbers",
        type=names_in,
        default=USUAL,
        metavar="NAMES",
        help=f"comma-separated numbers: {', '.join((PASSES, *MEASURES))}, "
        f"or metrics of evaluate, such as visor (default: {','.join(USUAL)})",
    )
    group.add_argument(
        "--against",
        type=setting_named,
        metavar="NAME=VALUE",
        help="group that paired differences refer to, for example strength=0, with otherwise the "
        "same settings of --by (default: the first)",
    )
    group.add_argument(
        "--each-run", action="store_true", help="list every run instead of the groups"
    )
    group.add_argument("--csv", action="store_true", help="write CSV")
    group.add_argument(
        "--plot",
        type=plot_file,
        metavar="FILE",
        help=f"also draw the table's numbers with intervals, as {', '.join(FIGURE_SUFFIXES)}",
    )
    add_overwrite(group, "replace the file of --plot; pictures are kept")


def plot_file(text: str) -> Path:
    """Return the path of a plot.

    Raises:
        ArgumentTypeError: Its suffix is not that of a figure.
    """
    path = Path(text)
    if path.suffix not in FIGURE_SUFFIXES:
        raise ArgumentTypeError(f'"{text}" does not end in {", ".join(FIGURE_SUFFIXES)}')
    return path


def check_table(options: argparse.Namespace) -> None:
    """Check the options of a table before any work is done.

    Raises:
        SettingsError: A number is unknown.
        TargetExists: The plot exists and is not to be replaced.
    """
    check_numbers(options.numbers)
    targets = [options.plot] if options.plot and options.plot.exists() else []
    check_targets(targets, overwrite=options.overwrite)


def names_in(text: str) -> tuple[str, ...]:
    """Split "pos, pse" into names, without duplicates."""
    return tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def setting_named(text: str) -> tuple[str, str]:
    """Split "strength=0" into a name and a value.

    Raises:
        ArgumentTypeError: The text has another form.
    """
    name, equals, value = text.partition("=")
    if not (name.strip() and equals and value.strip()):
        raise ArgumentTypeError(f'"{text}" is not of the form NAME=VALUE')
    return name.strip(), value.strip()


def study(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Print a table of stored runs with intervals."""
    check_table(options)
    studio = open_studio(options.library)
    try:
        runs = runs_named(studio, options.runs)
        paths = [*_found(studio, runs), *runs_matching(studio, options.filter)]
        return show_study(studio, tuple(dict.fromkeys(paths)), options)
    finally:
        studio.close()


def show_study(studio: Studio, paths: Iterable[Path], options: argparse.Namespace) -> int:
    """Print a table of runs, and draw their plot; unreadable runs are reported and left out.

    Raises:
        SettingsError: There are no runs, or an option names an unknown setting or number.
        TargetExists: The plot exists and is not to be replaced.
    """
    runs: list[StudyRun] = []
    read: list[Path] = []
    failures = 0
    failed: dict[str, PluginError] = {}

    def keep(metric_id: str, error: PluginError) -> None:
        failed.setdefault(metric_id, error)

    for path in paths:
        try:
            runs.append(read_study_run(studio.storage.store, path, options.numbers, keep))
            read.append(path)
        except StudioError as error:
            failures += 1
            complain(report_on(error, "Reading a run"), with_details=options.debug)
    for each in failed.values():
        complain(report_on(each, "Computing a metric"), with_details=options.debug)
    made = make_study(
        runs,
        by=options.by,
        measures=options.numbers,
        reference=dict([options.against]) if options.against else None,
    )
    _show(made, options)
    if options.plot is not None:
        titles = {name: title_of(name) for name in options.numbers}
        choice = StudyChoice(numbers=titles, by=options.by)
        look = replace(studio.exports.look(), study=choice)
        order = ExportOrder(overwrite=options.overwrite)
        studio.exports.export(read, EXPORT_KINDS[STUDY], options.plot, look, order)
        show_progress(f"Wrote {options.plot}")
    return EXIT_FAILURE if failures or failed else 0


def _show(made: Study, options: argparse.Namespace) -> None:
    """Print a study; its notes accompany tables that have no room for them as progress."""
    if options.json:
        show_json(study_answer(made))
        return
    if options.csv:
        show_table(run_rows(made) if options.each_run else figure_rows(made))
    else:
        show_lines(aligned(run_rows(made)) if options.each_run else study_lines(made))
    if options.csv or options.each_run:
        for note in made.notes:
            show_progress(note)


def _found(studio: Studio, paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        yield from studio.storage.store.runs_in(path) or (path,)


def runs_named(studio: Studio, names: Iterable[Path]) -> tuple[Path, ...]:
    """Return the files or folders of runs given by file, folder or id; others stay as they are."""

    def library() -> Library:
        studio.library.refresh()
        return studio.library

    return pictures_named(map(str, names), library)


def runs_matching(studio: Studio, line: str | None) -> Iterator[Path]:
    """Yield the runs of the library that match a filter line; none without a line."""
    if line is not None:
        studio.library.refresh()
        entries = studio.library.entries(studio.library.list(line))
        yield from (entry.path for entry in entries)


def study_answer(made: Study) -> Mapping[str, Any]:
    """Return a study as plain data."""
    return {
        "by": list(made.by),
        "reference": dict(made.reference),
        "repeats_left_out": made.repeats,
        "groups": [
            {
                "settings": dict(group.settings),
                "runs": group.runs,
                "figures": _intervals(group.figures),
                "differences": _intervals(group.differences),
                "mcnemar_exact_p": group.exact_p,
                "holm_p": group.holm_p,
            }
            for group in made.groups
        ],
        "runs": [
            {
                "run": run.run,
                "is_left_unguided": run.is_left_unguided,
                "settings": {name: run.settings.get(name) for name in made.varied},
                "numbers": {name: known_number(run.value(name)) for name in made.measures},
            }
            for run in made.runs
        ],
    }


def _intervals(figures: Mapping[str, Interval]) -> Mapping[str, Any]:
    return {
        name: {
            "value": known_number(each.value),
            "low": known_number(each.low),
            "high": known_number(each.high),
            "n": each.n,
            "missing": each.missing,
            "interval": each.method.value,
            "level": each.level,
            "seed": each.seed,
        }
        for name, each in figures.items()
    }


def known_number(value: float) -> float | None:
    """Return a number; None for NaN."""
    return None if isnan(value) else value


def figure_rows(made: Study) -> Iterator[Sequence[object]]:
    """Yield a header, then a row per group and number; missing values are empty."""
    yield (*made.by, *FIGURE_COLUMNS)
    for group in made.groups:
        settings = [_cell(group.settings[name]) for name in made.by]
        for name, figure in group.figures.items():
            yield (*settings, name, *_figure_cells(figure), *_difference_cells(group, name))


def _figure_cells(figure: Interval) -> Iterator[object]:
    yield from (_cell(known_number(value)) for value in (figure.value, figure.low, figure.high))
    yield from (figure.n, figure.missing, figure.method.value, figure.level, _cell(figure.seed))


def _difference_cells(group: StudyGroup, name: str) -> Iterator[object]:
    found = group.differences.get(name)
    if found is None:
        yield from ("",) * 5
    else:
        yield from (_cell(known_number(value)) for value in (found.value, found.low, found.high))
        yield from (found.n, found.missing)
    tested = name == PASSES
    yield from (_cell(p) if tested else "" for p in (group.exact_p, group.holm_p))


def _cell(value: object) -> object:
    return "" if value is None else value


def run_rows(made: Study) -> Iterator[Sequence[object]]:
    """Yield a header, then a row per run: settings that differ, and numbers."""
    yield ("run", *made.varied, *made.measures)
    for run in made.runs:
        settings = (_cell(run.settings.get(name)) for name in made.varied)
        yield (
            run.run,
            *settings,
            *(_cell(known_number(run.value(name))) for name in made.measures),
        )


def study_lines(made: Study) -> Iterator[str]:
    """Yield the table of the groups, then that of the paired differences."""
    yield f"{len(made.runs)} runs; settings that differ: {', '.join(made.varied) or 'none'}"
    yield from made.notes
    yield f"95 % intervals: {made.methods({name: name for name in made.measures})}"
    head = [*made.by, "runs", *made.measures]
    decimals = {
        name: decimals_of(
            figure
            for group in made.groups
            for figure in (group.figures[name], group.differences.get(name))
            if figure is not None
        )
        for name in made.measures
    }
    yield from aligned(
        [
            head,
            *(
                [
                    *_names(made, group),
                    str(group.runs),
                    *(_with_missing(each, decimals[n]) for n, each in group.figures.items()),
                ]
                for group in made.groups
            ),
        ]
    )
    others = [group for group in made.groups if group.differences]
    if not others:
        return
    base = ", ".join(f"{name} {setting_text(value)}" for name, value in made.reference.items())
    same = ", ".join(name for name in made.varied if name not in made.reference)
    yield ""
    yield f"Differences to {base}, pairs of the same {same or 'settings'}; 95 % bootstrap"
    tested = [f"{PASSES}: McNemar p", "Holm p"] if PASSES in made.measures else []
    rows = (
        [
            *_names(made, group),
            *(_with_pairs(each, decimals[name]) for name, each in group.differences.items()),
            *(f"{p:.3g}" for p in (group.exact_p, group.holm_p) if p is not None and tested),
        ]
        for group in others
    )
    yield from aligned(chain([[*made.by, *made.measures, *tested]], rows))


def _names(made: Study, group: StudyGroup) -> list[str]:
    return [setting_text(group.settings[name]) for name in made.by]


def _with_missing(figure: Interval, decimals: int) -> str:
    text = figure.in_decimals(decimals)
    return f"{text} ({figure.missing} missing)" if figure.missing else text


def _with_pairs(figure: Interval, decimals: int) -> str:
    missing = f", {figure.missing} missing" if figure.missing else ""
    return f"{figure.in_decimals(decimals)} (n={figure.n}{missing})"
