"""Files of a comparison of metrics: pictures as CSV, rank correlations as a LaTeX table."""

from collections.abc import Iterator, Sequence
from math import isnan
from pathlib import Path

from spatialstudio.application.registry import Registry
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.foreign_text import latex_text, table_text
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.metric_table import Disagreement, MetricTable

FILES_ID = "files"
SUFFIXES = (".csv", ".tex")


def write_metric_table(
    registry: Registry, table: MetricTable, listed: Sequence[Disagreement], target: Path
) -> Path:
    """Write a comparison to a file, replacing it; return the file.

    Args:
        registry: Registry of adapters.
        table: The comparison.
        listed: The pictures of a CSV file, in order.
        target: Its suffix is one of ``SUFFIXES``.

    Raises:
        SettingsError: The suffix is unknown.
        StoreError: The file cannot be written.
    """
    match target.suffix.lower():
        case ".csv":
            text = table_text([*picture_rows(table, listed)], line_end="\n")
        case ".tex":
            text = correlations_latex(table)
        case _:
            raise SettingsError(
                f'A comparison of metrics cannot be written as "{target.name}".',
                hint=f"Choose {' or '.join(SUFFIXES)}.",
            )
    registry.benchmark_files(FILES_ID).write(target, text.encode("utf-8", "surrogatepass"))
    return target


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


def _in_words(interval: Interval) -> str:
    if isnan(interval.value):
        return "--"
    if isnan(interval.low):
        return f"{interval.value:.2f}"
    return f"{interval.value:.2f} [{interval.low:.2f}, {interval.high:.2f}]"
