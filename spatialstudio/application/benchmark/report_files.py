"""Reports as plain data, CSV, a LaTeX table, and a single HTML file."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from math import isnan
from typing import Any

from spatialstudio.application.benchmark.report import MethodReport, MethodResults
from spatialstudio.application.benchmark.set_extents import SetExtent
from spatialstudio.domain.benchmark import OutcomeCounts, PairCounts
from spatialstudio.domain.foreign_text import latex_text, table_text
from spatialstudio.domain.interval import Interval
from spatialstudio.science.benchmark.figures import Comparison, Rates
from spatialstudio.science.metrics.choice_questions import ACCURACIES, CHOICES, COST, TOTALS
from spatialstudio.science.statistics.intervals import share_interval

HEADER = ("method", "group", "name", "figure", "value", "low", "high", "n")
Line = tuple[object, ...]
TERA = 10**12
LEAST_P = 0.001
"""Smallest p-value that the LaTeX table states."""
BAR_WIDTH = 240
"""Pixels of a rate of 1 in the HTML report."""
STYLE = (
    "body{font:15px/1.45 system-ui,sans-serif;max-width:64rem;margin:2rem auto;padding:0 1rem}"
    "table{border-collapse:collapse;margin:.6rem 0 1.6rem}"
    "th,td{padding:.25rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid}"
    ".figures td{white-space:nowrap;font-variant-numeric:tabular-nums}"
    ".bar{fill:currentColor;opacity:.45}.error{stroke:currentColor;stroke-width:2}"
)


def report_lines(reports: Sequence[MethodReport]) -> Iterator[Line]:
    """Yield every figure as a line of ``HEADER``; bounds are None where there are none."""
    for report in reports:
        for group, name, figure, value in _figures(report):
            if isinstance(value, Interval):
                bounds: Line = (_plain(value.value), _plain(value.low), _plain(value.high), value.n)
            else:
                bounds = (value, None, None, None)
            yield (report.name, group, name, figure, *bounds)


def _figures(report: MethodReport) -> Iterator[tuple[str, str, str, Any]]:
    yield from _rate_figures("all", "", report.all)
    yield "all", "", "pass_all_by_prompt", report.by_prompt
    yield "all", "", "mean_confidence", report.report.mean_confidence
    for name, counts in (("best_of_k", report.report.best_of), ("all_of_k", report.report.all_of)):
        yield from _count_figures("prompts", name, counts)
    pairs = (("best_of_k", report.report.pairs), ("by_seed", report.report.pairs_by_seed))
    for name, own in pairs:
        yield from _pair_figures(name, own)
    groups = (
        ("relation", report.by_relation),
        ("object", report.by_object),
        ("difficulty", report.by_tag),
    )
    for group, rates in groups:
        for name, each in sorted(rates.items()):
            yield from _rate_figures(group, name, each)
    for reason, count in report.reasons.items():
        yield "abstention", reason, "count", count
    yield from _other_figures(report)


def _other_figures(report: MethodReport) -> Iterator[tuple[str, str, str, Any]]:
    if report.order is not None:
        yield "order_bias", "", "difference", report.order.difference
        yield "order_bias", "", "exact_p", report.order.test.exact_p
    for name, curve in report.scaling.items():
        for n, value in curve.items():
            yield "best_of_n", name, f"n {n}", value
    yield from _da_figures(report)
    for row in report.robustness:
        yield "corrupted_masks", row.name, f"mean_pse {row.level:g}", row.mean_pse
    for metric, figures in report.metrics.items():
        for name, value in figures.items():
            nested = value.items() if isinstance(value, Mapping) else ((None, value),)
            for key, number in nested:
                yield "metric", metric, name if key is None else f"{name} {key}", number
    if report.seconds is not None:
        yield "cost", "", "seconds", report.seconds
        yield "cost", "", "judging_seconds", report.judging_seconds
        yield "cost", "", "denoiser_passes", report.passes
        yield "cost", "", "flops", report.flops
    if report.rounds is not None:
        yield "cost", "", "rounds", report.rounds


def _da_figures(report: MethodReport) -> Iterator[tuple[str, str, str, Any]]:
    for n, value in report.by_round.items():
        yield "da_by_round", "", f"round {n}", value
    for n, value in report.by_assertions.items():
        yield "da_by_assertions", "", f"assertions {n}", value


def _rate_figures(group: str, name: str, rates: Rates) -> Iterator[tuple[str, str, str, Any]]:
    yield group, name, "pass", rates.counts.passes
    yield group, name, "fail", rates.counts.fails
    yield group, name, "undecidable", rates.counts.undecidable
    yield group, name, "error", rates.counts.errors
    yield group, name, "coverage", rates.coverage
    yield group, name, "pass_all", rates.pass_all
    yield group, name, "pass_decided", rates.pass_decided


def _count_figures(
    group: str, name: str, counts: OutcomeCounts
) -> Iterator[tuple[str, str, str, Any]]:
    yield group, name, "pass", counts.passes
    yield group, name, "fail", counts.fails
    yield group, name, "undecidable", counts.undecidable
    yield group, name, "pass_rate", counts.pass_rate_all


def _pair_figures(name: str, counts: PairCounts) -> Iterator[tuple[str, str, str, Any]]:
    """Yield the number of pairs and their outcomes; outcomes are None without pairs."""
    yield "counterfactual", name, "pairs", counts.pairs
    for figure, count in asdict(counts).items():
        yield "counterfactual", name, figure, count if counts.pairs else None
    rate = share_interval(counts.both_pass, counts.pairs)
    yield "counterfactual", name, "both_pass_rate", rate


def _plain(value: float) -> float | None:
    return None if isnan(value) else value


def report_answer(
    reports: Sequence[MethodReport],
    comparisons: Sequence[Comparison],
    extents: Sequence[SetExtent] = (),
) -> Mapping[str, Any]:
    """Return a report as JSON values."""
    lines = (dict(zip(HEADER, line, strict=True)) for line in report_lines(reports))
    return {
        "prompt_sets": [asdict(each) for each in extents],
        "figures": list(lines),
        "comparisons": [comparison_answer(each) for each in comparisons],
    }


def comparison_answer(comparison: Comparison) -> Mapping[str, Any]:
    """Return a comparison as JSON values."""
    difference = comparison.difference
    return {
        "first": comparison.first,
        "second": comparison.second,
        "value": comparison.value,
        "difference": _plain(difference.value),
        "low": _plain(difference.low),
        "high": _plain(difference.high),
        "pairs": difference.n,
        "missing": difference.missing,
        "only_first": comparison.test.only_first if comparison.test else None,
        "only_second": comparison.test.only_second if comparison.test else None,
        "exact_p": comparison.test.exact_p if comparison.test else None,
        "holm_p": comparison.adjusted_p,
    }


def report_csv(reports: Sequence[MethodReport]) -> str:
    """Return every figure as CSV, one per line."""
    return table_text([HEADER, *report_lines(reports)], line_end="\n")


def report_latex(reports: Sequence[MethodReport]) -> str:
    """Return the main figures as a LaTeX table: a row per method, percentages with intervals."""
    header = [
        *("Method", r"PASS \%", r"PASS$\mid$decided \%", r"Coverage \%"),
        *("Best of $K$", "All of $K$", "Both pass"),
    ]
    rows = []
    for report in reports:
        pairs = report.report.pairs_by_seed
        cells = [
            latex_text(report.name),
            *map(_latex_share, (report.all.pass_all, report.all.pass_decided, report.all.coverage)),
            f"{100 * report.report.best_of.pass_rate_all:.1f}",
            f"{100 * report.report.all_of.pass_rate_all:.1f}",
            f"{100 * pairs.both_pass / pairs.pairs:.1f}" if pairs.pairs else "none ($n = 0$)",
        ]
        rows.append(cells)
    return latex_table("lrrrrrr", header, rows)


def latex_table(columns: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a LaTeX table of cells that are escaped already.

    Args:
        columns: Alignment of each column, as "lrr".
        header: Titles of the columns.
        rows: Their cells.
    """
    titles, *lines = (" & ".join(row) + r" \\" for row in (header, *rows))
    ends = (rf"\begin{{tabular}}{{{columns}}}", r"\hline", r"\end{tabular}")
    return "\n".join([ends[0], ends[1], titles, ends[1], *lines, ends[1], ends[2], ""])


