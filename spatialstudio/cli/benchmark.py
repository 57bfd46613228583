"""The command ``benchmark``: plan, run, status, resume, report, compare, choose."""

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

from spatialstudio.application.benchmark.benchmarks import OpenPlan, benchmarks_of
from spatialstudio.application.benchmark.plan_file import write_plan
from spatialstudio.application.gallery.exports import check_targets
from spatialstudio.application.studio import Studio
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_command, add_overwrite
from spatialstudio.cli.printing import show_json, show_lines
from spatialstudio.domain.benchmark_plan import PlanEstimate, PromptSource
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS

GIGABYTE = 10**9
MINUTE_S, HOUR_S = 60, 3600
DEFAULT_METHODS = f"{UNGUIDED},layout"
GENERATED = tuple(each.value for each in PromptSource if not each.needs_file)


def add_benchmark_options(parser: argparse.ArgumentParser, shared: argparse.ArgumentParser) -> None:
    """Add the actions of the command ``benchmark``."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_plan(
        add_command(actions, "plan", "write or check a plan, and estimate it", parents=[shared])
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
        help=f"guidance methods of a new plan: {UNGUIDED}, "
        f"{', '.join(each.id for each in GUIDANCE_METHODS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--seeds", default="0-3", help='seeds of a new plan, as "0-3" (default: %(default)s)'
    )
    add_overwrite(parser)


def benchmark(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Run an action of the command ``benchmark``."""
    studio = open_studio(None)
    try:
        return ACTIONS[options.action](options, studio)
    finally:
        studio.close()


def plan(options: argparse.Namespace, studio: Studio) -> int:
    """Write a new plan, or read one; print its size and its estimate."""
    if options.new:
        _write_new_plan(options)
    benchmarks = benchmarks_of(studio)
    opened = benchmarks.open_plan(options.plan)
    studio.bus.subscribe(studio.estimates.apply_event)
    studio.start()
    estimate = benchmarks.estimate(opened, options.plan.parent)
    if options.json:
        methods = [each.name for each in opened.plan.methods]
        show_json({"plan": str(options.plan), "methods": methods, **asdict(estimate)})
    else:
        show_lines(_plan_lines(opened, estimate))
    return 0


def _write_new_plan(options: argparse.Namespace) -> None:
    known = (UNGUIDED, *(each.id for each in GUIDANCE_METHODS))
    methods = [name.strip() for name in options.methods.split(",") if name.strip()]
    if unknown := [name for name in methods if name not in known]:
        raise SettingsError(
            f'There is no guidance method "{unknown[0]}".', hint=f"Choose {', '.join(known)}."
        )
    check_targets([options.plan] if options.plan.exists() else [], overwrite=options.overwrite)
    text = write_plan(options.plan.stem, options.set or GENERATED[:1], methods, options.seeds)
    with FILE_GATE.passed():
        options.plan.write_text(text, encoding="utf-8")


def _plan_lines(opened: OpenPlan, estimate: PlanEstimate) -> Iterator[str]:
    plan = opened.plan
    yield (
        f"{plan.name}: {estimate.prompts} prompts x {len(plan.methods)} methods x "
        f"{len(plan.seeds)} seeds = {estimate.pictures} pictures, "
        f"{len(plan.judges)} judge {'set' if len(plan.judges) == 1 else 'sets'}"
    )
    if estimate.unusable:
        yield f"  {estimate.unusable} pictures cannot be drawn:"
        messages = dict.fromkeys(item.error.message for item in opened.items if item.error)
        yield from (f"    {message}" for message in messages)
    time = "unknown until pictures are drawn" if estimate.seconds is None else ""
    yield f"  time    {time or duration_in_words(estimate.seconds or 0)}"
    yield (
        f"  disk    {estimate.disk_bytes / GIGABYTE:.2f} GB of "
        f"{estimate.free_bytes / GIGABYTE:.1f} GB free"
    )
    if estimate.memory_bytes is not None:
        yield f"  memory  {estimate.memory_bytes / GIGABYTE:.2f} GB"
    if estimate.disk_bytes > estimate.free_bytes:
        yield "  The disk is too small for this plan."


def duration_in_words(seconds: float) -> str:
    """Return a duration as "2 h 05 min", "3 min" or "12 s"."""
    if seconds >= HOUR_S:
        return f"{seconds // HOUR_S:.0f} h {seconds % HOUR_S // MINUTE_S:02.0f} min"
    return f"{seconds / MINUTE_S:.0f} min" if seconds >= MINUTE_S else f"{seconds:.0f} s"


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Studio], int]] = {"plan": plan}
