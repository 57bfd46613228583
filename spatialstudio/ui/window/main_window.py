"""The main window: connects the stage, the workspaces, and the studio's events."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QByteArray, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QActionGroup,
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QDialog,
    QDockWidget,
    QMainWindow,
    QStackedWidget,
    QStatusBar,
    QWidget,
)

from spatialstudio.application.evaluate.pictures import ForeignPicture
from spatialstudio.application.models.model_lists import is_model_file
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.compose.prompt_panel import PromptPanel
from spatialstudio.ui.compose.sketch_panel import SketchPanel
from spatialstudio.ui.evaluate.evidence_presenter import EvidenceStage
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.appearance import Appearance
from spatialstudio.ui.framework.bridge import Bridge
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.framework.workspace import DockPlan, Workspace
from spatialstudio.ui.inspect.readout_panel import ReadoutPanel
from spatialstudio.ui.inspect.word_bar import WordBar
from spatialstudio.ui.run.failure_actions import remedies_for, report_with_remedies
from spatialstudio.ui.run.generation_panel import GenerationPanel
from spatialstudio.ui.run.progress_panel import ProgressPanel
from spatialstudio.ui.stage.stage_panel import StagePanel, StageParts
from spatialstudio.ui.theme.qt_palette import stylesheet, thin_separators
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.widgets.toast_cards import Offer, Toast, ToastStack
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.dock_layout import USUAL_SIZE_EM, DockLayout
from spatialstudio.ui.window.open_picture import offer_settings, read_file
from spatialstudio.ui.window.window_bar import WindowBar
from spatialstudio.ui.window.window_commands import (
    WindowCommands,
    focus_part,
    open_models,
    open_settings,
    shown_settings,
)
from spatialstudio.ui.window.workspaces import disable_plugin_panel, with_panels

Kind = TypeVar("Kind", bound=Panel)

LEAST_CENTRE_EM = (16, 9)


class Centre(QStackedWidget):
    """The central widget; requests only the size of the current page, with a small minimum."""

    def minimumSizeHint(self) -> QSize:
        page = self.currentWidget()
        least = page.minimumSizeHint() if page is not None else super().minimumSizeHint()
        return least.boundedTo(QSize(*(em(side) for side in LEAST_CENTRE_EM)))


class MainWindow(QMainWindow):
    """Connects stage, workspaces, commands and the studio.

    Emits ``settled`` once all docks are created, shortly after the window is first shown.

    Args:
        context: Services of the window.
        appearance: Theme and text size.
    """

    settled = Signal()

    def __init__(self, context: WindowContext, appearance: Appearance) -> None:
        with thin_separators():
            super().__init__()
        self.setWindowTitle("Spatial Studio")
        self.setDockNestingEnabled(True)
        self.setCorner(Qt.Corner.BottomLeftCorner, Qt.DockWidgetArea.LeftDockWidgetArea)
        self.setCorner(Qt.Corner.BottomRightCorner, Qt.DockWidgetArea.BottomDockWidgetArea)
        self.setAcceptDrops(True)
        self._workspaces = with_panels(context.studio.plugins.loaded)
        self._workspace: Workspace = self._workspaces[0]
        self._dock_offer: Toast | None = None
        self._appearance = appearance
        appearance.text_resized.connect(self._rebuild_soon)
        context.theme.changed.connect(self._dress)
        self._place(context.settings.geometry)
        self._build(context)

    @property
    def prompt(self) -> PromptPanel:
        """The prompt panel."""
        return self.panel(PromptPanel)

    @property
    def generation(self) -> GenerationPanel:
        """The generation panel."""
        return self.panel(GenerationPanel)

    def panel(self, kind: type[Kind]) -> Kind:
        """Return the panel of a type, creating its dock if needed.

        Raises:
            LookupError: No dock of any workspace contains one.
        """
        plans = iter(plan for workspace in self._workspaces for plan in workspace.docks)
        while True:
            for panel in self._panels:
                if isinstance(panel, kind):
                    return panel
            if (plan := next(plans, None)) is None:
                raise LookupError(kind.__name__)
            self._dock_layout.make(plan)

    def serve(self, panel: Panel, plan: DockPlan | None = None) -> None:
        """Register a panel for events and problem reports.

        Args:
            panel: The panel.
            plan: The dock that contains it; None outside the docks.
        """
        self._panels.append(panel)
        panel.problem_met.connect(partial(report_with_remedies, self.context))
        if plan is not None and plan.plugin:
            self._bridge.name_plugin(panel, plan.title, plan.plugin)
        self._bridge.use_density(self.context.settings.density, panel)
        self._bridge.serve(panel)

    def get_ready(self) -> None:
        """Start the engine and restore the last prompt."""
        self.context.studio.start()
        self.context.studio.devices.ask()
        self.context.studio.storage.find_interrupted()
        self.prompt.restore()

    def make_docks_soon(self) -> None:
        """Create all docks one by one in the background, so that workspaces open without delay."""
        QTimer.singleShot(0, self, self._make_next)

    def make_docks(self) -> None:
        """Create the remaining docks of all workspaces."""
        while self._due:
            self._make_first()

    def use_workspace(self, workspace: Workspace) -> None:
        """Show a workspace's docks, tools and overlays; picture, step and zoom persist."""
        settings, stage = self.context.settings, self.context.stage
        self._layers[self._workspace.id] = stage.layers
        self._workspace = workspace
        settings.workspace = workspace.id
        self._dock_layout.put_up(workspace, settings.density)
        self._centre.setCurrentWidget(self._centre_of(workspace))
        self._bar.show_workspace(workspace)
        self._progress.show_ready(tr(workspace.ready))
        self.context.actions[framework_commands.STAGE_ONLY].setChecked(False)
        stage.show_layers(self._layers[workspace.id])
        stage.show_overlays(self._overlays[workspace.id])
        stage.show_words(workspace.shows_words)
        stage.show_ending(workspace.shows_ending)
        (self.prompt.setFocus if workspace.begins_at_prompt else self.focus_centre)()

    def focus_centre(self) -> None:
        """Focus the central widget."""
        centre = self._centre_of(self._workspace)
        (self.stage.take_focus if centre is self.stage else centre.setFocus)()

    def hide_docks(self, hidden: bool) -> None:
        """Hide all docks, or restore the hidden ones."""
        self._dock_layout.hide_all(hidden)

    def show_dock(self, plan: DockPlan) -> None:
        """Show a dock in front and focus it, in another workspace if this one does not have it."""
        if plan not in self._workspace.docks:
            self.use_workspace(self._workspace_of(plan))
        self.hide_docks(False)
        self.context.actions[framework_commands.STAGE_ONLY].setChecked(False)
        focus_part(self._dock_layout.bring_up(plan))
        if not plan.in_simple and self.context.settings.density is Density.SIMPLE:
            message = tr("The simple window usually hides the dock {title}.")
            if self._dock_offer is not None:
                self.context.toasts.withdraw(self._dock_offer)
            self._dock_offer = self.context.toasts.offer(
                message.format(title=tr(plan.title)),
                tr(framework_commands.ALL_CONTROLS.text),
                partial(self._show_all_with, plan),
            )

    def _show_all_with(self, plan: DockPlan) -> None:
        self.use_density(Density.FULL)
        self.show_dock(plan)

    def put_docks_back(self) -> None:
        """Reset the docks of all workspaces to the default layout."""
        self._dock_layout.put_back()
        self.context.toasts.tell(tr("Dock layout reset."))

    def use_density(self, density: Density) -> None:
        """Switch between the simple and the full density."""
        self.context.settings.density = density
        self.context.actions[framework_commands.ALL_CONTROLS].setChecked(density is Density.FULL)
        self._bridge.use_density(density)
        self._dock_layout.put_up(self._workspace, density)

    def show_settings(self, page: str = "") -> None:
        """Open the settings at the page with this title."""
        open_settings(self.context, self._appearance, self, page)

    def open_path(self, path: Path) -> None:
        """Open a dropped or chosen path: a run's files or folder, any picture, or a model file."""
        self.context.toasts.clear()
        if is_model_file(path):
            self.generation.open_model(path)
            return
        self.context.reading.read(
            Subject.STAGE,
            tr("Opening {name}").format(name=path.name),
            partial(read_file, self.context.studio, path),
            self._show_file,
            self._tell_unreadable,
        )

    def _show_file(self, file: OpenRun | ForeignPicture) -> None:
        if isinstance(file, OpenRun):
            self.context.studio.show_run(file)
            if self._centre_of(self._workspace) is not self.stage:
                self.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
        else:
            offer_settings(self.context, file, self)

    def _tell_unreadable(self, report: ErrorReport) -> None:
        another = Offer(
            tr("Open another…"), self.context.actions[framework_commands.OPEN_PICTURE].trigger
        )
        offers = remedies_for(self.context, report) or (another,)
        self.context.toasts.report(report, *offers)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Skip docks hidden behind tabs, which Qt counts as visible."""
        seen = [self.focusWidget()]  # a disabled widget loses the focus and is not reached again
        while super().focusNextPrevChild(forward):
            if (now := self.focusWidget()) in seen or not _is_behind(now):
                return True
            seen.append(now)
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return the focus to the centre on an unhandled Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.focus_centre()
        else:
            super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self.open_path(Path(paths[0]))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not event.spontaneous():
            self._dock_layout.take_window()

    def closeEvent(self, event: QCloseEvent) -> None:
        self._due.clear()
        self._dock_layout.keep_layout()
        self.context.settings.geometry = self.saveGeometry()
        self.context.settings.write()
        self._bridge.close()
        self.context.edits.blockSignals(True)  # it signals its own destruction
        self.context.benchmark.close()
        self.context.studio.close()
        super().closeEvent(event)

    def _build(self, context: WindowContext) -> None:
        """Build the window and show what is open in the session."""
        self.context = context
        self._dress()  # sizes in the style sheet follow the text
        self._panels: list[Panel] = []
        self._bridge = Bridge(context.studio.bus, context.studio, context.reading)
        self._bridge.panel_failed.connect(context.toasts.report)
        later = Qt.ConnectionType.QueuedConnection  # the panel may be handling an event
        self._bridge.panel_disabled.connect(disable_plugin_panel, later)
        self._dock_layout = DockLayout(self, context, self.serve)
        self._layers = {workspace.id: workspace.layers for workspace in self._workspaces}
        self.words = WordBar(context)
        self.sketch = SketchPanel(context)
        self._overlays = {
            each.id: (self.sketch.overlay, *each.make_overlays(context))
            for each in self._workspaces
        }
        evidence = EvidenceStage(context)
        parts = StageParts(words=self.words, sketch=self.sketch, evidence=evidence)
        self.stage = StagePanel(context, parts)
        evidence.setParent(self.stage)
        self.stage.pin_asked.connect(self.words.toggle)
        self._centre = Centre()
        self.setCentralWidget(self._centre)
        self._centre.addWidget(self.stage)
        self._centres: dict[str, Panel] = {}
        self._toasts = ToastStack(context.theme, self._centre)
        self._progress = ProgressPanel(context)
        self.statusBar().setSizeGripEnabled(False)
        self.statusBar().addWidget(self._progress, 1)
        readout = ReadoutPanel(context)
        self.statusBar().addPermanentWidget(readout)
        self._bar = WindowBar(self, context.actions, self._dock_layout, self._workspaces)
        for panel in (self.stage, self.words, self.sketch, self._progress, readout):
            self.serve(panel)
        self._connect()
        self._commands = WindowCommands(self, context, self._appearance)
        self._bind_views(context.actions)
        self._workspace = self._last_workspace()
        context.stage.show_layers(self._workspace.layers)
        self.use_workspace(self._workspace)
        self.prompt.setFocus()
        self._due = self._makers()

    def _dress(self) -> None:
        self.setStyleSheet(stylesheet(self.context.theme))

    def _makers(self) -> list[Callable[[], object]]:
        """Return functions that create docks, centres and plots, visible docks first."""
        in_order = (self._workspace, *self._workspaces)
        docks: list[Callable[[], object]] = []
        for each in in_order:
            docks += [partial(prepare, self.context) for prepare in each.prepare]
            docks += [partial(self._dock_layout.make, plan) for plan in each.docks]
        centres = (partial(self._centre_of, each) for each in self._workspaces)
        return [*docks, *centres, self.stage.make_plots]

    def _make_next(self) -> None:
        """Create one dock per turn of the event loop, to keep the window responsive."""
        if self._due:
            self._make_first()
            QTimer.singleShot(0, self, self._make_next)

    def _make_first(self) -> None:
        self._due.pop(0)()
        if not self._due:
            self.settled.emit()

    def _centre_of(self, workspace: Workspace) -> Panel:
        """Return the central widget of a workspace, created on demand."""
        if workspace.make_centre is None:
            return self.stage
        if workspace.id not in self._centres:
            centre = self._centres[workspace.id] = workspace.make_centre(self.context)
            self._centre.addWidget(centre)
            self.serve(centre)
        return self._centres[workspace.id]

    def _last_workspace(self) -> Workspace:
        known = {workspace.id: workspace for workspace in self._workspaces}
        return known.get(self.context.settings.workspace, self._workspaces[0])

    def _bind_views(self, actions: Actions) -> None:
        group = QActionGroup(self._commands)
        for workspace in self._workspaces:
            group.addAction(actions[workspace.command])
            actions.bind(workspace.command, partial(self.use_workspace, workspace))
        actions.bind(framework_commands.PALETTE, self._open_palette)
        actions.bind_switch(framework_commands.STAGE_ONLY, self.hide_docks)
        actions.bind(framework_commands.RESET_LAYOUT, self.put_docks_back)
        actions.bind_switch(
            framework_commands.ALL_CONTROLS,
            lambda full: self.use_density(Density.FULL if full else Density.SIMPLE),
        )
        is_full = self.context.settings.density is Density.FULL
        actions[framework_commands.ALL_CONTROLS].setChecked(is_full)

    def _workspace_of(self, plan: DockPlan) -> Workspace:
        """Return the first workspace with a dock, the current one if possible."""
        in_order = (self._workspace, *self._workspaces)
        return next(each for each in in_order if plan in each.docks)

    def _open_palette(self) -> None:
        from spatialstudio.ui.window.command_palette import CommandPalette, DockEntry

        plans = {plan.id: plan for each in self._workspaces for plan in each.docks}
        docks = [
            DockEntry(
                title=tr(plan.title),
                workspace=tr(self._workspace_of(plan).command.text),
                show=partial(self.show_dock, plan),
            )
            for plan in plans.values()
        ]
        CommandPalette(self.context.actions, docks, self).open()

    def _connect(self) -> None:
        toasts, window_signals = self.context.toasts, self.context.window_signals
        toasts.toast_raised.connect(self._toasts.show_toast)
        toasts.withdrawn.connect(self._toasts.remove)
        toasts.cleared.connect(self._toasts.clear)
        self._toasts.covered.connect(self.stage.leave_room)
        window_signals.path_offered.connect(self.open_path)
        window_signals.settings_asked.connect(self.show_settings)
        window_signals.models_asked.connect(partial(open_models, self.context, self))
        window_signals.library_moved.connect(self._rebuild_soon)
        window_signals.workspace_asked.connect(self._go_to)

    def _rebuild_soon(self) -> None:
        QTimer.singleShot(0, self, self._rebuild)  # the dialog closes first

    def _rebuild(self) -> None:
        """Rebuild all panels for another text size or library, on which they depend."""
        old, size, places = self.context, self.size(), self.sketch.places
        self.setUpdatesEnabled(False)  # hide the intermediate layout
        pages = shown_settings(self)
        for dialog in self.findChildren(QDialog):
            dialog.close()
        self._dock_layout.keep_layout()
        self._bridge.close()
        old.edits.blockSignals(True)
        self._commands.deleteLater()
        self._dock_layout.take_down()
        self.takeCentralWidget().deleteLater()
        self._bar.take_down()
        self.setStatusBar(QStatusBar())
        old.actions.deleteLater()
        self._build(WindowContext.of(old.studio, old.theme, old.settings, TABLE, old.benchmark))
        self.make_docks()
        self.prompt.restore()
        self.context.stage.show_region(old.stage.region)
        self.sketch.use_places(places)
        self.context.stage.show_sketch(old.stage.is_sketching)
        QTimer.singleShot(0, self, partial(self._settle, size))
        for page in pages:
            self.show_settings(page)

    def _settle(self, size: QSize) -> None:
        """Restore the size once new docks have been laid out, and show the window."""
        self.resize(size)
        self._dock_layout.outgrow(self._workspaces)
        self._dock_layout.enable_updates(True)

    def _place(self, geometry: QByteArray) -> None:
        if geometry.isEmpty() or not self.restoreGeometry(geometry):
            size = QSize(*(em(side) for side in USUAL_SIZE_EM))
            self.resize(size.boundedTo(self.screen().availableSize()))

    def _go_to(self, workspace_id: str) -> None:
        for workspace in self._workspaces:
            if workspace.id == workspace_id:
                self.use_workspace(workspace)


def _is_behind(widget: QWidget | None) -> bool:
    """Return True if a widget is in a dock hidden behind a tab."""
    while widget is not None and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget is not None and widget.visibleRegion().isEmpty()
