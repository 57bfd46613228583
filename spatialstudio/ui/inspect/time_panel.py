"""The dock of PoS over denoising steps, with its scrubber and playback controls."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.attention import Moment
from spatialstudio.domain.derived_requests import has_baseline, is_search
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import CaptureSettings, GenerationRequest
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.inspect.trace_presenter import (
    span_in_words,
    step_name,
    time_contents,
)
from spatialstudio.ui.inspect.widgets.pos_chart import PosChart, Span
from spatialstudio.ui.inspect.widgets.pos_curve import Lanes
from spatialstudio.ui.inspect.widgets.replay_bar import (
    FASTER_BY,
    PlayMode,
    ReplayBar,
)
from spatialstudio.ui.inspect.widgets.time_header import TimeHeader
from spatialstudio.ui.stage.map_presenter import (
    layers_in_words,
    map_selection,
    on_chosen_layers,
    shown_moment,
)
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grow, pages
from spatialstudio.ui.widgets.plot import ZOOM
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TRACE_EM = 7
FAR_STEPS = 10_000
STRIDES = {
    inspect_commands.PREVIOUS: -1,
    inspect_commands.NEXT: 1,
    inspect_commands.BACK_FIVE: -5,
    inspect_commands.ON_FIVE: 5,
    inspect_commands.FIRST: -FAR_STEPS,
    inspect_commands.LAST: FAR_STEPS,
}
MODES = {replay_commands.LOOP: PlayMode.LOOP, replay_commands.PING_PONG: PlayMode.PING_PONG}
LANES = {
    replay_commands.LANES_TOGETHER: Lanes.TOGETHER,
    replay_commands.LANES_APART: Lanes.APART,
    replay_commands.LANES_DIFFERENCE: Lanes.DIFFERENCE,
}
SECOND_RUN = (
    replay_commands.SECOND_BASELINE,
    replay_commands.SECOND_SEED,
    replay_commands.SECOND_RUN,
    replay_commands.SECOND_NONE,
    replay_commands.SECOND_ON_STAGE,
)
NOTHING_YET = "PoS of each relation over the denoising steps."


class TimePanel(Panel):
    """Shows PoS curves and the scrubber, live or replayed, and a second run on the same axis."""

    title = "PoS over the steps"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._reading = context.reading
        self._toasts = context.toasts
        self._session = context.studio.session  # Qt holds a plain Python receiver weakly
        self._actions = context.actions
        self._stage = context.stage
        self._maps = context.maps
        self._span: Span | None = None
        self._run_id = ""
        self._chart = PosChart(context.theme)
        self._chart.step_picked.connect(self._session.pick_step)
        self._chart.span_picked.connect(self._take_span)
        self._chart.save_asked.connect(partial(save_plot, context.toasts))
        self._header = TimeHeader(context.theme, self._menu(context.actions))
        self._empty = TextLabel(tr(NOTHING_YET), Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._means = TextLabel(tone=Tone.MUTED, small=True)
        self._means.hide()
        self._replay = ReplayBar(context.theme)
        self._replay.step_picked.connect(self._session.pick_step)
        self._replay.live_asked.connect(self._session.go_live)
        self._replay.mode_picked.connect(self._show_mode)
        self._runs_clock = VisibleFrameClock(self._draw_runs, self)
        self._maps.changed.connect(self._runs_clock.request)
        self._lay_out()
        self._bind_steps(context.actions)
        self._bind_range(context.actions)
        self._bind_second(context.actions)
        self.setAcceptDrops(True)

    def handle(self, event: object) -> None:
        """Follow both runs and the picked step."""
        match event:
            case RunChanged(run=run):
                if run.id != self._run_id:
                    self._run_id = run.id
                    self._take_span(None)
                self._follow_runs()
            case BaselineChanged():
                self._follow_runs()
            case StepPicked():
                self._draw_step()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_run(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        if (path := dropped_run(event)) is not None:
            event.acceptProposedAction()
            self._read_second(path)

    def _bind_steps(self, actions: Actions) -> None:
        actions.bind(inspect_commands.PLAY, self._replay.toggle_play)
        actions.bind(inspect_commands.LIVE, self._session.go_live)
        for command, steps in STRIDES.items():
            actions.bind(command, partial(self._replay.go_by, steps))
        for command, mode in MODES.items():
            actions.bind_switch(command, partial(self._use_mode, mode))
        actions.bind(replay_commands.FASTER, lambda: self._replay.change_speed(FASTER_BY))
        actions.bind(replay_commands.SLOWER, lambda: self._replay.change_speed(-FASTER_BY))
        actions.use_stage_keys(self, without=(inspect_commands.PLAY,))  # Space presses buttons here

    def _bind_range(self, actions: Actions) -> None:
        actions.bind(replay_commands.RANGE_FROM, lambda: self._mark(is_first=True))
        actions.bind(replay_commands.RANGE_TO, lambda: self._mark(is_first=False))
        actions.bind(replay_commands.NO_RANGE, lambda: self._take_span(None))
        actions.bind(replay_commands.ZOOM_IN, lambda: self._chart.zoom(1 / ZOOM))
        actions.bind(replay_commands.ZOOM_OUT, lambda: self._chart.zoom(ZOOM))
        actions.bind(replay_commands.ALL_STEPS, self._chart.show_all)

    def _bind_second(self, actions: Actions) -> None:
        second = self._studio.second
        set_second = self._set_second
        actions.bind(replay_commands.SECOND_BASELINE, partial(set_second, self._find_baseline))
        actions.bind(replay_commands.SECOND_SEED, partial(set_second, second.draw_next_seed))
        actions.bind(replay_commands.SECOND_RUN, self._choose_second)
        actions.bind(replay_commands.SECOND_NONE, second.put_away)
        for command, lanes in LANES.items():
            actions.bind(command, partial(self._use_lanes, lanes))
        self._use_lanes(Lanes.TOGETHER)
        actions.bind_switch(replay_commands.SECOND_ON_STAGE, self._stage.show_second)
        self._stage.second_changed.connect(self._show_second)
        self._show_second()

    def _menu(self, actions: Actions) -> tuple[tuple[QAction, ...], ...]:
        return tuple(
            tuple(actions[command] for command in group) for group in (SECOND_RUN, tuple(LANES))
        )

    def _use_mode(self, mode: PlayMode, on: bool) -> None:
        self._replay.show_mode(mode if on else PlayMode.ONCE)
        self._show_mode(mode if on else PlayMode.ONCE)

    def _show_mode(self, mode: PlayMode) -> None:
        for command, known in MODES.items():
            self._actions[command].setChecked(known is mode)

    def _use_lanes(self, lanes: Lanes) -> None:
        self._chart.show_lanes(lanes)
        for command, known in LANES.items():
            self._actions[command].setChecked(known is lanes)

    def _show_second(self) -> None:
        self._actions[replay_commands.SECOND_ON_STAGE].setChecked(self._stage.shows_second)

    def _mark(self, *, is_first: bool) -> None:
        here = self._session.step
        first, last = self._span or (here, here)
        span = (here, max(here, last)) if is_first else (min(first, here), here)
        self._take_span(span)

    def _take_span(self, span: Span | None) -> None:
        self._span = span
        self._chart.show_span(span)
        self._draw_means()

    def _set_second(self, do: Callable[[], object]) -> None:
        try:
            do()
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Opening the second run")))

    def _find_baseline(self) -> None:
        """Show the stored baseline of the open run; without one it is generated."""
        request = self._studio.second.baseline_request()
        self._reading.read(
            Subject.SECOND_RUN,
            tr("Opening the baseline"),
            partial(self._stored_baseline, request),
            partial(self._use_baseline, self._ids, request.capture),
            self.problem_met.emit,
        )

    def _stored_baseline(self, request: GenerationRequest) -> OpenRun | None:
        path = self._studio.library.baseline_of(request)
        return None if path is None else self._studio.read_run(path)

    @property
    def _ids(self) -> tuple[str, ...]:
        """Ids of the open run and the second one; empty for none."""
        runs = self._session.run, self._session.baseline
        return tuple("" if run is None else run.id for run in runs)

    def _use_baseline(
        self, ids: tuple[str, ...], capture: CaptureSettings, baseline: OpenRun | None
    ) -> None:
        if ids != self._ids:
            return  # another run was chosen meanwhile
        if baseline is None:
            self._studio.second.draw_baseline()
            return
        self._studio.second.show(baseline)
        stored = baseline.request
        is_alike = stored is not None and stored.capture == capture
        hint = "" if is_alike else tr("Its attention was recorded with other settings.")
        self._toasts.tell(tr("The stored baseline is shown; nothing is generated."), hint)

    def _choose_second(self) -> None:
        kinds = f"{tr('Runs')} (*.strace *.png)"
        start = str(self._studio.runs_folder)
        path, _ = QFileDialog.getOpenFileName(self, tr("Open a second run"), start, kinds)
        if path:
            self._read_second(Path(path))

    def _read_second(self, path: Path) -> None:
        self._reading.read(
            Subject.SECOND_RUN,
            tr("Opening the second run"),
            partial(self._studio.read_run, path),
            self._studio.second.show,
            self.problem_met.emit,
        )

    def _follow_runs(self) -> None:
        """Redraw if visible; the step shortcuts work regardless."""
        run, second = self._session.run, self._session.baseline
        if run is not None:
            self._replay.set_step_count(len(run.steps))
            self._draw_step()
            self._show_commands(run.request, has_second=second is not None)
        self._runs_clock.request()

    def _draw_runs(self) -> None:
        run, second = self._session.run, self._session.baseline
        if run is None:
            return
        self._pages.setCurrentIndex(1 if run.steps else 0)
        layers = layers_in_words(run, map_selection(self._maps, run))
        contents = time_contents(*self._shown(run, second), layers)
        self._chart.show_contents(contents, self._session.step)
        self._header.show_contents(contents)
        self._draw_means()

    def _draw_step(self) -> None:
        run, step = self._session.run, self._session.step
        if run is None:
            return
        self._chart.show_step(step)
        self._replay.show_step(step, step_name(run, step))
        self._replay.show_live(offered=not run.is_over and not self._session.follows_live)

    def _draw_means(self) -> None:
        if (run := self._session.run) is None:
            self._means.show_text("")
            return
        run, second, moment = self._shown(run, self._session.baseline)
        self._means.show_text(span_in_words(run, second, self._span, moment))

    def _shown(
        self, run: OpenRun, second: OpenRun | None
    ) -> tuple[OpenRun, OpenRun | None, Moment]:
        """Return both runs as the chosen layers show them, and the moment of their readings."""
        selection = map_selection(self._maps, run, second)
        return (
            on_chosen_layers(run, selection),
            None if second is None else on_chosen_layers(second, selection),
            shown_moment(run, selection),
        )

    def _show_commands(self, request: GenerationRequest | None, *, has_second: bool) -> None:
        usable = dict.fromkeys((*LANES, replay_commands.SECOND_NONE), has_second)
        usable[replay_commands.SECOND_SEED] = request is not None
        usable[replay_commands.SECOND_BASELINE] = request is not None and (
            has_baseline(request) or is_search(request)
        )
        for command, can in usable.items():
            self._actions[command].setEnabled(can)

    def _lay_out(self) -> None:
        self._pages = pages(self._empty, self._chart)
        self._pages.setMinimumHeight(em(TRACE_EM))
        parts = (self._header, grow(self._pages), self._means, self._replay)
        column(*parts, within=self, gap=0.2, edges=(0.9, 0, 0.9, 0.5))


def dropped_run(event: QDropEvent) -> Path | None:
    """Return the first file of a drag; None if it has none."""
    urls = (url for url in event.mimeData().urls() if url.isLocalFile())
    return next((Path(url.toLocalFile()) for url in urls), None)
