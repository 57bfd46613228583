"""Dispatch of the terminal's commands, and the commands that read prompts and run models."""

import argparse
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.application.compose.compare_readings import dispute_in_words
from spatialstudio.application.compose.list_relations import list_relations, names_of
from spatialstudio.application.error_reports import (
    EXIT_CANCELLED,
    EXIT_FAILURE,
    exit_code_of,
    report_on,
)
from spatialstudio.application.evaluate.judging import LARGEST_LIST_BYTES
from spatialstudio.application.gallery.exports import check_targets
from spatialstudio.application.plugins import installed_plugins
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answers import scene_answer, scene_lines
from spatialstudio.cli.audit import audit
from spatialstudio.cli.benchmark import benchmark
from spatialstudio.cli.doctor import examine
from spatialstudio.cli.drawing import (
    drawn_request,
    open_to_draw,
    show_run,
    store_failure,
    warn_of_unread,
    working,
)
from spatialstudio.cli.figures import figure
from spatialstudio.cli.fix import fix
from spatialstudio.cli.interrupts import STOPPED
from spatialstudio.cli.judging import (
    OpenStudio,
    benchmark_prompts,
    judge_pictures,
    judge_records,
    open_to_evaluate,
    sweep_records,
)
from spatialstudio.cli.metrics import compare_metrics
from spatialstudio.cli.models import models
from spatialstudio.cli.options import judge_choice
from spatialstudio.cli.parser import read_arguments
from spatialstudio.cli.printing import (
    LogPrinter,
    complain,
    show_json,
    show_lines,
    show_progress,
    show_row,
)
from spatialstudio.cli.questions import questions
from spatialstudio.cli.refine import refine
from spatialstudio.cli.repair import repair
from spatialstudio.cli.runs import corruption_study, judge_again, runs
from spatialstudio.cli.studies import study
from spatialstudio.cli.sweeps import generate_many, sweep
from spatialstudio.domain.assertion import DA_RECOMMENDED
from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    PromptError,
    StoreError,
    StudioError,
)
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET
from spatialstudio.domain.safe_files import parse_limited, read_regular

Row = dict[str, Any]


def parse(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Read a prompt, or every prompt of a file."""
    studio = open_studio(None)
    if options.file:
        return _parse_file(studio, options.file, options.extractor)
    scene = studio.parse_prompt(options.prompt, options.extractor)
    tokens = studio.token_spans(scene, options.model) if options.model else ()
    if options.json:
        show_json(scene_answer(scene, tokens))
    else:
        show_lines(scene_lines(scene, tokens))
    return 0


def _parse_file(studio: Studio, path: Path, extractor_id: str) -> int:
    """Print a JSON line per prompt; a prompt that cannot be read yields a row with the error."""
    failures = 0
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            row = _row(studio, line, number, extractor_id)
            failures += "error" in row
            show_row(row)
    return EXIT_FAILURE if failures else 0


def _lines(path: Path) -> list[str]:
    try:
        text = read_regular(path, LARGEST_LIST_BYTES).decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise PromptError(
            f"The file {path} cannot be read.",
            hint="Pass a text file in JSON Lines format.",
        ) from error
    return text.split("\n")


def _row(studio: Studio, line: str, number: int, extractor_id: str) -> Row:
    try:
        asked = parse_limited(line.encode("utf-8", "surrogatepass"))
        row_id, prompt = asked["id"], asked["prompt"]
    except (ValueError, KeyError, TypeError):
        return {"line": number, "error": 'The line is not a JSON object with "id" and "prompt".'}
    if not isinstance(prompt, str):
        return {"id": row_id, "error": "The prompt is not a string."}
    try:
        scene = studio.parse_prompt(prompt, extractor_id)
    except StudioError as error:
        return {"id": row_id, "error": error.message}
    if scene.extractor_id != extractor_id:
        said = " ".join(note.message for note in scene.notes)
        show_progress(f"{row_id}: parsed by {scene.extractor_id}. {said}")
    for claim in scene.disputed:
        show_progress(f"{row_id}: {dispute_in_words(claim, scene)}")
    return {
        "id": row_id,
        "objects": list(names_of(scene).values()),
        "relations": [relation.as_fields() for relation in list_relations(scene)],
    }


NAME_WIDTH = 20
DA_PRESET = DA_RECOMMENDED.preset


def open_studio(runs_folder: Path | None) -> Studio:
    """Open a studio with the models in this process."""
    return Studio.open("inline", runs_folder=runs_folder)


def run(arguments: Sequence[str], open_studio: OpenStudio = open_studio) -> int:
    """Run a command.

    Args:
        arguments: Command line without the program name.
        open_studio: Creates the studio.

    Returns:
        The exit code: 0 success, 1 failure, 2 usage error, 130 interrupted.
    """
    logging.lastResort = LogPrinter(logging.WARNING)
    installed_plugins()  # plugins add choices to the options
    try:
        options = read_arguments(arguments)
    except SystemExit:  # after --help or a usage error
        _check_help_was_written()
        raise
    try:
        return COMMANDS[options.command](options, open_studio)
    except (Cancelled, KeyboardInterrupt) as stop:
        show_progress(str(stop) or STOPPED)
        return EXIT_CANCELLED
    except Exception as error:  # noqa: BLE001 - the terminal's border: a message without a traceback
        report = report_on(error, f"The command {options.command}")
        complain(report, with_details=options.debug)
        return exit_code_of(report)


def generate(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Generate, evaluate and store an image, or those of several prompts and seeds."""
    if options.prompts is not None or options.seeds is not None or options.prompt is None:
        return generate_many(options, open_studio)
    studio = open_to_draw(options, open_studio)
    request = drawn_request(studio, options)
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))
    studio.bus.subscribe(warn_of_unread)
    with working(studio):
        studio.tokens.read(options.prompt, studio.model(options.model))
        studio.generate(request)
    return show_run(studio, options, failures)


