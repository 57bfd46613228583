"""Checks the text of a new plan, and begins its benchmark."""

from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from spatialstudio.application.benchmark.benchmarks import OpenPlan, benchmarks_of
from spatialstudio.application.benchmark.open_items import store_in
from spatialstudio.application.benchmark.picture_times import with_times
from spatialstudio.application.benchmark.result_store import PLAN_FILE
from spatialstudio.application.benchmark.set_extents import SetExtent, set_extents
from spatialstudio.application.studio import Studio
from spatialstudio.domain.benchmark_plan import BenchmarkPlan, PlanEstimate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.ports import ModelCard


@frozen(eq=False)
class MethodCost:
    """The pictures of a method.

    Attributes:
        model: Its model.
        request: One of its requests.
        pictures: Number of pictures that can be drawn, all rounds of refined items included.
    """

    model: ModelCard
    request: GenerationRequest
    pictures: int


@frozen(eq=False)
class CheckedPlan:
    """A plan that can begin. Created by ``check_plan``; may cross threads.

    Attributes:
        plan: The plan.
        estimate: Its size, and the time and disk space that it needs.
        costs: Of each method that can draw.
        extents: How much of each prompt set is taken.
        problems: Why some pictures cannot be drawn, each reason once.
    """

    plan: BenchmarkPlan
    estimate: PlanEstimate
    costs: tuple[MethodCost, ...]
    extents: tuple[SetExtent, ...]
    problems: tuple[str, ...]


def check_plan(open_studio: Callable[[], Studio], text: str, folder: Path) -> CheckedPlan:
    """Check a plan, without writing anything; takes seconds for thousands of pictures.

    Args:
        open_studio: Opens a studio with default choices.
        text: The plan.
        folder: Folder of the benchmark; it may be missing.

    Raises:
        SettingsError: The plan is invalid; the message names the line.
        StudioError: A model, prompt set or setting of the plan cannot be used.
    """
    with closing(open_studio()) as studio:
        benchmarks = benchmarks_of(studio)
        opened = benchmarks.open_text(text, folder / PLAN_FILE)
        errors = (item.error.message for item in opened.items if item.error)
        return CheckedPlan(
            plan=opened.plan,
            estimate=with_times(benchmarks.estimate(opened, folder), opened, studio.paths.cache),
            costs=_costs(opened, studio),
            extents=set_extents(opened.plan, studio.paths.resources),
            problems=tuple(dict.fromkeys(errors)),
        )


def begin_benchmark(open_studio: Callable[[], Studio], text: str, folder: Path) -> Path:
    """Write a plan and its prompts to a folder, so that it can be drawn; return the folder.

    Raises:
        TargetExists: The folder contains another benchmark.
        StudioError: The plan cannot be used, or the folder cannot be written.
    """
    with closing(open_studio()) as studio:
        opened = benchmarks_of(studio).open_text(text, folder / PLAN_FILE)
        store_in(studio, folder).begin(text, opened.prompts, overwrite=False)
    return folder


def _costs(opened: OpenPlan, studio: Studio) -> tuple[MethodCost, ...]:
    pictures = Counter[str]()
    for item in opened.drawable:
        pictures[item.method.name] += item.method.rounds
    return tuple(
        MethodCost(model=studio.model(request.model.id), request=request, pictures=pictures[name])
        for name, request in opened.examples.items()
    )
