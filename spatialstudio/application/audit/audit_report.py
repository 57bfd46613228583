"""Tables and figures of an audit as files: CSV, LaTeX, SVG, PDF and PNG."""

from collections.abc import Callable, Mapping, Sequence
from math import isnan
from pathlib import Path

from spatialstudio.application.audit.audits import AgreementReport
from spatialstudio.application.audit.calibration import CalibrationReport
from spatialstudio.application.audit.human_study import MetricReport
from spatialstudio.domain.audit_figures import (
    OUTCOMES,
    AgreementFigure,
    HeatMap,
    IntervalGroup,
    RiskPoint,
)
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.export import FIGURE_SUFFIXES, ExportFile, FigureCaption
from spatialstudio.domain.foreign_text import latex_text, table_text
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval, three_digits

CURVE_COLUMNS = ("tau", "coverage", "risk", "accuracy", "n_covered", "n_evaluated")
FIGURE_COLUMNS = ("figure", "value", "low", "high", "n")
BIN_COLUMNS = ("from", "to", "verdicts", "confidence", "accuracy")
STUDY_COLUMNS = (
    *("metric", "n", "kendall", "spearman", "pearson", "pairwise", "auc"),
    *("threshold", "accuracy", "precision", "recall", "preference"),
)

INTERVALS = "95 % bootstrap intervals."
COEFFICIENTS = {
    "kendall": "Kendall's tau-b",
    "spearman": "Spearman's rho",
    "pearson": "Pearson's r",
    "pairwise": "Pairwise accuracy",
    "auc": "AUC",
}
"""Names of the figures of a ``MetricReport``."""

Row = tuple[object, ...]


@frozen
class AuditTable:
    """A table.

    Attributes:
        columns: Names of the columns.
        rows: Cells; numbers keep their precision in CSV.
    """

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def agreement_table(report: AgreementReport) -> AuditTable:
    """Return confusion and agreement, a figure per row."""
    table = report.confusion
    rows: list[Row] = [
        (f"checker {checker.value}, human {human.value}", table.count(checker, human), *NO_BOUNDS)
        for checker in OUTCOMES
        for human in OUTCOMES
    ]
    shares = ("accuracy", "precision", "recall", "f1")
    rows += [(name, getattr(table, name), *NO_BOUNDS) for name in shares]
    rows.append(_figure("Cohen's kappa, checker and people", report.checker_kappa))
    rows += [
        _figure(f"Cohen's kappa, {' and '.join(names)}", kappa)
        for names, kappa in report.pairs.items()
    ]
    if report.fleiss and report.alpha:
        rows.append(_figure("Fleiss' kappa", report.fleiss))
        rows.append(_figure("Krippendorff's alpha", report.alpha))
    return AuditTable(columns=FIGURE_COLUMNS, rows=tuple(rows))


NO_BOUNDS = (None, None, None)


def curve_row(point: RiskPoint) -> tuple[float, ...]:
    """Return the values of ``CURVE_COLUMNS``."""
    shares = point.threshold, point.coverage, point.risk, point.accuracy
    return (*shares, point.covered, point.evaluated)


def curve_table(curve: Sequence[RiskPoint]) -> AuditTable:
    """Return a risk-coverage curve, a threshold per row."""
    return AuditTable(columns=CURVE_COLUMNS, rows=tuple(map(curve_row, curve)))


def reliability_table(report: CalibrationReport) -> AuditTable:
    """Return the bins of the reliability diagram."""
    rows = tuple(
        (each.low, each.high, each.count, each.confidence, each.accuracy) for each in report.bins
    )
    return AuditTable(columns=BIN_COLUMNS, rows=rows)


def study_table(reports: Sequence[MetricReport]) -> AuditTable:
    """Return the human study, a metric per row."""
    rows = []
    for each in reports:
        figures = (each.kendall, each.spearman, each.pearson, each.pairwise, each.auc)
        best = each.best
        shares = (
            (best.threshold, best.accuracy, best.precision, best.recall) if best else (None,) * 4
        )
        texts = (figure.text for figure in figures)
        rows.append((each.metric, each.n, *texts, *shares, each.preference))
    return AuditTable(columns=STUDY_COLUMNS, rows=tuple(rows))


