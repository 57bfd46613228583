"""Saves and opens the settings of a run as files."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.widgets.texts import tr

KINDS = "*.json"


class SettingsFiles(QObject):
    """Saves the current settings and opens saved ones.

    Emits ``settings_opened`` with ``RunSettings`` whose model is available, and ``problem_met``
    with an ``ErrorReport``.

    Args:
        context: Services of the window; its commands are bound.
        settings: Returns the current settings; None while there is no model.
        parent: Parent of the dialogs.
    """

    settings_opened = Signal(object)
    problem_met = Signal(object)

    def __init__(
        self, context: WindowContext, settings: Callable[[], RunSettings | None], parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._studio = context.studio
        self._reading = context.reading
        self._settings = settings
        self._window = parent
        context.actions.bind(commands.SAVE_SETTINGS, self.save)
        context.actions.bind(commands.OPEN_SETTINGS, self.open)

    def save(self) -> None:
        """Ask for a file and write the current settings."""
        if (settings := self._settings()) is None:
            return
        start, title = str(self._folder / "settings.json"), tr("Save settings")
        path, _ = QFileDialog.getSaveFileName(self._window, title, start, KINDS)
        if path:
            try:
                self._studio.storage.write_settings(settings, Path(path))
            except StudioError as error:
                self.problem_met.emit(report_on(error, tr("Saving the settings")))

    def open(self) -> None:
        """Ask for a file and apply its settings."""
        start, title = str(self._folder), tr("Open settings")
        path, _ = QFileDialog.getOpenFileName(self._window, title, start, KINDS)
        if path:
            self._reading.read(
                Subject.SETTINGS,
                tr("Opening settings"),
                partial(self._studio.storage.read_settings, Path(path)),
                self._show,
                self.problem_met.emit,
            )

    def _show(self, settings: RunSettings) -> None:
        self._studio.model(settings.model_id)
        self.settings_opened.emit(settings)

    @property
    def _folder(self) -> Path:
        folder = self._studio.paths.settings / "presets"
        return folder if folder.is_dir() else self._studio.paths.settings