def comparisons_csv(comparisons: Sequence[Comparison]) -> str:
    """Return comparisons as CSV, one per line; at least one."""
    answers = [comparison_answer(each) for each in comparisons]
    return table_text([[*answers[0]], *([*each.values()] for each in answers)], line_end="\n")


def comparisons_latex(comparisons: Sequence[Comparison]) -> str:
    """Return comparisons as a LaTeX table: differences with intervals, and p-values."""
    header = ["First", "Second", "Value", "Second $-$ first", "Pairs", "$p$", "Holm $p$"]
    rows = []
    for each in comparisons:
        value, low, high = (
            f"${own:+.3f}$"
            for own in (each.difference.value, each.difference.low, each.difference.high)
        )
        p = (each.test.exact_p if each.test else None, each.adjusted_p)
        names = map(latex_text, (each.first, each.second, each.value))
        size = str(each.difference.n)
        rows.append([*names, f"{value} [{low}, {high}]", size, *map(_latex_p, p)])
    return latex_table("lllrrrr", header, rows)


def _latex_p(p: float | None) -> str:
    if p is None:
        return "--"
    return f"{p:.3f}" if p >= LEAST_P else f"$<$ {LEAST_P}"


def _latex_share(interval: Interval) -> str:
    if isnan(interval.value):
        return "--"
    value, low, high = (100 * each for each in (interval.value, interval.low, interval.high))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


