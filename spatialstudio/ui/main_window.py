"""The window: one stage, docks around it, menus made from the actions."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QUrl
from PySide6.QtGui import QAction, QActionGroup, QCloseEvent, QDesktopServices
from PySide6.QtWidgets import (
    QDockWidget,
    QFileDialog,
    QHBoxLayout,
    QMainWindow,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import PromptError, StudioError
from spatialstudio.ui.actions import ACTIONS, LAYER_COMMANDS, Actions, Command, Menu
from spatialstudio.ui.bridge import Bridge
from spatialstudio.ui.dialogs.shortcut_sheet import ShortcutSheet
from spatialstudio.ui.panel_api import Panel
from spatialstudio.ui.panels.attention_panel import AttentionPanel
from spatialstudio.ui.panels.details_panel import DetailsPanel
from spatialstudio.ui.panels.evaluation_panel import EvaluationPanel
from spatialstudio.ui.panels.generation_panel import GenerationPanel
from spatialstudio.ui.panels.layers_panel import LayersPanel
from spatialstudio.ui.panels.progress_panel import ProgressPanel
from spatialstudio.ui.panels.prompt_panel import PromptPanel
from spatialstudio.ui.panels.stage_panel import StagePanel
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.dock_column import DockColumn
from spatialstudio.ui.widgets.dock_title import DockTitle
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.workspaces import GENERATE, STAGE_ONLY, WORKSPACES, Dock, Workspace

PROMPT_EM, RESULT_EM, ATTENTION_EM = 19, 18, 17.5
PICTURES = "Pictures (*.png *.jpg *.jpeg *.webp *.bmp *.tif *.tiff)"
FAR_STEPS = 10_000


class MainWindow(QMainWindow):
    """Joins panels, actions and the studio.

    Args:
        studio: Asked for everything; started by whoever made it.
        theme: The look; its switch is ``switch_theme``'s.
        switch_theme: Takes True for dark.
    """

    def __init__(self, studio: Studio, theme: Theme, switch_theme: Callable[[bool], None]) -> None:
        super().__init__()
        self.setWindowTitle("Spatial Studio")
        self._studio = studio
        self._theme = theme
        self._switch_theme = switch_theme
        self._actions = Actions(theme)
        self._bridge = Bridge(studio.bus, studio.session)
        self.prompt = PromptPanel(studio, theme)
        self.generation = GenerationPanel(studio, theme)
        self.stage = StagePanel(studio, theme)
        self.attention = AttentionPanel(studio, theme)
        self.evaluation = EvaluationPanel(studio, theme)
        self.layers = LayersPanel()
        self.details = DetailsPanel()
        self.progress = ProgressPanel(studio)
        self._docks: dict[Dock, QDockWidget] = {}
        self._workspace = self._docked = GENERATE
        self._lay_out()
        self._connect_panels()
        self._connect_actions()
        self._make_menus()
        self.use_workspace(GENERATE)
        self.prompt.setFocus()
        theme.changed.connect(self._dress)
        self._dress()

    def use_workspace(self, workspace: Workspace) -> None:
        """Show a workspace's docks; the stage stays as it is. Stage only twice is back again."""
        if workspace is STAGE_ONLY and self._workspace is STAGE_ONLY:
            workspace = self._docked
        if workspace is not STAGE_ONLY:
            self._docked = workspace
        self._workspace = workspace
        for name, dock in self._docks.items():
            dock.setVisible(name in workspace.docks)
        self._actions[workspace.command].setChecked(True)

    def open_path(self, path: Path) -> None:
        """Open what was dropped or chosen: a run's folder, or a picture to judge."""
        self.stage.clear_error()
        try:
            if path.is_dir():
                self._studio.open_run(path)
            else:
                self._judge(path)
        except StudioError as error:
            self.stage.show_error(report_on(error, f"Opening {path.name}"))

    def serve(self, panel: Panel) -> None:
        """Hand events to one more panel, and show its problems."""
        self._bridge.serve(panel)
        panel.problem_met.connect(self.stage.show_error)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stop all work before the window goes."""
        self._bridge.close()
        self._studio.close()
        super().closeEvent(event)

    def _judge(self, path: Path) -> None:
        scene = self._studio.session.scene
        if scene is None:
            raise PromptError(
                "There is no prompt to judge the picture against.",
                hint='First write what it shall show, for example "a dog left of a car".',
            )
        self._studio.judge_picture(path, scene)

    def _lay_out(self) -> None:
        self.setCentralWidget(self.stage)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        prompt = _over(DockColumn(self.prompt, self.generation), self.generation.buttons)
        result = DockColumn(self.evaluation, _section(self.layers), _section(self.details))
        areas = Qt.DockWidgetArea
        self._add_dock(Dock.PROMPT, areas.LeftDockWidgetArea, prompt)
        self._add_dock(Dock.RESULT, areas.RightDockWidgetArea, result)
        self._add_dock(Dock.ATTENTION, areas.BottomDockWidgetArea, self.attention)
        across, down = Qt.Orientation.Horizontal, Qt.Orientation.Vertical
        sides = [self._docks[Dock.PROMPT], self._docks[Dock.RESULT]]
        self.resizeDocks(sides, [em(PROMPT_EM), em(RESULT_EM)], across)
        self.resizeDocks([self._docks[Dock.ATTENTION]], [em(ATTENTION_EM)], down)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(self.progress, 1)

    def _add_dock(self, name: Dock, area: Qt.DockWidgetArea, content: QWidget) -> None:
        dock = QDockWidget(name.value, self)
        dock.setObjectName(name.name)
        dock.setTitleBarWidget(DockTitle(self._theme, dock))
        dock.setWidget(content)
        self.addDockWidget(area, dock)
        self._docks[name] = dock

    def _connect_panels(self) -> None:
        panels: tuple[Panel, ...] = (
            *(self.prompt, self.generation, self.stage, self.attention),
            *(self.evaluation, self.details, self.progress),
        )
        for panel in panels:
            self.serve(panel)
        self.stage.example_picked.connect(self.prompt.use_prompt)
        self.stage.file_dropped.connect(self.open_path)
        self.layers.layers_picked.connect(self.stage.show_layers)
        self.layers.smoothing_picked.connect(self.stage.show_smooth)
        self.generation.model_picked.connect(self.prompt.use_model)
        self.generation.running_changed.connect(self._show_running)

    def _connect_actions(self) -> None:
        replay = self.attention.replay
        by_hand: dict[Command, Callable[[], object]] = {
            Command.OPEN_PICTURE: self._choose_picture,
            Command.OPEN_RUN: self._choose_run,
            Command.SHOW_FOLDER: self._show_folder,
            Command.QUIT: self.close,
            Command.GENERATE: self.generation.generate,
            Command.CANCEL: self.generation.cancel,
            Command.BASELINE: self.generation.toggle_baseline,
            Command.NEW_SEED: self.generation.roll_seed,
            Command.PLAY: replay.toggle_play,
            Command.PREVIOUS: partial(replay.go_by, -1),
            Command.NEXT: partial(replay.go_by, 1),
            Command.BACK_FIVE: partial(replay.go_by, -5),
            Command.ON_FIVE: partial(replay.go_by, 5),
            Command.FIRST: partial(replay.go_by, -FAR_STEPS),
            Command.LAST: partial(replay.go_by, FAR_STEPS),
            Command.LIVE: self._studio.session.go_live,
            Command.FIT: self.stage.fit,
            Command.SHORTCUTS: self._show_shortcuts,
        }
        for command, layer in LAYER_COMMANDS.items():
            by_hand[command] = partial(self.layers.toggle, layer)
        for command, do in by_hand.items():
            self._actions[command].triggered.connect(_without_argument(do))
        self._actions[Command.DARK].toggled.connect(self._switch_theme)
        group = QActionGroup(self)
        for workspace in WORKSPACES:
            action = group.addAction(self._actions[workspace.command])
            action.triggered.connect(_without_argument(partial(self.use_workspace, workspace)))
        for command, action in self._actions.of_menu(Menu.REPLAY):
            self.stage.pictures.addAction(action)
            if command is not Command.PLAY:  # Space also presses the dock's buttons
                self.attention.addAction(action)

    def _make_menus(self) -> None:
        for menu in Menu:
            made = self.menuBar().addMenu(menu.value)
            for command, action in self._actions.of_menu(menu):
                if ACTIONS[command].starts_group:
                    made.addSeparator()
                made.addAction(action)
            if menu is Menu.VIEW:
                made.addSeparator()
                for dock in self._docks.values():
                    made.addAction(dock.toggleViewAction())
        corner = self._corner()
        self.menuBar().setCornerWidget(corner, Qt.Corner.TopRightCorner)
        corner.show()

    def _corner(self) -> QWidget:
        corner = QWidget(self.menuBar())  # the menu bar alone would not keep it alive
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 0, em(0.5), 0)
        row.setSpacing(em(0.2))
        for workspace in WORKSPACES[:-1]:
            row.addWidget(_button(self._actions[workspace.command], "segment"))
        row.addSpacing(em(0.8))
        for command in (Command.STAGE_ONLY, Command.DARK, Command.SHORTCUTS):
            row.addWidget(_button(self._actions[command], "icon"))
        return corner

    def _show_running(self, running: bool) -> None:
        self._actions[Command.GENERATE].setEnabled(not running)
        self._actions[Command.CANCEL].setEnabled(running)
        if running:
            self.stage.clear_error()

    def _choose_picture(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Judge a picture", "", PICTURES)
        if path:
            self.open_path(Path(path))

    def _choose_run(self) -> None:
        start = str(self._studio.runs_folder)
        if folder := QFileDialog.getExistingDirectory(self, "Open a run", start):
            self.open_path(Path(folder))

    def _show_folder(self) -> None:
        run = self._studio.session.run
        if run is not None and run.folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(run.folder)))

    def _show_shortcuts(self) -> None:
        ShortcutSheet(self).open()

    def _dress(self) -> None:
        self._actions[Command.DARK].setChecked(self._theme.palette.is_dark)


def _without_argument(do: Callable[[], object]) -> Callable[[bool], None]:
    """Return a slot for ``triggered`` that lets the checked state pass."""

    def slot(_checked: bool) -> None:
        do()

    return slot


def _button(action: QAction, kind: str) -> QToolButton:
    button = QToolButton()
    button.setDefaultAction(action)
    button.setProperty("kind", kind)
    button.setAccessibleName(action.text())
    button.setIconSize(QSize(em(1.15), em(1.15)))
    if kind == "icon":
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    return button


def _over(content: QWidget, foot: QWidget) -> QWidget:
    """Return content over a foot that is always in sight, close under it where there is room."""
    both = QWidget()
    column = QVBoxLayout(both)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(content)
    column.addWidget(foot)
    column.addStretch(1)
    return both


def _section(panel: Panel) -> QWidget:
    """Return a panel under its title."""
    section = QWidget()
    column = QVBoxLayout(section)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(em(0.5))
    column.addWidget(TextLabel(panel.title, Tone.HEADING))
    column.addWidget(panel)
    return section