def evaluate(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Evaluate one image or many."""
    only, *others = options.paths
    is_many = others or only.is_dir() or options.prompts
    is_special = options.checker or options.set or options.metrics or options.da != DA_PRESET
    asks_others = options.questions or options.assertions or options.da_set
    chooses_models = judge_choice(options) != DEFAULT_JUDGE_SET
    if is_many or is_special or asks_others or chooses_models or options.csv or options.out:
        return judge_pictures(options, open_studio)
    studio = open_to_evaluate(options, open_studio)
    scene = studio.pictures.scene_shown(only, options.prompt)
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))
    with working(studio):
        studio.pictures.judge(only, scene)
    return show_run(studio, options, failures)


def train_stickers(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Train the embedded models."""
    taken = [options.out] if _holds_something(options.out) else []
    check_targets(taken, overwrite=options.overwrite)
    trainer = open_studio(None).trainer
    trainer.train(options.work, options.out, options.preset, show_progress)
    if options.json:
        show_json({"folder": str(options.out)})
    else:
        show_lines([f"Wrote the models to {options.out}"])
    return 0


def doctor(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Report the state of the installation."""
    results = tuple(examine(open_studio(None)))
    if options.json:
        rows = [{"name": f.name, "value": f.value, "problem": f.is_problem} for f in results]
        show_json({"findings": rows})
    else:
        marks = {True: "!", False: " "}
        show_lines(f"{marks[f.is_problem]} {f.name:{NAME_WIDTH}}{f.value}" for f in results)
    return EXIT_FAILURE if any(finding.is_problem for finding in results) else 0


def _holds_something(folder: Path) -> bool:
    return folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))


COMMANDS: Mapping[str, Callable[[argparse.Namespace, OpenStudio], int]] = {
    "parse": parse,
    "generate": generate,
    "refine": refine,
    "fix": fix,
    "repair": repair,
    "evaluate": evaluate,
    "judge-again": judge_again,
    "judge-records": judge_records,
    "sweep-records": sweep_records,
    "audit": audit,
    "benchmark": benchmark,
    "benchmark-prompts": benchmark_prompts,
    "corruption-study": corruption_study,
    "sweep": sweep,
    "study": study,
    "metrics": compare_metrics,
    "questions": questions,
    "runs": runs,
    "figure": figure,
    "train-stickers": train_stickers,
    "models": models,
    "doctor": doctor,
}


def _check_help_was_written() -> None:
    try:
        show_lines(())
    except StoreError as error:
        complain(report_on(error, "The help"))
        raise SystemExit(EXIT_FAILURE) from error