def report_html(
    title: str,
    methods: Sequence[MethodResults],
    reports: Sequence[MethodReport],
    comparisons: Sequence[Comparison],
    extents: Sequence[SetExtent] = (),
) -> str:
    """Return a report as one HTML file without scripts; pictures are links beside the benchmark."""
    parts = [
        f"<h1>{escape(title)}</h1>",
        "<p>Intervals cover 95 %: Wilson's for shares, a bootstrap of prompts for means and "
        "differences. Rates over all count abstentions and errors as not passed.</p>",
        *(f"<p>Prompts of {escape(each.text)}.</p>" for each in extents),
        _html_table("Methods", _main_rows(reports)),
        _html_choices(reports),
        *(_html_bars(report) for report in reports),
        _html_table("Best of N pictures", _scaling_rows(reports)),
        _html_table("Every two methods", _comparison_rows(comparisons)) if comparisons else "",
        _html_table("All figures", [HEADER, *report_lines(reports)]),
        _html_pictures(methods),
    ]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>"
        f"{''.join(parts)}</body></html>\n"
    )


def _main_rows(reports: Sequence[MethodReport]) -> list[Line]:
    header = ("Method", "PASS over all", "PASS over decided", "Coverage", "Best of K", "All of K")
    rows: list[Line] = [(*header, "Seconds", "Denoiser passes", "TFLOP", "Rounds")]
    for each in reports:
        shares = (each.all.pass_all, each.all.pass_decided, each.all.coverage)
        rows.append(
            (
                each.name,
                *(share.text for share in shares),
                each.report.best_of.pass_rate_all,
                each.report.all_of.pass_rate_all,
                each.seconds,
                each.passes,
                None if each.flops is None else each.flops / TERA,
                each.rounds,
            )
        )
    known = [column for column in zip(*rows, strict=True) if set(column[1:]) != {None}]
    return [*zip(*known, strict=True)]


