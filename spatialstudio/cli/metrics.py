"""The command that compares metrics with each other over a set of pictures."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.metric_table import compare_pictures, disagreements
from spatialstudio.application.evaluate.metric_table_files import picture_rows
from spatialstudio.application.evaluate.metrics import all_metrics, choose_metrics
from spatialstudio.application.questions.question_report import question_scores
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command
from spatialstudio.cli.printing import aligned, show_json, show_lines, show_table
from spatialstudio.cli.studies import known_number, runs_matching
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.metric_table import Disagreement, MetricTable

SHOWN = 10
DECIMALS, UNDEFINED = 2, "undefined"
"""Decimals of a correlation, and the text of one that is NaN."""


def add_metrics_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the commands of ``metrics``."""
    commands = parser.add_subparsers(dest="metrics_command", required=True, metavar="COMMAND")
    compare = add_command(
        commands, "compare", "rank correlations of metrics, and disagreements", parents=[shared]
    )
    compare.add_argument(
        "pictures",
        type=Path,
        nargs="*",
        metavar="PATH",
        help="run files, folders of runs, benchmarks, or results of evaluate --out",
    )
    compare.add_argument("--filter", metavar="FILTER", help="add runs of the library")
    compare.add_argument(
        "--library", type=Path, metavar="DIR", help="library folder (default: the configured one)"
    )
    compare.add_argument(
        "--metrics",
        metavar="NAMES",
        help="comma-separated metrics, as for evaluate (default: all)",
    )
    compare.add_argument(
        "--questions",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="add the share of right answers of a run of questions ask; may be repeated",
    )
    compare.add_argument(
        "--between",
        metavar="A,B",
        help="list the disagreements of two metrics (default: of all)",
    )
    compare.add_argument(
        "--top",
        type=int,
        default=SHOWN,
        metavar="N",
        help="number of disagreements listed (default: %(default)s)",
    )
    compare.add_argument("--csv", action="store_true", help="write CSV: a row per picture")


def compare_metrics(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Print rank correlations of metrics, and the pictures that they rank differently."""
    names = options.metrics.split(",") if options.metrics else None
    metrics = choose_metrics(names) if names else all_metrics()
    studio = open_studio(options.library)
    try:
        paths = [*options.pictures, *runs_matching(studio, options.filter)]
        answers = question_scores(options.questions)
        table = compare_pictures(paths, studio.storage.store, metrics, answers)
    finally:
        studio.close()
    pair = _pair(options.between, table)
    listed = disagreements(table, pair)
    if options.json:
        show_json(table_answer(table, listed[: options.top]))
    elif options.csv:
        show_table(picture_rows(table, listed))
    else:
        show_lines(_lines(table, listed[: options.top]))
    return 0


def _pair(text: str | None, table: MetricTable) -> tuple[str, str] | None:
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    known = [column.id for column in table.columns]
    if len(names) != 2 or not set(names) <= set(known):  # noqa: PLR2004 - a pair
        raise SettingsError(
            f'"{text}" does not name two of the metrics.', hint=f"Available: {', '.join(known)}."
        )
    return names[0], names[1]


def table_answer(table: MetricTable, listed: Sequence[Disagreement]) -> Mapping[str, Any]:
    """Return a table as plain data, with the listed disagreements."""
    return {
        "metrics": [
            {"id": each.id, "label": each.label, "pictures": each.pictures, "mean": each.mean}
            for each in table.columns
        ],
        "pairs": [
            {
                "first": each.first,
                "second": each.second,
                "spearman": known_number(each.spearman.value),
                "low": known_number(each.spearman.low),
                "high": known_number(each.spearman.high),
                "kendall": each.kendall,
                "pictures": each.spearman.n,
                "missing": each.spearman.missing,
                "interval": each.spearman.method.value,
                "level": each.spearman.level,
                "seed": each.spearman.seed,
            }
            for each in table.pairs
        ],
        "disagreements": [
            {
                "picture": each.picture.name,
                "path": str(each.picture.path) if each.picture.path else None,
                "prompt": each.picture.prompt,
                "spread": each.spread,
                "scores": dict(each.picture.scores),
                "ranks": dict(each.ranks),
            }
            for each in listed
        ],
        "notes": list(table.notes),
    }


def _lines(table: MetricTable, listed: Sequence[Disagreement]) -> Iterator[str]:
    yield from table.notes
    columns = [("metric", "pictures", "mean")]
    columns += [(each.id, str(each.pictures), f"{each.mean:.3f}") for each in table.columns]
    yield from aligned(columns)
    yield ""
    yield "Spearman's rank correlation with 95 % bootstrap intervals over prompts; Kendall's tau-b"
    pairs = [("metrics", "spearman", "tau-b", "pictures")]
    for each in table.weakest_first:
        tau = "-" if each.kendall is None else f"{each.kendall:.2f}"
        name = f"{each.first}, {each.second}"
        correlation = each.spearman.in_decimals(DECIMALS, UNDEFINED)
        pairs.append((name, correlation, tau, str(each.spearman.n)))
    yield from aligned(pairs)
    yield ""
    yield "Disagreements: score and rank (0 lowest, 1 highest) by metric"
    for found in listed:
        ranks = ", ".join(
            f"{name} {found.picture.scores[name]:.2f} ({rank:.2f})"
            for name, rank in sorted(found.ranks.items(), key=lambda each: each[1])
        )
        yield f"{found.spread:.2f} {found.picture.name}: {found.picture.prompt}"
        yield f"     {ranks}"
