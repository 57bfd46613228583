"""Argument parser of the terminal."""

import argparse
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NoReturn

from spatialstudio.application.evaluate.metrics import METRICS, published_faults
from spatialstudio.application.plugins import adapter_ids
from spatialstudio.cli.audit import add_audit_options
from spatialstudio.cli.benchmark_options import add_benchmark_options
from spatialstudio.cli.doctor import app_version
from spatialstudio.cli.drawing import add_drawing_options, add_extractor
from spatialstudio.cli.figures import add_figure_options
from spatialstudio.cli.fix import add_fix_options
from spatialstudio.cli.metrics import add_metrics_options
from spatialstudio.cli.models import add_models_options
from spatialstudio.cli.options import (
    add_command,
    add_judge_options,
    add_overwrite,
    add_runs_options,
    out_path,
    take_words,
    with_minuses,
)
from spatialstudio.cli.printing import show_lines
from spatialstudio.cli.questions import add_questions_options
from spatialstudio.cli.refine_options import add_refine_options
from spatialstudio.cli.repair import add_repair_options
from spatialstudio.cli.studies import add_study_options
from spatialstudio.cli.sweeps import add_seeds, add_sweep_options
from spatialstudio.domain.assertion import DA_PRESETS, DA_RECOMMENDED
from spatialstudio.domain.foreign_text import shown
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.scene import relation_types
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE

DESCRIPTION = (
    "Generate, inspect and evaluate pictures from spatial prompts. Without a command, the "
    "window opens."
)
READERS_HELP = (
    "To add object names to the grammar, list them in objects.txt in the settings folder "
    '(see "spatialstudio doctor"), one per line, in the singular. The language model is '
    "configured in the settings dialog, or with SPATIAL_STUDIO_LLM_SERVER (openai, "
    "ollama, llamacpp, vllm, lmstudio, or a URL) and SPATIAL_STUDIO_LLM_MODEL. Its API "
    "key is read from the system keyring or from SPATIAL_STUDIO_LLM_KEY; it is sent to "
    "other machines over plain HTTP only if SPATIAL_STUDIO_LLM_PLAIN_HTTP=1 is set. If "
    "the language model fails, the grammar is used instead, with a note."
)
PROMPT_HELP = 'prompt, for example "a dog to the left of a car"'


class Parser(argparse.ArgumentParser):
    """Parser whose errors escape control characters, which file names may contain."""

    def error(self, message: str) -> NoReturn:
        """Print usage and message, and exit."""
        super().error(shown(message))


