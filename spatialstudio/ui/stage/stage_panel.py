"""The central panel: the picture, the baseline next to it, and their overlays."""

from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QWidget

from spatialstudio.application.inspect.step_numbers import name_first, name_second
from spatialstudio.application.jobs.messages import JobFailed
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    RelationPicked,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.bridge import FrameClock
from spatialstudio.ui.framework.commands import ALL_CONTROLS
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.stage.layers_panel import dressed
from spatialstudio.ui.stage.map_presenter import (
    MapSelection,
    grid_rows,
    map_selection,
)
from spatialstudio.ui.stage.stage_presenter import picture_scene, step_seen
from spatialstudio.ui.stage.widgets.empty_stage import EmptyStage
from spatialstudio.ui.stage.widgets.map_grid import GridView
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.widgets.builders import column, grow, row
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.widgets.stage_overlay import StageOverlay
from spatialstudio.ui.widgets.texts import tr

BARE = frozenset({Layer.PICTURE})


class EvidenceLayer(Protocol):
    """Draws the evidence of the selected verdict on the picture."""

    @property
    def overlay(self) -> StageOverlay:
        """The overlay on the picture."""

    def draw(self, step: int, *, is_bare: bool = False) -> None:
        """Show the selected verdict's marks at a step; none if overlays are hidden."""


@frozen
class StageParts:
    """What features contribute to the stage.

    Attributes:
        words: Word selector above the picture.
        sketch: Layout editor that replaces the picture.
        evidence: Marks the selected verdict's evidence on the picture.
    """

    words: QWidget
    sketch: QWidget
    evidence: EvidenceLayer