def table_latex(table: AuditTable) -> str:
    """Return a table in LaTeX, numbers to three digits."""
    header = " & ".join(map(latex_text, table.columns))
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}", r"\hline"]
    lines += [rf"{header} \\", r"\hline"]
    lines += [" & ".join(latex_text(_cell(cell)) for cell in row) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\hline", r"\end{tabular}", ""])


def _figure(name: str, figure: Interval) -> Row:
    values = (figure.value, figure.low, figure.high)
    return (name, *(None if isnan(each) else each for each in values), figure.n)


def _cell(value: object) -> str:
    if value is None:
        return "--"
    return three_digits(value) if isinstance(value, float) else str(value)


def agreement_figure(report: AgreementReport) -> AgreementFigure:
    """Return confusion and kappas as a figure; shades are shares of the checker's verdicts."""
    counts, rows = report.confusion, []
    for checker in OUTCOMES:
        row = [counts.count(checker, human) for human in OUTCOMES]
        rows.append((row, sum(row) or 1))
    names = tuple(each.value for each in OUTCOMES)
    pairs = ((" and ".join(pair), kappa) for pair, kappa in report.pairs.items())
    groups = {"Cohen's kappa": (("checker and people", report.checker_kappa), *pairs)}
    if report.fleiss and report.alpha:
        own = (("Fleiss' kappa", report.fleiss), ("Krippendorff's alpha", report.alpha))
        groups["All raters"] = own
    shares = {"accuracy": "accuracy", "precision": "precision", "recall": "recall", "f1": "F1"}
    values = ((word, getattr(counts, name)) for name, word in shares.items())
    words = ", ".join(f"{name} {value:.3f}" for name, value in values if value is not None)
    lines = (
        f"Verdicts of the checker and of people on {counts.total} samples; shades are shares of "
        f"each row. Decided by both: {counts.decided_by_both}{words and f'; {words}'}. "
        f"{INTERVALS} Spatial Studio.",
    )
    return AgreementFigure(
        heat_map=HeatMap(
            rows=names,
            columns=names,
            heading="Checker (rows) and people (columns)",
            texts=tuple(tuple(map(str, row)) for row, _ in rows),
            shades=tuple(tuple(count / total for count in row) for row, total in rows),
        ),
        groups=tuple(IntervalGroup(title=title, rows=own) for title, own in groups.items()),
        caption=FigureCaption(title="Agreement of checker and people", lines=lines),
    )


def study_figure(reports: Sequence[MetricReport]) -> AgreementFigure:
    """Return the agreement of metrics with people as a figure."""
    groups = (
        IntervalGroup(
            title=title, rows=tuple((each.label, getattr(each, name)) for each in reports)
        )
        for name, title in COEFFICIENTS.items()
    )
    numbers = sorted({each.n for each in reports})
    counts = " to ".join(map(str, dict.fromkeys((numbers[0], numbers[-1])))) if numbers else "0"
    lines = (f"Metrics against people on {counts} pictures. {INTERVALS} Spatial Studio.",)
    return AgreementFigure(
        heat_map=None,
        groups=tuple(groups),
        caption=FigureCaption(title="Metrics against people", lines=lines),
    )


Draw = Callable[[str], ExportFile]
"""Draws the figure for a file ending."""


def contents_of(path: Path, table: AuditTable, draw: Draw) -> bytes:
    """Return the content of a file: the figure or the table, by its ending.

    Raises:
        ExportError: There is nothing of this ending to export.
    """
    suffix = path.suffix.lower()
    if suffix in FIGURE_SUFFIXES:
        return draw(suffix[1:]).content
    texts: Mapping[str, Callable[[], str]] = {
        ".csv": lambda: table_text([table.columns, *table.rows], line_end="\n"),
        ".tex": lambda: table_latex(table),
    }
    if suffix not in texts:
        raise ExportError(
            f'"{path.name}" has no ending of an export.',
            hint=f"Choose {', '.join((*texts, *FIGURE_SUFFIXES))}.",
        )
    return texts[suffix]().encode()


def curve_caption(samples: int, labels: str, choices: str) -> FigureCaption:
    """Return the caption of a risk-coverage curve.

    Args:
        samples: Number of samples.
        labels: Whose labels they have.
        choices: How weights and UNDECIDABLE of people are treated.
    """
    lines = (
        f"Risk and coverage of the checker on {samples} samples, against {labels}; {choices}.",
        "A verdict is covered if its confidence reaches the threshold; the risk is the share of "
        "covered verdicts that people contradict. Spatial Studio.",
    )
    return FigureCaption(title="Risk and coverage", lines=lines)


def reliability_caption(report: CalibrationReport, labels: str) -> FigureCaption:
    """Return the caption of a reliability diagram."""
    error = "undefined" if report.error is None else f"{report.error:.3f}"
    lines = (
        f"Confidence of {report.evaluated} verdicts and the share that {labels} confirm; numbers "
        f"of verdicts in the bars. Expected calibration error {error}. Spatial Studio.",
    )
    return FigureCaption(title="Reliability of the confidence", lines=lines)