def read_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments after the program name; exit on a usage error."""
    parser = build_parser()
    if any("\0" in word for word in arguments):
        parser.error("an argument contains a null byte")
    options, rest = parser.parse_known_args(with_minuses(arguments))
    if unknown := take_words(options, rest):
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return options


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser: argparse.ArgumentParser = Parser("spatialstudio", description=DESCRIPTION)
    parser.add_argument("--version", action=ShowVersion, nargs=0, help="show the version and exit")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    shared = _shared_options()
    add = partial(add_command, commands, parents=[shared])
    _add_parse(add("parse", "parse a prompt"))
    _add_generate(add("generate", "generate and judge a picture"))
    _add_refine(add("refine", "redraw a picture until it shows what the prompt asserts"))
    add_fix_options(add("fix", "draw a picture again with remedies until its verdict passes"))
    add_repair_options(add("repair", "redraw regions of a picture and keep the rest"))
    _add_evaluate(add("evaluate", "judge pictures"))
    _add_judge_again(add("judge-again", "judge stored runs with other settings"))
    _add_judge_records(add("judge-records", "judge a recorded SpatialBench-UC run again"))
    _add_run_folder(add("sweep-records", "sweep thresholds over a recorded run"))
    _add_benchmark_prompts(add("benchmark-prompts", "write the prompts of SpatialBench-UC"))
    benchmark = add_command(commands, "benchmark", "plan, run and report benchmarks")
    add_benchmark_options(benchmark, shared)
    audit = add_command(commands, "audit", "sample runs, merge labels, compare checker and people")
    add_audit_options(audit, shared)
    _add_corruption_study(add("corruption-study", "measure PSE on corrupted masks of runs"))
    add_sweep_options(add("sweep", "generate pictures of prompts over strengths, seeds, settings"))
    add_study_options(add("study", "compare stored runs in a table with intervals"))
    add_figure_options(add("figure", "compose a figure for a paper from stored runs"))
    metrics = add_command(commands, "metrics", "compare metrics with each other")
    add_metrics_options(metrics, shared)
    asked = add_command(commands, "questions", "ask multiple-choice questions and report")
    add_questions_options(asked, shared)
    runs = add_command(commands, "runs", "find, export, verify and reproduce runs")
    add_runs_options(runs, shared)
    _add_train(add("train-stickers", "train the bundled models"))
    models = add_command(commands, "models", "download, verify and remove models")
    add_models_options(models, shared)
    add("doctor", "show versions, models, plugins and missing libraries")
    return parser


class ShowVersion(argparse.Action):
    """Prints the version, which is looked up on demand."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        """Print the version and exit."""
        show_lines([f"{parser.prog} {app_version()}"])
        parser.exit()


def _shared_options() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--json", action="store_true", help="write JSON")
    shared.add_argument("--debug", action="store_true", help="show tracebacks of errors")
    return shared


def _add_parse(parser: argparse.ArgumentParser) -> None:
    phrases = ", ".join(each.phrase for each in relation_types)
    parser.epilog = f"Relations: {phrases}. {READERS_HELP}"
    parser.add_argument(
        "--model", metavar="ID", help="show the token positions of the objects in this model"
    )
    add_extractor(parser)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help='read JSON Lines with "id" and "prompt"; write JSON Lines',
    )
    source.add_argument("prompt", nargs="?", help=PROMPT_HELP)


SEED_HELP = "random seed (default: %(default)s)"


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", nargs="?", help=PROMPT_HELP)
    parser.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help='draw every prompt of a list: .txt with one per line, .csv or .jsonl with "prompt"; '
        "pictures in the folder of --out, or in the library, are kept",
    )
    seeds = parser.add_mutually_exclusive_group()
    seeds.add_argument("--seed", type=int, default=0, help=SEED_HELP)
    add_seeds(seeds, None)
    add_drawing_options(parser)


def _add_refine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", help=PROMPT_HELP)
    parser.add_argument("--seed", type=int, default=0, help=SEED_HELP)
    add_drawing_options(parser)
    add_refine_options(parser)
    _add_da_set(parser)
    parser.set_defaults(guidance=UNGUIDED)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH", help="pictures or folders")
    prompts = parser.add_mutually_exclusive_group(required=True)
    prompts.add_argument("--prompt", help=PROMPT_HELP)
    prompts.add_argument(
        "--prompts",
        type=Path,
        metavar="FILE",
        help='CSV or JSON Lines with "picture" and "prompt"',
    )
    add_extractor(parser)
    parser.add_argument("--csv", action="store_true", help="write CSV, one row per relation")
    parser.add_argument(
        "--out",
        type=out_path,
        metavar="FILE",
        help="write results as JSON Lines, one line per picture; an interrupted evaluation "
        "resumes from FILE.part and skips finished pictures",
    )
    add_overwrite(parser)
    parser.add_argument(
        "--library",
        type=Path,
        metavar="DIR",
        help="folder where each picture is stored as a run, with its verdicts and what the judge "
        "set found (default: the library)",
    )
    parser.add_argument("--no-store", action="store_true", help="do not store the pictures as runs")
    _add_judges(parser)
    add_judge_options(parser)
    _add_checker(parser, "default: published settings")


def _add_judges(parser: argparse.ArgumentParser) -> None:
    faults = "; ".join(f"{name}: {', '.join(own)}" for name, own in published_faults().items())
    names = ", ".join(metric.id for metric in METRICS)
    parser.add_argument(
        "--metrics",
        metavar="NAMES",
        help=f"comma-separated metrics: {names} (default: all). Metrics of other benchmarks "
        'are computed as published; "visor:mended" corrects all known errors of the '
        f'published code, "hrs:FAULT" one of them ({faults})',
    )
    parser.add_argument("--judges", dest="metrics", help=argparse.SUPPRESS)  # the former name
    parser.add_argument(
        "--questions",
        choices=adapter_ids("answerer"),
        help="VQA model for the DA-score (default: derive answers from the detections)",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="ask again what the VQA model has answered"
    )
    parser.add_argument(
        "--assertions",
        choices=adapter_ids("assertion_reader"),
        help="assertion reader for the DA-score (default: the relations of the scene)",
    )
    _add_da(parser)


def _add_da(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--da",
        choices=tuple(DA_PRESETS),
        default=DA_RECOMMENDED.preset,
        help=(
            "normalisation of the answers: yes against no, or as in the published code "
            "(default: %(default)s)"
        ),
    )
    _add_da_set(parser)


def _add_da_set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--da-set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a DA-score setting, for example temperature=2 or relation_weight=3",
    )


def _add_judge_again(parser: argparse.ArgumentParser) -> None:
    _add_runs(parser)
    add_judge_options(parser)
    parser.add_argument(
        "--store",
        action="store_true",
        help="store the new verdicts in the runs",
    )
    parser.add_argument("--csv", action="store_true", help="write CSV, one row per relation")
    _add_da(parser)
    _add_checker(parser, "default: published settings", preset=REPRODUCE.preset)


def _add_corruption_study(parser: argparse.ArgumentParser) -> None:
    _add_runs(parser)
    parser.add_argument(
        "--seed", type=int, default=0, help="random seed of the corruptions (default: %(default)s)"
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="files or ids of runs, or folders of runs",
    )


def _add_judge_records(parser: argparse.ArgumentParser) -> None:
    _add_run_folder(parser)
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        required=True,
        help="output folder for verdicts and figures",
    )
    add_overwrite(parser)
    _add_checker(parser, "default: settings of the run")


def _add_run_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="DIR", help="folder of the run")


def _add_benchmark_prompts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=out_path, metavar="FILE", required=True, help="output file")
    add_overwrite(parser)


def _add_checker(parser: argparse.ArgumentParser, default: str, preset: str | None = None) -> None:
    parser.add_argument(
        "--checker",
        metavar="NAME",
        default=preset,
        help=f'"{REPRODUCE.preset}", "{RECOMMENDED.preset}", a preset saved by an audit, or a '
        f"settings file; {default}",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a setting, for example margin=0.05; may be repeated",
    )


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--work",
        type=Path,
        metavar="DIR",
        default=Path("stickers-work"),
        help="checkpoint folder; an interrupted training resumes from it (default: %(default)s)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        default=Path("stickers-models"),
        help="output folder of the trained models (default: %(default)s)",
    )
    add_overwrite(parser)
    parser.add_argument(
        "--preset",
        default="full",
        help='"full" takes hours; "smoke" is a test that takes seconds (default: %(default)s)',
    )
