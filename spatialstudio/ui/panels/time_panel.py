"""PoS of every relation on the clock of the denoising steps, and the means to move along it."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QStackedLayout, QVBoxLayout, QWidget

from spatialstudio.application.session import BaselineChanged, RunChanged, StepPicked
from spatialstudio.ui.actions import Actions
from spatialstudio.ui.bridge import FrameClock
from spatialstudio.ui.commands import inspect
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.trace_contents import guided_steps, pos_curves, step_name
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.pos_chart import PosChart
from spatialstudio.ui.widgets.replay_bar import ReplayBar
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

TRACE_EM = 9
FAR_STEPS = 10_000
STRIDES = {
    inspect.PREVIOUS: -1,
    inspect.NEXT: 1,
    inspect.BACK_FIVE: -5,
    inspect.ON_FIVE: 5,
    inspect.FIRST: -FAR_STEPS,
    inspect.LAST: FAR_STEPS,
}
NOTHING_YET = "The curve of each relation's PoS: how surely its things stand as claimed."


class TimePanel(Panel):
    """Shows curves and the scrubber, live or replayed alike."""

    title = "Time"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session  # Qt holds a plain Python receiver weakly
        self._chart = PosChart(context.theme)
        self._chart.step_picked.connect(self._session.pick_step)
        self._empty = TextLabel(tr(NOTHING_YET), Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._replay = ReplayBar(context.theme)
        self._replay.step_picked.connect(self._session.pick_step)
        self._replay.live_asked.connect(self._session.go_live)
        self._clock = FrameClock(self._draw, self)
        self._lay_out()
        self._bind(context.actions)

    def handle(self, event: object) -> None:
        """Follow the run and the picked step."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked():
                self._clock.request()

    def _bind(self, actions: Actions) -> None:
        actions.bind(inspect.PLAY, self._replay.toggle_play)
        actions.bind(inspect.LIVE, self._session.go_live)
        for command, steps in STRIDES.items():
            actions.bind(command, partial(self._replay.go_by, steps))
        actions.use_stage_keys(self, without=(inspect.PLAY,))  # Space presses buttons here

    def _draw(self) -> None:
        run, baseline, step = self._session.run, self._session.baseline, self._session.step
        if run is None:
            return
        self._stack.setCurrentIndex(1 if run.steps else 0)
        curves = pos_curves(run)
        if baseline is not None:
            curves = (*pos_curves(baseline, is_baseline=True), *curves)
        self._chart.show_step(step)
        self._chart.show_curves(curves, guided_steps(run), run.total_steps if run.steps else 0)
        self._replay.set_step_count(len(run.steps))
        self._replay.show_step(step, step_name(run, step))
        self._replay.show_live(offered=not run.is_over and not self._session.follows_live)

    def _lay_out(self) -> None:
        stack = QWidget()
        stack.setMinimumHeight(em(TRACE_EM))
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(self._chart)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.9), em(0.3), em(0.9), em(0.5))
        column.setSpacing(em(0.3))
        column.addWidget(stack, 1)
        column.addWidget(self._replay)
