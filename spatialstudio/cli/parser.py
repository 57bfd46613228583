"""Argument parser of the terminal."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from spatialstudio.application.evaluate.metrics import METRICS, published_faults
from spatialstudio.application.plugins import adapter_ids
from spatialstudio.application.studio import EXTRACTOR_ID
from spatialstudio.cli.doctor import app_version
from spatialstudio.cli.models import add_models_options
from spatialstudio.cli.options import (
    add_guidance_options,
    add_judge_options,
    add_overwrite,
    add_runs_options,
    out_path,
    take_words,
    with_minuses,
)
from spatialstudio.cli.printing import show_lines
from spatialstudio.domain.assertion import DA_PRESETS, DA_RECOMMENDED
from spatialstudio.domain.foreign_text import shown
from spatialstudio.domain.scene import relation_types
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE

DESCRIPTION = (
    "Generate, inspect and evaluate pictures from spatial prompts. Without a command, the "
    "window opens."
)
READERS_HELP = (
    "The grammar knows your own things too: write their names, one a line in the singular, into "
    'objects.txt in the folder of your settings ("spatialstudio doctor" tells where that is). The '
    "language model is the one chosen in the window, or by SPATIAL_STUDIO_LLM_SERVER (openai, "
    "ollama, llamacpp, vllm, lmstudio, or an address) and SPATIAL_STUDIO_LLM_MODEL; its key lies "
    "in the system's keyring or in SPATIAL_STUDIO_LLM_KEY. It is sent over plain http to another "
    "machine only with SPATIAL_STUDIO_LLM_PLAIN_HTTP=1. Where it fails, the grammar reads, and a "
    "note says so."
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
    _add_parse(
        commands.add_parser("parse", parents=[shared], help="read a prompt", epilog=READERS_HELP)
    )
    _add_generate(commands.add_parser("generate", parents=[shared], help="draw and judge"))
    _add_evaluate(commands.add_parser("evaluate", parents=[shared], help="judge pictures"))
    _add_judge_again(
        commands.add_parser(
            "judge-again", parents=[shared], help="judge stored runs with other settings"
        )
    )
    _add_judge_records(
        commands.add_parser(
            "judge-records", parents=[shared], help="judge a recorded SpatialBench-UC run again"
        )
    )
    _add_run_folder(
        commands.add_parser(
            "sweep-records", parents=[shared], help="sweep thresholds over such a run"
        )
    )
    _add_benchmark_prompts(
        commands.add_parser(
            "benchmark-prompts", parents=[shared], help="write the prompts of SpatialBench-UC"
        )
    )
    _add_corruption_study(
        commands.add_parser(
            "corruption-study", parents=[shared], help="corrupt the masks of runs and measure PSE"
        )
    )
    add_runs_options(commands.add_parser("runs", help="find, export and check runs"), shared)
    _add_train(
        commands.add_parser("train-stickers", parents=[shared], help="train the embedded models")
    )
    add_models_options(
        commands.add_parser("models", help="download, verify and remove models"), shared
    )
    commands.add_parser(
        "doctor", parents=[shared], help="show versions, models, plugins and missing libraries"
    )
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
    parser.epilog = f"relations: {', '.join(each.phrase for each in relation_types)}"
    parser.add_argument(
        "--model", metavar="ID", help="show the token positions of the objects in this model"
    )
    _add_extractor(parser)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--file",
        type=Path,
        metavar="FILE",
        help='read JSON Lines with "id" and "prompt"; write JSON Lines',
    )
    source.add_argument("prompt", nargs="?", help=PROMPT_HELP)


def _add_extractor(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--extractor",
        choices=adapter_ids("extractor"),
        default=EXTRACTOR_ID,
        help="relation extractor: the grammar, a language model, or one of a plugin "
        "(default: %(default)s)",
    )


def _add_generate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("prompt", help=PROMPT_HELP)
    _add_extractor(parser)
    parser.add_argument(
        "--model", metavar="ID", help="model, or a checkpoint file (default: the embedded one)"
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--steps", type=int, help="denoising steps (default: the model's)")
    parser.add_argument("--width", type=int, help="pixels; the model's own by default")
    parser.add_argument("--height", type=int, help="pixels; the model's own by default")
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the run's files (default: the library)",
    )
    parser.add_argument(
        "--unmarked", action="store_true", help="do not mark the picture as AI-generated"
    )
    add_guidance_options(parser)
    add_judge_options(parser)


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
    _add_extractor(parser)
    parser.add_argument("--csv", action="store_true", help="write CSV, one row per relation")
    parser.add_argument(
        "--out",
        type=out_path,
        metavar="FILE",
        help="keep every picture's answer, JSON a line; a stopped call goes on from FILE.part, "
        "and answers that are there already are kept",
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
    _add_checker(parser, "default: as published")


def _add_judges(parser: argparse.ArgumentParser) -> None:
    faults = "; ".join(f"{name}: {', '.join(own)}" for name, own in published_faults().items())
    names = ", ".join(metric.id for metric in METRICS)
    parser.add_argument(
        "--metrics",
        metavar="NAMES",
        help=f"of {names}, joined by commas; all by default. The metrics of "
        'other benchmarks are as published; "visor:mended" goes without its faults, "hrs:FAULT" '
        f"without one of them ({faults})",
    )
    parser.add_argument("--judges", dest="metrics", help=argparse.SUPPRESS)  # the former name
    parser.add_argument(
        "--questions",
        choices=adapter_ids("answerer"),
        help="VQA model for the DA-score (default: answer from the perception)",
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
            "how answers become probabilities: yes against no, or as in the published "
            "code (default: %(default)s)"
        ),
    )
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
    _add_da(parser)
    _add_checker(parser, "default: as published", preset=REPRODUCE.preset)


def _add_corruption_study(parser: argparse.ArgumentParser) -> None:
    _add_runs(parser)
    parser.add_argument("--seed", type=int, default=0, help="random seed of the corruptions")


def _add_runs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="run files, or folders of runs",
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
    _add_checker(parser, "default: the run's settings")


def _add_run_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="DIR", help="the run's folder")


def _add_benchmark_prompts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=out_path, metavar="FILE", required=True, help="output file")
    add_overwrite(parser)


def _add_checker(parser: argparse.ArgumentParser, default: str, preset: str | None = None) -> None:
    parser.add_argument(
        "--checker",
        metavar="NAME",
        default=preset,
        help=f'"{REPRODUCE.preset}", "{RECOMMENDED.preset}" or a settings file; {default}',
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="override a setting, for example margin=0.05; may be given several times",
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
        help='"full" takes hours; "smoke" takes seconds, as a test (default: %(default)s)',
    )
