"""Commands that belong to no dock: files, edits, appearance, help."""

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QDialogButtonBox,
    QDockWidget,
    QFileDialog,
    QMainWindow,
    QPlainTextEdit,
    QWidget,
)

from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.evaluate import commands as evaluate_commands
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.appearance import USUAL_PERCENT, Appearance
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.toasts import Toasts
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.framework.window_signals import PICTURES_PAGE
from spatialstudio.ui.gallery import commands as gallery_commands
from spatialstudio.ui.models import commands as models_commands
from spatialstudio.ui.run import commands as run_commands
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.widgets.toast_cards import Toast


def open_shortcuts(actions: Actions, window: QWidget) -> None:
    """Show all shortcuts on one sheet."""
    from spatialstudio.ui.window.shortcuts import ShortcutSheet

    ShortcutSheet(actions, window).open()


def open_tour(looks: Appearance, window: QWidget) -> None:
    """Show the tour, with light or dark pictures to match the theme."""
    from spatialstudio.ui.window.tour import TourDialog

    TourDialog(resources_folder(), looks.theme, window).open()


def open_guide(window: QWidget) -> None:
    """Show the user guide."""
    from spatialstudio.ui.window.guide import GUIDE_PAGE, GuideDialog

    GuideDialog(tr("User guide"), resources_folder(), GUIDE_PAGE, window).open()


def open_about(window: QWidget) -> None:
    """Show the program's version and the third-party notices."""
    from importlib.metadata import PackageNotFoundError, version  # slow to import

    from spatialstudio.ui.window.guide import NOTICES_PAGE, GuideDialog

    try:
        title = tr("About Spatial Studio {version}").format(version=version("spatialstudio"))
    except PackageNotFoundError:
        title = tr("About Spatial Studio")
    GuideDialog(title, resources_folder(), NOTICES_PAGE, window).open()


def open_messages(toasts: Toasts, window: QWidget) -> None:
    """Show earlier messages."""
    MessageList(toasts.earlier, window).open()


def open_settings(context: WindowContext, looks: Appearance, window: QWidget, page: str) -> None:
    """Open the settings at the page with this title; empty for the first."""
    from spatialstudio.ui.window.settings_dialog import SettingsDialog
    from spatialstudio.ui.window.settings_pages import settings_pages

    dialog = SettingsDialog(settings_pages(context, looks), window)
    dialog.show_page(page)
    dialog.open()


def open_models(context: WindowContext, window: QWidget, names: Collection[str] = ()) -> None:
    """Open the Models page, or show it again; with these models only, unless there are none."""
    from spatialstudio.ui.models.models_dialog import ModelsDialog

    dialog = next(iter(window.findChildren(ModelsDialog)), None)
    if dialog is None:
        reported = context.window_signals.models_reported
        dialog = ModelsDialog(
            context.studio.downloads,
            reported,
            lambda: [card.id for card in context.studio.models],
            window,
        )
        dialog.model_picked.connect(partial(_generate_with, context))
        dialog.model_picked.connect(dialog.close)
    dialog.show_only(names)
    dialog.show()
    dialog.raise_()


def _generate_with(context: WindowContext, model_id: str) -> None:
    """Choose a model for the next pictures, and say so, as the simple form does not show it."""
    context.window_signals.model_wanted.emit(model_id)
    title = context.studio.model(model_id).title
    context.toasts.tell(tr("Pictures are generated with {model}.").format(model=title))


def shown_settings(window: QWidget) -> tuple[str, ...]:
    """Return the titles of the open settings pages."""
    from spatialstudio.ui.window.settings_dialog import SettingsDialog

    dialogs = window.findChildren(SettingsDialog)
    return tuple(dialog.page for dialog in dialogs if dialog.isVisible())


def go_to_part(window: QMainWindow, by: int) -> None:
    """Focus the first control of the next visible part of the window.

    Args:
        window: The window.
        by: 1 for the next part, -1 for the previous one.
    """
    parts = [part for part in _parts_of(window) if _first_stop(part) is not None]
    now = QApplication.focusWidget()
    own = [n for n, part in enumerate(parts) if now and (now is part or part.isAncestorOf(now))]
    start = own[0] if own else (-1 if by > 0 else 0)
    if parts:
        focus_part(parts[(start + by) % len(parts)])


