"""The commands on multiple-choice questions of SpatialGenEval."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.question_report import question_report
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command
from spatialstudio.cli.printing import show_json, show_lines
from spatialstudio.domain.multiple_choice import PUBLISHED_RULES, VoteRules

NAME_WIDTH = 16


def add_questions_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the commands of ``questions``."""
    commands = parser.add_subparsers(dest="questions_command", required=True, metavar="COMMAND")
    report = add_command(
        commands,
        "report",
        "report accuracies of recorded answers, and the biases and defects of the data",
        parents=[shared],
    )
    report.add_argument(
        "data", type=Path, metavar="DATA", help="your copy of the JSON lines of SpatialGenEval"
    )
    report.add_argument(
        "--rollouts", type=Path, metavar="FILE", help="recorded answers, JSON lines by id"
    )
    report.add_argument(
        "--published",
        action="store_true",
        help="read the first character of each line, and leave out pictures without five valid "
        "rollouts, as published (default: they count as unanswered)",
    )
    report.add_argument(
        "--without-defects", action="store_true", help="leave out questions with a defect"
    )


def questions(options: argparse.Namespace, _: OpenStudio) -> int:
    """Report on questions and recorded answers."""
    rules = PUBLISHED_RULES if options.published else VoteRules()
    rules = replace(rules, leaves_out_defects=options.without_defects)
    report = question_report(options.data, options.rollouts, rules)
    if options.json:
        show_json(report)
    else:
        show_lines(_lines(report))
    return 0


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    yield f"{report['pictures']} pictures, {report['questions']} questions"
    keys = ", ".join(f"{letter} {share:.1%}" for letter, share in report["keys"].items())
    yield f"keys: {keys}"
    yield "without the picture       single   voted    shuffled: single   voted"
    for name, scores in report["blind"].items():
        plain, mixed = scores["as listed"], scores["shuffled"]
        yield f"  {name:{NAME_WIDTH}}{_percent(plain)}{'':12}{_percent(mixed)}"
    yield f"defects: {len(report['defects'])}"
    for each in report["defects"]:
        yield f"  {each['id']} question {each['question']}: {each['defect']}"
    if answered := report.get("answered"):
        yield from _answered_lines(answered)


def _percent(scores: Sequence[float]) -> str:
    return "".join(f"{score:9.1%}" for score in scores)


def _answered_lines(answered: Mapping[str, Any]) -> Iterator[str]:
    unanswered = answered["unanswered"]
    yield f"{answered['pictures']} pictures counted, {unanswered} without enough answers"
    if answered["unknown"]:
        yield f"{answered['unknown']} recorded ids are not in the data"
    rows = {**answered["sub_domains"], **answered["domains"]}
    rows |= {name: answered[name] for name in ("basic", "spatial", "overall")}
    for name, value in rows.items():
        shown = "none" if value is None else f"{value:.3f}"
        yield f"  {name:{NAME_WIDTH}}{shown}"
