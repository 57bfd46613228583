"""What belongs to no dock and can be done all the same: files, edits, looks, help."""

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMainWindow

from spatialstudio.ui.appearance import USUAL_PERCENT, Appearance
from spatialstudio.ui.commands import evaluate, frame, gallery, generate
from spatialstudio.ui.commands.command import Command
from spatialstudio.ui.panel_api import WindowContext
from spatialstudio.ui.part_keys import go_to_part
from spatialstudio.ui.switchboard import PICTURES_PAGE
from spatialstudio.ui.texts import tr
from spatialstudio.ui.window_dialogs import (
    open_messages,
    open_palette,
    open_shortcuts,
    open_tour,
)
from spatialstudio.ui.window_settings import ThemeChoice

PICTURES = "*.png *.jpg *.jpeg *.webp *.bmp *.tif *.tiff"


class WindowCommands(QObject):
    """Binds the commands that belong to no dock: files, edits, looks, help.

    Args:
        window: Stands behind the dialogs.
        context: Its actions are bound.
        appearance: Colours and size of the text.
    """

    def __init__(self, window: QMainWindow, context: WindowContext, appearance: Appearance) -> None:
        super().__init__()
        self._window = window
        self._context = context
        self._looks = appearance
        self._bind_files()
        self._bind_edits()
        self._bind_stage()
        self._bind_looks()
        self._bind_help()
        appearance.chosen.connect(self._show_looks)
        self._show_looks()

    def _bind_files(self) -> None:
        actions, window = self._context.actions, self._window
        actions.bind(frame.OPEN_PICTURE, self._choose_picture)
        actions.bind(frame.OPEN_RUN, self._choose_run)
        actions.bind(frame.SHOW_FOLDER, self._show_folder)
        actions.bind(generate.MODELS_FOLDER, self._show_models_folder)
        settings_asked = self._context.switchboard.settings_asked
        actions.bind(frame.SETTINGS, lambda: settings_asked.emit(""))
        actions.bind(frame.QUIT, window.close)
        actions.bind(gallery.LIBRARY_FOLDER, lambda: settings_asked.emit(PICTURES_PAGE))
        actions.bind_switch(gallery.MARK_PICTURES, self._mark_pictures)
        self._mark_pictures(self._context.settings.marks_pictures)

    def _bind_edits(self) -> None:
        actions, edits = self._context.actions, self._context.edits
        for command, do, can in (
            (frame.UNDO, edits.undo, edits.canUndoChanged),
            (frame.REDO, edits.redo, edits.canRedoChanged),
        ):
            actions.bind(command, do)
            actions[command].setEnabled(False)
            can.connect(actions[command].setEnabled)
        edits.undoTextChanged.connect(partial(self._name_edit, frame.UNDO))
        edits.redoTextChanged.connect(partial(self._name_edit, frame.REDO))

    def _name_edit(self, command: Command, name: str) -> None:
        text = tr(command.text)
        self._context.actions[command].setText(f"{text}: {name}" if name else text)

    def _bind_stage(self) -> None:
        actions, stage = self._context.actions, self._context.stage
        actions.bind(evaluate.FIT, stage.fit)
        for command, layer in evaluate.LAYER_COMMANDS.items():
            actions.bind(command, partial(stage.toggle, layer))

    def _bind_looks(self) -> None:
        actions, looks = self._context.actions, self._looks
        actions.bind_switch(
            frame.DARK, lambda on: looks.choose(ThemeChoice.DARK if on else ThemeChoice.LIGHT)
        )
        actions.bind_switch(
            frame.HIGH_CONTRAST,
            lambda on: looks.choose(ThemeChoice.HIGH_CONTRAST if on else ThemeChoice.SYSTEM),
        )
        actions.bind(frame.LARGER_TEXT, partial(looks.step_text, 1))
        actions.bind(frame.SMALLER_TEXT, partial(looks.step_text, -1))
        actions.bind(frame.NORMAL_TEXT, partial(looks.use_text_percent, USUAL_PERCENT))

    def _bind_help(self) -> None:
        actions, window, toasts = self._context.actions, self._window, self._context.toasts
        actions.bind(frame.NEXT_PART, partial(go_to_part, window, 1))
        actions.bind(frame.PREVIOUS_PART, partial(go_to_part, window, -1))
        actions.bind(frame.PALETTE, partial(open_palette, actions, window))
        actions.bind(frame.TOUR, partial(open_tour, self._looks, window))
        actions.bind(frame.SHORTCUTS, partial(open_shortcuts, actions, window))
        actions.bind(frame.MESSAGES, partial(open_messages, toasts, window))

    def _show_looks(self) -> None:
        actions, looks = self._context.actions, self._looks
        high = looks.choice is ThemeChoice.HIGH_CONTRAST
        actions[frame.HIGH_CONTRAST].setChecked(high)
        actions[frame.DARK].setChecked(looks.theme.palette.is_dark and not high)

    def _mark_pictures(self, marks: bool) -> None:
        """Have new pictures say that a model drew them, now and at the next start."""
        self._context.settings.marks_pictures = marks
        self._context.studio.keeping.marks_pictures = marks
        self._context.actions[gallery.MARK_PICTURES].setChecked(marks)

    def _choose_picture(self) -> None:
        kinds = f"{tr('Pictures')} ({PICTURES})"
        path, _ = QFileDialog.getOpenFileName(self._window, tr("Judge a picture"), "", kinds)
        if path:
            self._context.switchboard.path_offered.emit(Path(path))

    def _choose_run(self) -> None:
        start = str(self._context.studio.runs_folder)
        folder = QFileDialog.getExistingDirectory(self._window, tr("Open a run"), start)
        if folder:
            self._context.switchboard.path_offered.emit(Path(folder))

    def _show_folder(self) -> None:
        run = self._context.studio.session.run
        if run is not None and run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.folder)))

    def _show_models_folder(self) -> None:
        """Show where the user's models are looked for; the folder is made on first need."""
        folder = self._context.studio.paths.models
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            told = tr("The folder for models cannot be made: {why}.").format(why=error.strerror)
            self._context.toasts.tell(told)
            return
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
        put = tr("Models that you put there are found once they are looked for again.")
        self._context.toasts.offer(
            put, tr("Look again"), self._context.actions[generate.FIND_MODELS].trigger
        )
