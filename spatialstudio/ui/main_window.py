"""The window: one stage, workspaces around it, all that happens told to all who care."""

from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QActionGroup, QCloseEvent, QDesktopServices
from PySide6.QtWidgets import QFileDialog, QMainWindow

from spatialstudio.application.error_reports import report_on
from spatialstudio.domain.errors import PromptError, StudioError
from spatialstudio.ui.appearance import USUAL_PERCENT, Appearance
from spatialstudio.ui.bridge import Bridge
from spatialstudio.ui.commands import evaluate, frame
from spatialstudio.ui.dialogs.command_palette import CommandPalette
from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet
from spatialstudio.ui.dock_rack import DockRack
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.generation_panel import GenerationPanel
from spatialstudio.ui.panels.progress_panel import ProgressPanel
from spatialstudio.ui.panels.prompt_panel import PromptPanel
from spatialstudio.ui.panels.stage_panel import StagePanel
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.toast_stack import ToastStack
from spatialstudio.ui.window_bar import WindowBar
from spatialstudio.ui.window_settings import Density, ThemeChoice
from spatialstudio.ui.workspaces.registry import WORKSPACES
from spatialstudio.ui.workspaces.workspace import Workspace

Kind = TypeVar("Kind", bound=Panel)

SIZE_EM = (90, 56)
PICTURES = "*.png *.jpg *.jpeg *.webp *.bmp *.tif *.tiff"