def focus_part(part: QWidget) -> None:
    """Focus the first control of a part of the window."""
    if (stop := _first_stop(part)) is not None:
        stop.setFocus(Qt.FocusReason.TabFocusReason)


def _parts_of(window: QMainWindow) -> Sequence[QWidget]:
    """Return the visible parts: the centre, then the docks at the sides and below."""
    docks = [
        each for each in window.findChildren(QDockWidget) if not each.visibleRegion().isEmpty()
    ]
    docks.sort(key=lambda dock: (_side_of(window, dock), dock.y(), dock.x()))
    return [part for part in (window.centralWidget(), *(dock.widget() for dock in docks)) if part]


def _side_of(window: QMainWindow, dock: QDockWidget) -> int:
    sides = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)
    area = window.dockWidgetArea(dock)
    return sides.index(area) if area in sides else len(sides)


def _first_stop(part: QWidget) -> QWidget | None:
    """Return the topmost tab stop of a part; None if it has none."""
    if _is_stop(part):
        return part
    stops = [widget for widget in part.findChildren(QWidget) if _is_stop(widget)]
    return min(stops, key=lambda widget: _place(part, widget), default=None)


def _place(part: QWidget, widget: QWidget) -> tuple[int, int]:
    corner = widget.mapTo(part, QPoint(0, 0))
    return corner.y(), corner.x()


def _is_stop(widget: QWidget) -> bool:
    takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
    return takes_keys and widget.isVisible() and widget.isEnabled()


PICTURES = "*.png *.jpg *.jpeg *.webp *.bmp *.tif *.tiff"
RUN_FILES = "*.png *.strace *.json"