class StagePanel(Panel):
    """Shows the run at the picked step; opens dropped files.

    Args:
        context: Services of the window.
        parts: Contributions of the features.

    Emits ``pin_asked`` with the word of a map that the user wants pinned or unpinned.
    """

    title = "Stage"
    pin_asked = Signal(str)

    def __init__(self, context: WindowContext, parts: StageParts) -> None:
        super().__init__()
        self._session = context.studio.session
        self._stage = context.stage
        self._maps = context.maps
        self._window_signals = context.window_signals
        self._empty = EmptyStage(context.theme)
        self._empty.example_picked.connect(self._offer_example)
        self._empty.sketch_asked.connect(lambda: self._stage.show_sketch(True))
        self._empty.density_picked.connect(self._choose_density)
        self._settings = context.settings
        self._switch = context.actions[ALL_CONTROLS]
        self._toasts = context.toasts
        self.sketch = parts.sketch
        self._stage.sketching_changed.connect(self._show_sketch)
        self._picture = PictureView(context.theme, tr("Picture"))
        self._second_picture = PictureView(context.theme, tr("Second picture"))
        self._second_picture.hide()
        self._shown: dict[PictureView, tuple[object, ...]] = {}
        self._pictures = QWidget()
        self._pictures.hide()
        for view in (self._picture, self._second_picture):
            view.view_picked.connect(self._stage.show_region)
            view.place_pointed.connect(self._stage.place_pointed)
            view.save_asked.connect(partial(save_plot, context.toasts))
        self.words = parts.words
        self._grid = GridView(context.theme)
        self._grid.grid.map_picked.connect(lambda _, step: self._session.pick_step(step))
        self._grid.grid.pin_asked.connect(self.pin_asked)
        self._clock = FrameClock(self._draw, self)
        self._evidence = parts.evidence
        self._judgement = context.judgement
        self._judgement.changed.connect(self._clock.request)
        self._stage.words_changed.connect(self._clock.request)
        self._maps.changed.connect(lambda: self._clock.request(by_hand=True))
        self._stage.layers_changed.connect(self._clock.request)
        self._stage.second_changed.connect(self._clock.request)
        self._stage.ending_changed.connect(self._clock.request)
        self._stage.region_changed.connect(self._show_region)
        self._stage.smoothing_changed.connect(self._show_smoothing)
        self._stage.overlays_changed.connect(self._show_overlays)
        context.actions.use_stage_keys(self._pictures)
        self._lay_out()
        self._show_overlays()
        self.setAcceptDrops(True)

    def use_density(self, density: Density) -> None:  # noqa: ARG002 - the panel's signature
        """Ask for a density if the user has not chosen one."""
        self._empty.ask_density(not self._settings.is_density_chosen)

    def leave_room(self, height: int) -> None:
        """Keep the empty stage's buttons clear of messages ``height`` pixels high."""
        self._empty.leave_room(height)

    def take_focus(self) -> None:
        """Focus the visible part: the picture or its replacement."""
        parts = (self._empty, self.sketch, self._grid, self._picture)
        next(part for part in parts if not part.isHidden()).setFocus()

    def make_plots(self) -> None:
        """Create the plots next to the pictures, so that the first step need not wait for it."""
        for view in (self._picture, self._second_picture):
            view.make_marginals()

    def handle(self, event: object) -> None:
        """Follow the run, picked step and word; warn about pictures that were not evaluated."""
        match event:
            case RunChanged() | BaselineChanged() | MentionPicked() | RelationPicked():
                self._clock.request()
            case StepPicked():
                self._clock.request(by_hand=not self._session.follows_live)
            case JobFailed() if not self._is_known(event):
                self.problem_met.emit(event.error)

    def _is_known(self, event: JobFailed) -> bool:
        """Return True for the second of two pictures that fail for the same reason."""
        run = self._session.run
        failure = None if run is None or run.id == event.request_id else run.failure
        return failure is not None and failure.message == event.error.message

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        paths = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if paths:
            event.acceptProposedAction()
            self._window_signals.path_offered.emit(Path(paths[0]))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Clear the highlighted evidence on Esc."""
        if event.key() == Qt.Key.Key_Escape and self._judgement.lit is not None:
            self._judgement.light(None)
        else:
            super().keyPressEvent(event)

    def _offer_example(self, prompt: str, seed: int) -> None:
        self._window_signals.prompt_offered.emit(prompt)
        self._window_signals.seed_offered.emit(seed)

    def _choose_density(self, is_full: bool) -> None:
        self._switch.setChecked(not is_full)
        self._switch.trigger()
        keys = self._switch.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
        hint = tr("Use the View menu or {keys} to change it at any time.").format(keys=keys)
        self._toasts.tell(tr("The window layout has changed."), hint)

    def _show_region(self) -> None:
        for view in (self._picture, self._second_picture):
            view.show_view(self._stage.region)

    def _show_smoothing(self) -> None:
        for view in (self._picture, self._second_picture):
            view.show_smooth(self._stage.is_smooth)

    def _show_overlays(self) -> None:
        self._picture.show_overlays((self._evidence.overlay, *self._stage.overlays))

    def _show_sketch(self) -> None:
        """Switch between the sketch and the other parts."""
        sketching, holder = self._stage.is_sketching, self._keyboard_holder()
        for part in (self._empty, self.words, self._pictures, self._grid):
            part.hide()
        self.sketch.setVisible(sketching)
        self._empty.setVisible(not sketching and self._session.run is None)
        self._draw()
        self._pass_keyboard_on(holder)

    def _keyboard_holder(self) -> QWidget | None:
        """Return the swappable part with keyboard focus; None when none has it."""
        focus = self.window().focusWidget()
        parts = (self._empty, self.sketch, self._grid, self._pictures)
        return next((part for part in parts if focus and part.isAncestorOf(focus)), None)

    def _pass_keyboard_on(self, holder: QWidget | None) -> None:
        """Move the focus from the hidden part to its replacement."""
        if holder is not None and holder.isHidden():
            self.take_focus()

    def _draw(self) -> None:
        run = self._session.run
        baseline = self._session.baseline if self._stage.shows_second else None
        if run is None or self._stage.is_sketching:
            return
        holder = self._keyboard_holder()
        self._empty.hide()
        shows_grid = self._stage.shows_words and self._maps.look.is_grid
        self.words.setVisible(self._stage.shows_words)
        self._grid.setVisible(shows_grid)
        self._pictures.setVisible(not shows_grid)
        self._pass_keyboard_on(holder)
        if shows_grid:
            self._draw_grid(run)
            return
        selection = map_selection(self._maps, run, baseline)
        alone = "Picture" if run.request else "Your picture"
        title = tr(name_first(run, baseline) if baseline else alone)
        self._show(self._picture, run, selection, title)
        self._evidence.draw(self._step_of(run), is_bare=self._maps.is_peeking)
        self._second_picture.setVisible(baseline is not None)
        if baseline is not None:
            self._show(self._second_picture, baseline, selection, tr(name_second(run, baseline)))

    def _show(self, view: PictureView, run: OpenRun, selection: MapSelection, title: str) -> None:
        """Show a run in a view; skip an unchanged scene, as painting is slow."""
        stage, step = self._stage, self._step_of(run)
        layers = BARE if self._maps.is_peeking else stage.visible
        asked = (run, step, selection, title, layers, stage.looks, stage.visible)
        if asked != self._shown.get(view):
            self._shown[view] = asked
            view.show_scene(dressed(picture_scene(run, step, selection, layers, title), run, stage))

    def _step_of(self, run: OpenRun) -> int:
        return step_seen(run, self._session.step, of_ending=self._stage.shows_ending)

    def _draw_grid(self, run: OpenRun) -> None:
        second = self._session.baseline
        selection = map_selection(self._maps, run, second)
        height, width = run.image.shape[:2] if run.image is not None else (1, 1)
        rows = grid_rows(run, second, selection, self._maps.pins)
        self._grid.grid.show_rows(rows, width / height)
        self._grid.grid.show_step(self._session.step)

    def _lay_out(self) -> None:
        row(self._picture, self._second_picture, within=self._pictures, gap=1)
        centres = (self._empty, self.sketch, self._pictures, self._grid)
        column(self.words, *map(grow, centres), within=self, edges=(1, 0.5, 1, 0.5))
        for hidden in (self.words, self.sketch, self._grid):
            hidden.hide()