def _html_choices(reports: Sequence[MethodReport]) -> str:
    """Return accuracies by sub-domain and costs of multiple-choice questions; empty without."""
    asked = [each for each in reports if ACCURACIES in each.metrics]
    if not asked:
        return ""
    shown = (*TOTALS, "pictures", "unanswered_pictures")
    figures = [
        {
            (group, name): value
            for group in (ACCURACIES, CHOICES, COST)
            for name, value in each.metrics.get(group, {}).items()
            if group != CHOICES or name in shown
        }
        for each in asked
    ]
    keys = dict.fromkeys(key for own in figures for key in own)
    rows: list[Line] = [
        ("Method", *(each.name for each in asked)),
        *((key[1].replace("_", " "), *(own.get(key) for own in figures)) for key in keys),
    ]
    rules = "".join(f"<p>{escape(each.name)}: {escape(_choice_rule(each))}.</p>" for each in asked)
    return _html_table("Multiple-choice questions by sub-domain", rows) + rules


def _choice_rule(report: MethodReport) -> str:
    figures = report.metrics[CHOICES]
    answerers = figures.get("answerers")
    return f"{figures['rule']}; answered by {answerers}" if answerers else figures["rule"]


def _scaling_rows(reports: Sequence[MethodReport]) -> list[Line]:
    rows: list[Line] = [("Method", "Value", "N", "Denoiser passes", "Mean of the best")]
    for each in reports:
        for name, curve in each.scaling.items():
            for n, interval in curve.items():
                passes = None if each.passes is None else n * each.passes
                rows.append((each.name, name, n, passes, interval.text))
    return rows


def _comparison_rows(comparisons: Sequence[Comparison]) -> list[Line]:
    rows: list[Line] = [("First", "Second", "Value", "Second - first", "Pairs", "p", "Holm p")]
    for each in comparisons:
        p = each.test.exact_p if each.test else None
        difference = each.difference
        names = (each.first, each.second, each.value)
        rows.append((*names, difference.text, difference.n, p, each.adjusted_p))
    return rows


def _html_table(title: str, rows: Sequence[Line]) -> str:
    header, *others = rows
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in others
    )
    return f"<h2>{escape(title)}</h2><table class='figures'><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))


def _html_bars(report: MethodReport) -> str:
    """Return the pass rates by relation as bars with their intervals."""
    rows = []
    for name, rates in sorted(report.by_relation.items()):
        share = rates.pass_all
        x, low, high = (BAR_WIDTH * each for each in (share.value, share.low, share.high))
        picture = (
            f'<svg width="{BAR_WIDTH}" height="16" role="img" aria-label="{escape(share.text)}">'
            f'<rect class="bar" y="2" width="{x:.1f}" height="12"/>'
            f'<line class="error" x1="{low:.1f}" x2="{high:.1f}" y1="8" y2="8"/></svg>'
        )
        rows.append(f"<tr><td>{escape(name)}</td><td>{picture}</td><td>{share.text}</td></tr>")
    return f"<h2>{escape(report.name)}: PASS over all</h2><table>{''.join(rows)}</table>"


def _html_pictures(methods: Sequence[MethodResults]) -> str:
    """Return links to the pictures of each prompt and method; empty for runs without pictures."""
    rows = []
    for method in methods:
        for row in method.rows:
            if isinstance(row.get("picture"), str):
                outcome = escape(str(row.get("outcome") or "-"))
                link = f'<a href="{escape(row["picture"], quote=True)}">{outcome}</a>'
                cells = (method.name, str(row.get("prompt")), str(row.get("seed")))
                shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
                rows.append(f"<tr>{shown}<td>{link}</td></tr>")
    if not rows:
        return ""
    head = "<tr><th>Method</th><th>Prompt</th><th>Seed</th><th>Picture</th></tr>"
    return f"<h2>Pictures</h2><table>{head}{''.join(rows)}</table>"
