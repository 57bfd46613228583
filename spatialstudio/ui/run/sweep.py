"""Asks for the axes of a sweep, estimates its cost, and queues or cancels it."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.application.jobs.messages import MemoryEstimated
from spatialstudio.application.run.plan_sweep import (
    plan_of,
    read_axis,
    suggested_values,
    sweep_fields,
    sweeps_of_prompts,
)
from spatialstudio.application.run.queue import PENDING, QueueChanged
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.domain.sweep import SweepId
from spatialstudio.ui.framework.commands import GALLERY_WORKSPACE
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.presenters import cost_in_words, kept_in_words
from spatialstudio.ui.widgets.texts import tr

if TYPE_CHECKING:
    from spatialstudio.ui.run.sweep_dialog import SweepDialog


class Sweeping(QObject):
    """Connects the sweep dialog to the settings and the queue.

    Args:
        context: Services of the window; its commands are bound.
        settings: Returns the current settings; None while there is no model.
        parent: Parent of the dialog.
    """

    def __init__(
        self, context: WindowContext, settings: Callable[[], RunSettings | None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._studio = context.studio
        self._settings = settings
        self._window = parent
        self._show_open_cost: Callable[[], None] | None = None
        context.actions.bind(commands.SWEEP, self.ask)
        context.actions.bind(commands.CANCEL_SWEEP, self.cancel)
        context.actions[commands.CANCEL_SWEEP].setEnabled(False)

    def handle(self, event: object) -> None:
        """Enable Cancel while pictures of a sweep are queued; follow the estimates."""
        match event:
            case QueueChanged():
                is_swept = self._pending_sweep is not None
                self._context.actions[commands.CANCEL_SWEEP].setEnabled(is_swept)
            case MemoryEstimated() if self._show_open_cost is not None:
                self._show_open_cost()

    def ask(self) -> None:
        """Open the dialog."""
        from spatialstudio.ui.run.sweep_dialog import SweepDialog

        settings = self._settings()
        if settings is None:
            return
        model = self._studio.model(settings.model_id)
        dialog = SweepDialog(
            sweep_fields(settings),
            lambda field: suggested_values(field, settings, model),
            self._current_prompt,
            self._window.window(),
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._show_open_cost = partial(self._show_cost, dialog, settings)
        dialog.finished.connect(self._forget)
        dialog.edited.connect(self._show_open_cost)
        dialog.asked.connect(lambda: self._draw(dialog, settings))
        self._show_open_cost()
        dialog.open()

    def _forget(self) -> None:
        self._show_open_cost = None

    def cancel(self) -> None:
        """Cancel the sweep that is running or first in the queue."""
        if (sweep_id := self._pending_sweep) is not None:
            self._studio.queue.cancel_sweep(sweep_id)

    @property
    def _pending_sweep(self) -> SweepId | None:
        pending = (entry for entry in self._studio.queue.entries if entry.state in PENDING)
        return next((entry.sweep_id for entry in pending if entry.sweep_id), None)

    def _show_cost(self, dialog: "SweepDialog", settings: RunSettings) -> None:
        try:
            requests = self._requests(dialog, settings)
        except StudioError as error:
            dialog.show_problem(f"{error.message} {error.hint}".strip())
            return
        estimate = self._studio.estimates.estimate(requests)
        weights = self._studio.model(settings.model_id).size_bytes
        lines = [cost_in_words(estimate, weights)]
        if kept := kept_in_words(estimate):
            said = tr("Recorded maps: {name}. {size}")
            lines.append(said.format(name=tr(settings.detail.title).lower(), size=kept))
        dialog.show_plan(len(requests), "\n".join(lines))

    def _draw(self, dialog: "SweepDialog", settings: RunSettings) -> None:
        try:
            requests = self._requests(dialog, settings)
            self._studio.queue.add(*requests)
        except StudioError as error:
            dialog.show_problem(f"{error.message} {error.hint}".strip())
            return
        dialog.accept()
        message = tr("Started a sweep of {count} pictures.").format(count=len(requests))
        sweep = requests[0].sweep
        assert sweep is not None
        self._context.toasts.offer(message, tr("Show the grid"), lambda: self._show(sweep.sweep_id))

    def _requests(
        self, dialog: "SweepDialog", settings: RunSettings
    ) -> tuple[GenerationRequest, ...]:
        chosen = (dialog.columns, dialog.rows)
        axes = [read_axis(axis.field, axis.values) for axis in chosen if axis.field is not None]
        model = self._studio.model(settings.model_id)
        scenes = [
            None
            if prompt == self._current_prompt
            else self._studio.parse_for_model(prompt, settings.model_id)
            for prompt in dialog.prompts or (self._current_prompt,)
        ]
        requests_of = [partial(self._studio.requests, scene=scene) for scene in scenes]
        return sweeps_of_prompts(plan_of(*axes), settings, model, requests_of)

    @property
    def _current_prompt(self) -> str:
        scene = self._studio.session.scene
        return "" if scene is None else " ".join(scene.prompt.text.split())

    def _show(self, sweep_id: SweepId) -> None:
        self._context.actions[GALLERY_WORKSPACE].trigger()
        self._context.gallery.sweep_asked.emit(sweep_id)
