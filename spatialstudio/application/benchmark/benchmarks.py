"""Plans of benchmarks, opened and checked, and their estimates."""

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from spatialstudio.application.benchmark.plan_file import asks_questions, parse_plan, read_plan
from spatialstudio.application.benchmark.plan_items import Drawing, items_of, questions_on
from spatialstudio.application.benchmark.prompt_sets import read_prompt_sets
from spatialstudio.application.benchmark.result_store import ResultStore
from spatialstudio.application.evaluate.metrics import choose_metrics
from spatialstudio.application.questions.question_run import expected_cost
from spatialstudio.application.run.estimates import RunEstimates
from spatialstudio.application.studio import Studio
from spatialstudio.domain.benchmark_plan import (
    BenchmarkPlan,
    BenchmarkPrompt,
    PlanEstimate,
    PlannedItem,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.multiple_choice import AnswerCost, total_cost
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.question_ports import ChoiceAnswerer
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science.metrics.choice_questions import CHOICES

BYTES_PER_PIXEL = 2.0
"""Picture, record and masks of a run on disk, measured on sticker pictures."""
BYTES_PER_RUN = 40_000
"""Record of a run without its arrays."""
MOST_CELLS = 1_000_000
"""Prompts x methods x seeds of a plan."""


@frozen(eq=False)
class OpenPlan:
    """A checked plan with its items. Created by ``Benchmarks.open_plan``.

    Attributes:
        plan: The plan.
        prompts: Its prompts, in order.
        items: Its items; equal pictures share a key.
        checker: Its checker settings.
    """

    plan: BenchmarkPlan
    prompts: tuple[BenchmarkPrompt, ...]
    items: tuple[PlannedItem, ...]
    checker: CheckerSettings

    @property
    def drawable(self) -> tuple[PlannedItem, ...]:
        """The items that can be drawn, each picture once, in order."""
        return tuple({item.key: item for item in self.items if item.request}.values())

    @property
    def examples(self) -> Mapping[str, GenerationRequest]:
        """A request of each method that can be drawn, guided if the method guides any."""
        requests = [(each.method.name, each.request) for each in self.drawable if each.request]
        return dict(sorted(requests, key=lambda each: each[1].sampling.guidance.is_on))


class Benchmarks:
    """Plans of benchmarks; ``benchmarks_of`` creates it.

    Attributes:
        drawing: Turns plans into requests.

    Args:
        drawing: Turns plans into requests.
        resources: Folder of the shipped resources.
        checker: Returns checker settings by name.
        estimates: Estimates of runs.
        answerer: Returns an answerer of multiple-choice questions by id.
    """

    def __init__(
        self,
        drawing: Drawing,
        resources: Path,
        checker: Callable[[str], CheckerSettings],
        estimates: RunEstimates,
        answerer: Callable[[str], ChoiceAnswerer],
    ) -> None:
        self.drawing = drawing
        self._answerer = answerer
        self._resources = resources
        self._checker = checker
        self._estimates = estimates

    def open_plan(self, path: Path) -> OpenPlan:
        """Read a plan file, its prompts, and check every item.

        Raises:
            SettingsError: The plan, a metric or the checker settings are invalid.
            PromptError: A prompt set cannot be read.
            ModelNotFound: The model of a method is not installed.
            RequestError: The settings of a method are invalid.
        """
        return self._begun(read_plan(path))

    def open_text(self, text: str, path: Path) -> OpenPlan:
        """Check the text of a plan that is stored at ``path`` later; raises as ``open_plan``."""
        return self._begun(parse_plan(text, path))

    def _begun(self, plan: BenchmarkPlan) -> OpenPlan:
        self._check_answerer(plan)
        return self._opened(plan, read_prompt_sets(plan.prompts, self._resources))

    def _opened(self, plan: BenchmarkPlan, prompts: tuple[BenchmarkPrompt, ...]) -> OpenPlan:
        choose_metrics(plan.metrics)
        cells = len(plan.methods) * len(prompts) * len(plan.seeds)
        if cells > MOST_CELLS:
            raise SettingsError(
                f"The plan has {cells:,} pictures.",
                hint=f"Use fewer prompts, methods or seeds: at most {MOST_CELLS:,} pictures.",
            )
        return OpenPlan(
            plan=plan,
            prompts=prompts,
            items=items_of(plan, prompts, self.drawing),
            checker=self._checker(plan.checker),
        )

    def _check_answerer(self, plan: BenchmarkPlan) -> None:
        """Check that the answerer of a plan can answer and has something to.

        Raises:
            DetectorError: It answers yes-no questions only, or no server is set up.
            ModelNotFound: It is not installed.
            SettingsError: The plan does not measure ``choices``.
        """
        if not plan.choice_answerer:
            return
        if not asks_questions(plan.metrics):
            raise SettingsError(
                "The plan names an answerer, but asks no multiple-choice questions.",
                hint=f'Add "{CHOICES}" to its metrics, or leave out the answerer.',
            )
        _ = self._answerer(plan.choice_answerer).model_key  # raises without a server

    def open_folder(self, store: ResultStore) -> OpenPlan:
        """Read the plan and the prompts of a benchmark that has begun.

        Raises:
            StoreError: The folder contains no benchmark.
            SettingsError: Its plan or checker settings are invalid.
            ModelNotFound: The model of a method is not installed.
            RequestError: The settings of a method are invalid.
        """
        prompts = store.prompts()
        return self._opened(read_plan(store.plan_file), prompts)

    def estimate(self, plan: OpenPlan, target: Path) -> PlanEstimate:
        """Estimate the cost of a plan.

        Args:
            plan: The plan.
            target: Folder of the results; it may be missing.
        """
        requests = [
            item.request
            for item in plan.drawable
            if item.request
            for _ in range(item.method.rounds)
        ]
        known = [self._estimates.estimate([each]) for each in plan.examples.values()]
        memory = [each.memory_bytes for each in known if each.memory_bytes is not None]
        whole = self._estimates.estimate(requests) if requests else None
        return PlanEstimate(
            prompts=len(plan.prompts),
            pictures=len({item.key for item in plan.items}),
            unusable=sum(item.request is None for item in plan.items),
            seconds=whole.seconds if whole else 0.0,
            disk_bytes=sum(self._bytes_of(each) for each in requests),
            memory_bytes=max(memory, default=None),
            free_bytes=_free_bytes(target),
            answers=self._answers(plan) if plan.plan.choice_answerer else None,
        )

    def _answers(self, plan: OpenPlan) -> AnswerCost:
        asking = plan.plan.asking
        asked = [(questions_on(item), item) for item in plan.drawable]
        by_key = {made if asking.is_blind else item.key: (made, item) for made, item in asked}
        return total_cost(
            expected_cost(made, asking.rules.rollouts, asking, self._pixels(item.request))
            for made, item in by_key.values()
            if made.questions and item.request
        )

    def _bytes_of(self, request: GenerationRequest) -> int:
        return int(self._pixels(request) * BYTES_PER_PIXEL) + BYTES_PER_RUN

    def _pixels(self, request: GenerationRequest) -> int:
        side = self._model(request).native_size
        return (request.width or side) * (request.height or side)

    def _model(self, request: GenerationRequest) -> ModelCard:
        return self.drawing.model(request.model.id)


def benchmarks_of(studio: Studio) -> Benchmarks:
    """Return the use cases of benchmarks of a studio."""
    drawing = Drawing(
        model=studio.model, read_scene=studio.parse_for_model, judges=studio.judge_defaults
    )
    checker = studio.judging.checker
    answerer = studio.registry.choice_answerer
    return Benchmarks(drawing, studio.paths.resources, checker, studio.estimates, answerer)


def _free_bytes(target: Path) -> int:
    known = next(each for each in (target, *target.absolute().parents) if each.is_dir())
    return shutil.disk_usage(known).free