class WindowCommands(QObject):
    """Binds the commands that belong to no dock: files, edits, appearance, help.

    Args:
        window: Parent of the dialogs.
        context: Its actions are bound.
        appearance: Theme and text size.
    """

    def __init__(self, window: QMainWindow, context: WindowContext, appearance: Appearance) -> None:
        super().__init__(context.actions)  # Qt disconnects it where the stack outlives the actions
        self._window = window
        self._context = context
        self._looks = appearance
        self._bind()
        self._bind_edits()
        self._bind_switches()
        appearance.chosen.connect(self._show_looks)
        self._show_looks()

    def _bind(self) -> None:
        context, window, looks = self._context, self._window, self._looks
        actions, stage = context.actions, context.stage
        settings_asked = context.window_signals.settings_asked
        show_layers = {
            command: partial(stage.toggle, layer)
            for command, layer in evaluate_commands.LAYER_COMMANDS.items()
        }
        actions.bind_all(
            {
                framework_commands.OPEN_PICTURE: self._choose_picture,
                framework_commands.OPEN_RUN: self._choose_run,
                framework_commands.SHOW_FOLDER: self._show_folder,
                run_commands.MODELS_FOLDER: self._show_models_folder,
                models_commands.MODELS: partial(open_models, context, window),
                framework_commands.SETTINGS: lambda: settings_asked.emit(""),
                framework_commands.LIBRARY_FOLDER: lambda: settings_asked.emit(PICTURES_PAGE),
                framework_commands.QUIT: window.close,
                evaluate_commands.FIT: stage.fit,
                **show_layers,
                framework_commands.LARGER_TEXT: partial(looks.step_text, 1),
                framework_commands.SMALLER_TEXT: partial(looks.step_text, -1),
                framework_commands.NORMAL_TEXT: partial(looks.use_text_percent, USUAL_PERCENT),
                framework_commands.NEXT_PART: partial(go_to_part, window, 1),
                framework_commands.PREVIOUS_PART: partial(go_to_part, window, -1),
                framework_commands.TOUR: partial(open_tour, looks, window),
                framework_commands.SHORTCUTS: partial(open_shortcuts, actions, window),
                framework_commands.GUIDE: partial(open_guide, window),
                framework_commands.ABOUT: partial(open_about, window),
                framework_commands.MESSAGES: partial(open_messages, context.toasts, window),
            }
        )

    def _bind_edits(self) -> None:
        actions, edits = self._context.actions, self._context.edits
        undo, redo = framework_commands.UNDO, framework_commands.REDO
        for command, do, can in (
            (undo, edits.undo, edits.canUndoChanged),
            (redo, edits.redo, edits.canRedoChanged),
        ):
            actions.bind(command, do)
            actions[command].setEnabled(False)
            can.connect(actions[command].setEnabled)
        edits.undoTextChanged.connect(self._name_undo)
        edits.redoTextChanged.connect(self._name_redo)

    def _name_undo(self, name: str) -> None:
        self._name_edit(framework_commands.UNDO, name)

    def _name_redo(self, name: str) -> None:
        self._name_edit(framework_commands.REDO, name)

    def _name_edit(self, command: Command, name: str) -> None:
        text = tr(command.text)
        self._context.actions[command].setText(f"{text}: {name}" if name else text)

    def _bind_switches(self) -> None:
        actions, looks = self._context.actions, self._looks
        actions.bind_switch(gallery_commands.MARK_PICTURES, self._mark_pictures)
        self._mark_pictures(self._context.settings.marks_pictures)
        actions.bind_switch(
            framework_commands.DARK,
            lambda on: looks.choose(ThemeChoice.DARK if on else ThemeChoice.LIGHT),
        )
        actions.bind_switch(
            framework_commands.HIGH_CONTRAST,
            lambda on: looks.choose(ThemeChoice.HIGH_CONTRAST if on else ThemeChoice.SYSTEM),
        )

    def _show_looks(self) -> None:
        actions, looks = self._context.actions, self._looks
        high = looks.choice is ThemeChoice.HIGH_CONTRAST
        actions[framework_commands.HIGH_CONTRAST].setChecked(high)
        actions[framework_commands.DARK].setChecked(looks.theme.palette.is_dark and not high)

    def _mark_pictures(self, marks: bool) -> None:
        """Set and store whether new pictures carry an AI-generation mark."""
        self._context.settings.marks_pictures = marks
        self._context.studio.storage.marks_pictures = marks
        self._context.actions[gallery_commands.MARK_PICTURES].setChecked(marks)

    def _choose_picture(self) -> None:
        kinds = f"{tr('Pictures')} ({PICTURES})"
        path, _ = QFileDialog.getOpenFileName(self._window, tr("Judge a picture"), "", kinds)
        if path:
            self._context.window_signals.path_offered.emit(Path(path))

    def _choose_run(self) -> None:
        start = str(self._context.studio.runs_folder)
        kinds = f"{tr('Runs')} ({RUN_FILES})"
        path, _ = QFileDialog.getOpenFileName(self._window, tr("Open a run"), start, kinds)
        if path:
            self._context.window_signals.path_offered.emit(Path(path))

    def _show_folder(self) -> None:
        run = self._context.studio.session.run
        if run is not None and run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.folder)))

    def _show_models_folder(self) -> None:
        """Show the user's models folder, creating it if needed."""
        folder = self._context.studio.paths.models
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            message = tr("The models folder cannot be created: {why}.").format(why=error.strerror)
            self._context.toasts.tell(message)
            return
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
        put = tr("Refresh the model list after adding models.")
        self._context.toasts.offer(
            put, tr("Refresh"), self._context.actions[run_commands.FIND_MODELS].trigger
        )


SIZE_EM = (42, 26)


class MessageList(TitledDialog):
    """Shows messages, the newest first, with their details."""

    def __init__(self, toasts: tuple[Toast, ...], parent: QWidget | None = None) -> None:
        super().__init__(tr("Message history"), parent)
        said = "\n\n".join(
            "\n".join(filter(None, (toast.message, toast.hint, toast.details)))
            for toast in reversed(toasts)
        )
        self._text = QPlainTextEdit(said or tr("No messages yet."), readOnly=True)
        self._text.setAccessibleName(tr("Message history"))
        buttons = self.buttons()
        copy = buttons.addButton(tr("Copy all"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setEnabled(bool(said))
        copy.clicked.connect(self._copy)
        column(self._text, buttons, within=self, edges=None)
        give_room(self, SIZE_EM)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())
