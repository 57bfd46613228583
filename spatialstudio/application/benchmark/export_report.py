"""Writes reports on benchmarks to files, also while they are drawn."""

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.benchmark.gather import gather
from spatialstudio.application.benchmark.open_items import FILES_ID, items_in
from spatialstudio.application.benchmark.report import (
    MethodReport,
    MethodResults,
    compare_methods,
    relative_links,
    report_on_method,
)
from spatialstudio.application.benchmark.report_files import (
    comparisons_csv,
    comparisons_latex,
    report_csv,
    report_html,
    report_latex,
)
from spatialstudio.application.benchmark.runner import ItemFiles
from spatialstudio.application.benchmark.set_extents import SetExtent, stored_extents
from spatialstudio.application.evaluate.recorded_runs import StudiedPicture
from spatialstudio.domain.benchmark import RecordedRun
from spatialstudio.domain.benchmark_ports import BenchmarkFiles
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.science.benchmark.figures import Comparison

if TYPE_CHECKING:
    from spatialstudio.application.studio import Studio

REPORT_SUFFIXES = (".csv", ".tex", ".html")
COMPARISON_SUFFIXES = (".csv", ".tex")


@frozen(eq=False)
class FullReport:
    """The figures of methods, and their comparisons.

    Attributes:
        methods: What each method produced.
        reports: Its figures, in the same order.
        comparisons: Every two methods; empty for one.
        extents: How much of each prompt set is drawn; empty if unknown.
    """

    methods: tuple[MethodResults, ...]
    reports: tuple[MethodReport, ...]
    comparisons: tuple[Comparison, ...]
    extents: tuple[SetExtent, ...] = ()


def full_report(
    methods: Sequence[MethodResults],
    pictures_of: Callable[[MethodResults], Sequence[StudiedPicture]] = lambda _: (),
    extents: Sequence[SetExtent] = (),
) -> FullReport:
    """Return the figures of methods and their comparisons.

    Args:
        methods: What each method produced.
        pictures_of: Reads the pictures whose masks are corrupted; none by default.
        extents: How much of each prompt set is drawn.
    """
    return FullReport(
        methods=tuple(methods),
        reports=tuple(report_on_method(each, pictures_of(each)) for each in methods),
        comparisons=compare_methods(methods) if len(methods) > 1 else (),
        extents=tuple(extents),
    )


def live_results(items: ItemFiles) -> tuple[MethodResults, ...]:
    """Return the results of the items that are judged so far.

    Raises:
        StoreError: Nothing is judged yet.
    """
    plan = items.opened.plan
    found = []
    for method in plan.methods:
        for judges in plan.judges:
            name = method.name if len(plan.judges) == 1 else f"{method.name}, {judges.name}"
            gathered = gather(items, method, judges, name)
            if gathered.samples:
                run = RecordedRun(id=name, samples=(), settings=items.opened.checker)
                results = MethodResults(
                    name=name, run=run, samples=gathered.samples, rows=gathered.rows
                )
                found.append(results)
    if not found:
        raise StoreError(
            "No picture is judged yet.", hint="Export the report when pictures are done."
        )
    return tuple(found)


def write_report(
    report: FullReport, folders: Sequence[Path], target: Path, files: BenchmarkFiles
) -> None:
    """Write a report to a file, replacing it.

    Args:
        report: The figures.
        folders: The benchmarks, for links to their pictures; the first one is the title.
        target: Its suffix is one of ``REPORT_SUFFIXES``.
        files: Writes the file.

    Raises:
        SettingsError: The suffix is unknown.
        StoreError: The file cannot be written.
    """
    match target.suffix.lower():
        case ".csv":
            text = report_csv(report.reports)
        case ".tex":
            text = report_latex(report.reports)
        case ".html":
            linked = relative_links(report.methods, folders, target.parent)
            title = folders[0].resolve().name
            text = report_html(title, linked, report.reports, report.comparisons, report.extents)
        case _:
            raise SettingsError(
                f'A report cannot be written as "{target.name}".',
                hint=f"Choose {', '.join(REPORT_SUFFIXES)}.",
            )
    files.write(target, text.encode())


def write_comparisons(
    comparisons: Sequence[Comparison], target: Path, files: BenchmarkFiles
) -> None:
    """Write comparisons to a file, replacing it.

    Args:
        comparisons: At least one.
        target: Its suffix is one of ``COMPARISON_SUFFIXES``.
        files: Writes the file.

    Raises:
        SettingsError: The suffix is unknown.
        StoreError: The file cannot be written.
    """
    formats = dict(zip(COMPARISON_SUFFIXES, (comparisons_csv, comparisons_latex), strict=True))
    if target.suffix.lower() not in formats:
        raise SettingsError(
            f'Comparisons cannot be written as "{target.name}".',
            hint=f"Choose {', '.join(COMPARISON_SUFFIXES)}.",
        )
    files.write(target, formats[target.suffix.lower()](comparisons).encode())


def export_report(open_studio: Callable[[], "Studio"], folder: Path, target: Path) -> Path:
    """Write a report on the pictures of a benchmark that are judged so far; return the file.

    Raises:
        SettingsError: The suffix of the file is unknown.
        StoreError: Nothing is judged yet, or the file cannot be written.
    """
    with closing(open_studio()) as studio:
        extents = stored_extents([folder], studio.paths.resources)
        report = full_report(live_results(items_in(studio, folder)), extents=extents)
        write_report(report, [folder], target, studio.registry.benchmark_files(FILES_ID))
    return target


def export_comparisons(open_studio: Callable[[], "Studio"], folder: Path, target: Path) -> Path:
    """Write the comparisons of a benchmark's methods on what is judged so far; return the file.

    Raises:
        SettingsError: The suffix of the file is unknown.
        StoreError: There are no two methods, nothing is judged yet, or the file cannot be written.
    """
    with closing(open_studio()) as studio:
        comparisons = compare_methods(live_results(items_in(studio, folder)))
        write_comparisons(comparisons, target, studio.registry.benchmark_files(FILES_ID))
    return target
