"""Options of the command ``benchmark``."""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spatialstudio.application.benchmark.executors import Executor
from spatialstudio.application.benchmark.export_report import COMPARISON_SUFFIXES, REPORT_SUFFIXES
from spatialstudio.application.benchmark.report_figures import ReportFigure
from spatialstudio.application.questions.question_asker import SERVER
from spatialstudio.cli.options import add_command, add_evaluation, add_overwrite
from spatialstudio.domain.benchmark_plan import REFINE, PromptSource
from spatialstudio.domain.export import FIGURE_SUFFIXES
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.multiple_choice import PROTOCOLS, SHUFFLED
from spatialstudio.science.benchmark.opse import ERROR
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID

DEFAULT_METHODS = f"{UNGUIDED},layout"
NEW_METHODS = (UNGUIDED, *(each.id for each in GUIDANCE_METHODS), REFINE)
GENERATED = tuple(each.value for each in PromptSource if not each.needs_file)


def add_benchmark_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of the command ``benchmark``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    add = partial(add_command, actions, parents=[shared])
    _add_plan(add("plan", "write or check a plan, and estimate it"))
    run = add("run", "draw and judge the pictures of a plan")
    run.add_argument("plan", type=Path, metavar="PLAN", help="plan file (TOML)")
    run.add_argument(
        "--out", type=Path, metavar="DIR", required=True, help="folder of the benchmark"
    )
    run.add_argument("--smoke", action="store_true", help="draw two pictures only")
    add_overwrite(run)
    _add_engines(run)
    resume = add("resume", "go on with an interrupted or paused benchmark")
    _add_folder(resume)
    resume.add_argument(
        "--retry",
        metavar="CAUSE",
        nargs="?",
        const="",
        help="try failed pictures again: all, or those whose cause contains this text",
    )
    _add_engines(resume)
    _add_folder(add("status", "show progress and failures by cause"))
    pause = add("pause", "pause a benchmark that another process runs")
    _add_folder(pause)
    pause.add_argument(
        "--drain", action="store_true", help="end after the pictures in progress instead"
    )

    _add_report_options(add)


def _add_report_options(add: Callable[[str, str], argparse.ArgumentParser]) -> None:
    report = add("report", "report on benchmarks or recorded SpatialBench-UC runs")
    _add_folders(report)
    figures = ", ".join(FIGURE_SUFFIXES)
    _add_out(report, f"the report as {', '.join(REPORT_SUFFIXES)}, or a figure of it as {figures}")
    report.add_argument(
        "--as",
        dest="figure",
        choices=[each.value for each in ReportFigure],
        default=ReportFigure.PASS_RATES.value,
        help="the figure: pass rates with intervals by method, or by relation, or the best of N "
        "pictures (default: %(default)s)",
    )
    report.add_argument(
        "--tables",
        type=Path,
        metavar="DIR",
        help="write the tables of the SpatialBench-UC release with a row per method",
    )
    report.add_argument(
        "--corrupt-masks",
        action="store_true",
        help="measure PSE on corrupted masks of the stored pictures, too",
    )
    compare = add("compare", "compare every two methods on the same prompts and seeds")
    _add_folders(compare)
    _add_out(compare, f"the comparisons as {', '.join(COMPARISON_SUFFIXES)}")
    choose = add("choose", "choose the best method from stored scores, with few of them (OPSE)")
    _add_folders(choose)
    _add_value(choose, "--value", "pass", "score of a picture")
    choose.add_argument("--seed", type=int, default=0, help="order of prompts (default: 0)")
    choose.add_argument(
        "--published", action="store_true", help="replay the published procedure instead"
    )
    _add_out(choose, f"the scores read and the confidence bounds as a figure: {figures}")


def _add_out(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help=f"write {what}; may be repeated",
    )
    add_overwrite(parser)


def _add_folders(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folders",
        type=Path,
        nargs="+",
        metavar="DIR",
        help="benchmarks, or run folders of SpatialBench-UC",
    )
    add_evaluation(parser)


def _add_folder(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="DIR", help="folder of the benchmark")


def _add_value(parser: argparse.ArgumentParser, option: str, default: str, text: str) -> None:
    parser.add_argument(option, choices=("pse", "pass", "visor"), default=default, help=text)
    parser.add_argument(
        "--error",
        type=float,
        default=ERROR,
        help="largest probability of dropping the best method (default: %(default)s)",
    )


def _add_engines(parser: argparse.ArgumentParser) -> None:
    _add_value(
        parser, "--choose", "", "draw only until the best method by this score is certain (OPSE)"
    )
    parser.add_argument(
        "--executor",
        choices=[each.value for each in Executor],
        default=Executor.LOCAL.value,
        help="where engines run: this machine, or a Ray cluster (default: %(default)s)",
    )
    parser.add_argument(
        "--address",
        default="",
        help='address of the Ray cluster, as "auto" or "host:6379" (default: a Ray on this machine '
        "that ends with the run)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        default=0,
        metavar="N",
        help="number of engines (default: 1; with Ray one per GPU, or per machine without GPUs)",
    )
    parser.add_argument(
        "--devices",
        metavar="IDS",
        default="",
        help='one engine process per device, as "cuda:0,cuda:1"',
    )


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("plan", type=Path, metavar="PLAN", help="plan file (TOML)")
    parser.add_argument(
        "--new", action="store_true", help="write a plan with the following sets and methods"
    )
    parser.add_argument(
        "--set",
        action="append",
        choices=GENERATED,
        help=f"prompt set of a new plan; may be repeated (default: {GENERATED[0]})",
    )
    parser.add_argument(
        "--methods",
        default=DEFAULT_METHODS,
        metavar="IDS",
        help=f"methods of a new plan: {', '.join(NEW_METHODS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", default="0-3", help='seeds of a new plan, as "0-3" (default: %(default)s)'
    )
    parser.add_argument(
        "--metrics",
        default="",
        metavar="NAMES",
        help='metrics of a new plan, as "visor,pse,choices" (default: all)',
    )
    parser.add_argument(
        "--answerer",
        default=PERCEPTION_ID,
        metavar="ID",
        help="answerer of the multiple-choice questions of a new plan (metric choices): "
        f"{PERCEPTION_ID}, {SERVER} or a model on this machine (default: %(default)s)",
    )
    parser.add_argument(
        "--protocol",
        choices=PROTOCOLS,
        default=SHUFFLED,
        help="how a new plan asks it; the perception ignores it (default: %(default)s)",
    )
    add_overwrite(parser)
