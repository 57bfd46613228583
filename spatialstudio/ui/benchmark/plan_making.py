"""Makes a plan with the user, checks it in the background, and begins its benchmark."""

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from spatialstudio.application.benchmark.background_run import RunOrder
from spatialstudio.application.benchmark.check_plan import (
    CheckedPlan,
    begin_benchmark,
    check_plan,
)
from spatialstudio.application.evaluate.metrics import METRICS
from spatialstudio.application.questions.question_asker import answerers_of
from spatialstudio.domain.benchmark_plan import REFINE
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import UNGUIDED
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_presenter import plan_in_words
from spatialstudio.ui.benchmark.plan_dialog import PlanChoices, PlanDialog
from spatialstudio.ui.benchmark.run_choices import remembered_run
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.widgets.texts import tr

FOLDER = "benchmarks"
"""Folder of new benchmarks, in the library."""


class PlanMaking(QObject):
    """Opens the dialog for a new benchmark.

    Args:
        context: Services of the window; its command is bound.
        parent: Parent of the dialog.
    """

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._parent = parent
        self._dialog: PlanDialog | None = None
        context.actions.bind(commands.NEW, self.ask)

    def ask(self) -> None:
        """Open the dialog."""
        dialog = PlanDialog(self._offered(), self._parent)
        dialog.check_asked.connect(self._check)
        dialog.begin_asked.connect(self._begin)
        dialog.finished.connect(self._forget)
        self._dialog = dialog
        dialog.open()

    def _offered(self) -> PlanChoices:
        studio = self._context.studio
        methods = ((each.id, each.label) for each in studio.guidance_methods)
        return PlanChoices(
            methods=((UNGUIDED, tr("None")), *methods, (REFINE, tr("Evaluate-and-Refine"))),
            models=tuple((each.id, each.title) for each in studio.models),
            judge_sets=tuple((each.id, tr(each.label)) for each in studio.judge_sets.cards),
            metrics=tuple((each.id, tr(each.label)) for each in METRICS),
            answerers=tuple((name, tr(label)) for name, label in answerers_of(studio)),
            folder=studio.paths.runs.parent / FOLDER,
            last=remembered_run(self._context.settings),
        )

    def _check(self, text: str, folder: Path) -> None:
        self._context.reading.read(
            Subject.PLAN,
            tr("Checking the plan"),
            partial(check_plan, self._context.benchmark.open_studio, text, folder),
            partial(self._show_checked, text),
            self._show_problem,
        )

    def _show_checked(self, text: str, checked: CheckedPlan) -> None:
        if self._dialog is not None:
            words = plan_in_words(checked, self._context.studio.estimates)
            self._dialog.show_summary(text, words)

    def _show_problem(self, report: ErrorReport) -> None:
        if self._dialog is not None:
            self._dialog.show_problem(f"{report.message} {report.hint}")

    def _begin(self, text: str, order: RunOrder) -> None:
        self._context.reading.read(
            Subject.PLAN,
            tr("Beginning the benchmark"),
            partial(begin_benchmark, self._context.benchmark.open_studio, text, order.folder),
            partial(self._start, order),
            self._show_problem,
        )

    def _start(self, order: RunOrder, folder: Path) -> None:
        if self._dialog is not None:
            self._dialog.accept()
        self._context.benchmark.open(folder)
        self._context.benchmark.run.start(replace(order, folder=folder))

    def _forget(self) -> None:
        self._dialog = None