class MainWindow(QMainWindow):
    """Joins stage, workspaces, commands and the studio.

    Args:
        context: What the panels work with.
        appearance: Colours and size of the text.
    """

    def __init__(self, context: WindowContext, appearance: Appearance) -> None:
        super().__init__()
        self.setWindowTitle("Spatial Studio")
        self.context = context
        self._appearance = appearance
        self._panels: list[Panel] = []
        self._bridge = Bridge(context.studio.bus, context.studio.session)
        self._rack = DockRack(self, context, self.serve)
        self._workspace: Workspace | None = None
        self._layers = {workspace.id: workspace.layers for workspace in WORKSPACES}
        self._overlays = {each.id: each.make_overlays(context) for each in WORKSPACES}
        self.stage = StagePanel(context)
        self._bar = WindowBar(self, context.actions, self._rack, WORKSPACES)
        self._lay_out()
        self._connect()
        self._bind_commands()
        self._bind_looks()
        known = {workspace.id: workspace for workspace in WORKSPACES}
        self.use_workspace(known.get(context.settings.workspace, WORKSPACES[0]))
        self._place()
        self.prompt.setFocus()

    @property
    def prompt(self) -> PromptPanel:
        """Where the prompt is written."""
        return self.panel(PromptPanel)

    @property
    def generation(self) -> GenerationPanel:
        """Where a picture is asked for."""
        return self.panel(GenerationPanel)

    def panel(self, kind: type[Kind]) -> Kind:
        """Return the panel of a kind; its dock is made when it was never needed before.

        Raises:
            LookupError: No dock of any workspace holds one.
        """
        plans = iter(plan for workspace in WORKSPACES for plan in workspace.docks)
        while True:
            for panel in self._panels:
                if isinstance(panel, kind):
                    return panel
            if (plan := next(plans, None)) is None:
                raise LookupError(kind.__name__)
            self._rack.make(plan)

    def serve(self, panel: Panel) -> None:
        """Take in one more panel: tell it what happens, and tell of its problems."""
        self._panels.append(panel)
        panel.problem_met.connect(self.context.toasts.report)
        panel.use_density(self.context.settings.density)
        self._bridge.serve(panel)

    def get_ready(self) -> None:
        """Start the engine, read the prompt that stood there last, make the other docks."""
        self.context.studio.start()
        self.prompt.restore()
        QTimer.singleShot(0, self, self._make_all)

    def use_workspace(self, workspace: Workspace) -> None:
        """Show a workspace's docks, tools and overlays; picture, step and zoom stay."""
        if self._workspace is not None:
            self._layers[self._workspace.id] = self.context.stage.layers
        self._workspace = workspace
        settings, stage = self.context.settings, self.context.stage
        settings.workspace = workspace.id
        self._rack.put_up(workspace, settings.density)
        self._bar.show_workspace(workspace)
        self.context.actions[frame.STAGE_ONLY].setChecked(False)
        stage.show_layers(self._layers[workspace.id])
        stage.show_overlays(self._overlays[workspace.id])

    def use_density(self, density: Density) -> None:
        """Show the simple window or the full one."""
        self.context.settings.density = density
        self.context.actions[frame.ALL_CONTROLS].setChecked(density is Density.FULL)
        for panel in self._panels:
            panel.use_density(density)
        if self._workspace is not None:
            self._rack.put_up(self._workspace, density)

    def open_path(self, path: Path) -> None:
        """Open what was dropped or chosen: a run's folder, or a picture to judge."""
        self.context.toasts.clear()
        try:
            if path.is_dir():
                self.context.studio.open_run(path)
            else:
                self._judge(path)
        except StudioError as error:
            title = tr("Opening {name}").format(name=path.name)
            self.context.toasts.report(report_on(error, title))

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remember how things stand and stop all work before the window goes."""
        self._rack.keep_layout()
        self.context.settings.geometry = self.saveGeometry()
        self.context.settings.write()
        self._bridge.close()
        self.context.studio.close()
        super().closeEvent(event)

    def _make_all(self) -> None:
        for workspace in WORKSPACES:
            for plan in workspace.docks:
                self._rack.make(plan)

    def _judge(self, path: Path) -> None:
        scene = self.context.studio.session.scene
        if scene is None:
            raise PromptError(
                "There is no prompt to judge the picture against.",
                hint='First write what it shall show, for example "a dog left of a car".',
            )
        self.context.studio.judge_picture(path, scene)

    def _lay_out(self) -> None:
        self.setCentralWidget(self.stage)
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        progress = ProgressPanel(self.context)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(progress, 1)
        self._toasts = ToastStack(self.context.theme, self.stage)
        for panel in (self.stage, progress):
            self.serve(panel)

    def _place(self) -> None:
        geometry = self.context.settings.geometry
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            self.resize(*(em(side) for side in SIZE_EM))

    def _connect(self) -> None:
        toasts, switchboard = self.context.toasts, self.context.switchboard
        toasts.told.connect(self._toasts.show_toast)
        toasts.cleared.connect(self._toasts.clear)
        switchboard.path_offered.connect(self.open_path)
        switchboard.workspace_asked.connect(self._go_to)

    def _go_to(self, workspace_id: str) -> None:
        for workspace in WORKSPACES:
            if workspace.id == workspace_id:
                self.use_workspace(workspace)

    def _bind_commands(self) -> None:
        actions, edits, stage = self.context.actions, self.context.edits, self.context.stage
        actions.bind(frame.OPEN_PICTURE, self._choose_picture)
        actions.bind(frame.OPEN_RUN, self._choose_run)
        actions.bind(frame.SHOW_FOLDER, self._show_folder)
        actions.bind(frame.QUIT, self.close)
        for command, do, can, changed in (
            (frame.UNDO, edits.undo, edits.canUndo, edits.canUndoChanged),
            (frame.REDO, edits.redo, edits.canRedo, edits.canRedoChanged),
        ):
            actions.bind(command, do)
            actions[command].setEnabled(can())
            changed.connect(actions[command].setEnabled)
        actions.bind(frame.PALETTE, lambda: CommandPalette(actions, self).open())
        actions.bind(frame.SHORTCUTS, lambda: ShortcutSheet(actions, self).open())
        actions.bind(evaluate.FIT, stage.fit)
        for command, layer in evaluate.LAYER_COMMANDS.items():
            actions.bind(command, partial(stage.toggle, layer))
        group = QActionGroup(self)
        for workspace in WORKSPACES:
            group.addAction(actions[workspace.command])
            actions.bind(workspace.command, partial(self.use_workspace, workspace))

    def _bind_looks(self) -> None:
        actions, looks = self.context.actions, self._appearance
        actions.bind_switch(frame.STAGE_ONLY, self._rack.hide_all)
        actions.bind(frame.RESET_LAYOUT, self._rack.put_back)
        actions.bind_switch(
            frame.ALL_CONTROLS,
            lambda full: self.use_density(Density.FULL if full else Density.SIMPLE),
        )
        full = self.context.settings.density is Density.FULL
        actions[frame.ALL_CONTROLS].setChecked(full)
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
        looks.chosen.connect(self._show_looks)
        self._show_looks()

    def _show_looks(self) -> None:
        actions, looks = self.context.actions, self._appearance
        high = looks.choice is ThemeChoice.HIGH_CONTRAST
        actions[frame.HIGH_CONTRAST].setChecked(high)
        actions[frame.DARK].setChecked(looks.theme.palette.is_dark and not high)

    def _choose_picture(self) -> None:
        kinds = f"{tr('Pictures')} ({PICTURES})"
        path, _ = QFileDialog.getOpenFileName(self, tr("Judge a picture"), "", kinds)
        if path:
            self.open_path(Path(path))

    def _choose_run(self) -> None:
        start = str(self.context.studio.runs_folder)
        if folder := QFileDialog.getExistingDirectory(self, tr("Open a run"), start):
            self.open_path(Path(folder))

    def _show_folder(self) -> None:
        run = self.context.studio.session.run
        if run is not None and run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.folder)))
