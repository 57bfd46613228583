"""Files of a comparison of metrics: pictures as CSV, rank correlations as LaTeX or a figure."""

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path

from spatialstudio.application.registry import Registry
from spatialstudio.domain.audit_figures import AgreementFigure, HeatMap, IntervalGroup
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import FIGURE_SUFFIXES, ExportLook, FigureCaption
from spatialstudio.domain.foreign_text import latex_text, table_text
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.metric_table import Disagreement, MetricTable

FILES_ID = "files"
SUFFIXES = (".csv", ".tex", *FIGURE_SUFFIXES)
MOST_PAIRS = 20
"""Pairs of metrics whose intervals a figure shows."""


def write_metric_table(
    registry: Registry,
    table: MetricTable,
    listed: Sequence[Disagreement],
    look: ExportLook,
    target: Path,
) -> Path:
    """Write a comparison to a file, replacing it; return the file.

    Args:
        registry: Registry of adapters.
        table: The comparison.
        listed: The pictures of a CSV file, in order.
        look: Colours of a figure.
        target: Its suffix is one of ``SUFFIXES``.

    Raises:
        SettingsError: The suffix is unknown.
        StoreError: The file cannot be written.
    """
    match target.suffix.lower():
        case ".csv":
            content = _bytes(table_text([*picture_rows(table, listed)], line_end="\n"))
        case ".tex":
            content = _bytes(correlations_latex(table))
        case suffix if suffix in FIGURE_SUFFIXES:
            figures = registry.audit_figures(FILES_ID)
            content = figures.agreement(correlation_figure(table), look, suffix[1:]).content
        case _:
            raise SettingsError(
                f'A comparison of metrics cannot be written as "{target.name}".',
                hint=f"Choose {', '.join(SUFFIXES)}.",
            )
    registry.benchmark_files(FILES_ID).write(target, content)
    return target


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def picture_rows(table: MetricTable, listed: Sequence[Disagreement]) -> Iterator[Sequence[object]]:
    """Yield a header, then a row per picture: spread, scores and ranks."""
    names = [column.id for column in table.columns]
    yield ("picture", "prompt", "spread", *names, *(f"{name}_rank" for name in names))
    for each in listed:
        scores = (each.picture.scores.get(name) for name in names)
        ranks = (each.ranks.get(name) for name in names)
        yield (each.picture.name, each.picture.prompt, each.spread, *scores, *ranks)


def correlations_latex(table: MetricTable) -> str:
    """Return a LaTeX table with a row per pair of metrics, the weakest correlation first."""
    labels = {each.id: latex_text(each.label) for each in table.columns}
    lines = [
        r"\begin{tabular}{llrrr}",
        r"\hline",
        r"Metric & Metric & Spearman's $\rho$ & Kendall's $\tau_b$ & Pictures \\",
        r"\hline",
    ]
    for pair in table.weakest_first:
        tau = "--" if pair.kendall is None else f"{pair.kendall:.2f}"
        cells = (
            *(labels[pair.first], labels[pair.second]),
            *(_in_words(pair.spearman), tau, str(pair.spearman.n)),
        )
        lines.append(" & ".join(cells) + r" \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def correlation_figure(table: MetricTable) -> AgreementFigure:
    """Return the rank correlations as a matrix, and the weakest ones with their intervals."""
    names = {each.id: each.label for each in table.columns}
    pairs = table.weakest_first
    known = {
        ends: pair.spearman.value
        for pair in pairs
        for ends in ((pair.first, pair.second), (pair.second, pair.first))
    }
    values = [[1.0 if one == other else known[one, other] for other in names] for one in names]
    rows = tuple(
        (f"{names[pair.first]}, {names[pair.second]}", pair.spearman)
        for pair in pairs[:MOST_PAIRS]
        if not isnan(pair.spearman.value)
    )
    shown = f"the {len(rows)} weakest of {len(pairs)}" if len(rows) < len(pairs) else "all"
    lines = (
        f"Spearman's correlation of metrics over the pictures that both score, up to "
        f"{max((pair.spearman.n for pair in pairs), default=0)}; {shown} pairs with 95 % "
        "intervals. Spatial Studio.",
    )
    return AgreementFigure(
        heat_map=HeatMap(
            rows=tuple(names.values()),
            columns=tuple(names.values()),
            heading="Spearman's rho",
            texts=tuple(tuple("-" if isnan(v) else f"{v:.2f}" for v in row) for row in values),
            shades=tuple(tuple(0.0 if isnan(v) else v for v in row) for row in values),
        ),
        groups=(IntervalGroup(title="Pairs of metrics", rows=rows),),
        caption=FigureCaption(title="Comparison of metrics", lines=lines),
    )


def _in_words(interval: Interval) -> str:
    if isnan(interval.value):
        return "--"
    if isnan(interval.low):
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
