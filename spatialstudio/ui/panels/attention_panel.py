"""Where each word is attended to, step by step, and what PoS makes of it."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QHBoxLayout,
    QScrollArea,
    QSizePolicy,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.application.inspection import relation_in_words
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.ui.actions import Actions
from spatialstudio.ui.bridge import FrameClock
from spatialstudio.ui.commands import inspect
from spatialstudio.ui.panel_api import Panel, WindowContext
from spatialstudio.ui.panels.stage_contents import step_at, word_maps
from spatialstudio.ui.panels.trace_contents import guided_steps, pos_curves, step_name
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.map_strip import MapStrip
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
NOTHING_YET = (
    "While a picture is drawn, each object word's attention map appears here,\n"
    "and for each relation the curve of its PoS: how surely its things stand as claimed."
)
NO_TRACE = (
    "This picture has no trace: it was not drawn here, or the run ended before its first step."
)


class AttentionPanel(Panel):
    """Shows maps, curves and the scrubber, live or replayed alike."""

    title = "Attention"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session  # Qt holds a plain Python receiver weakly
        self._strip = MapStrip(context.theme)
        self._strip.word_picked.connect(self._pick_word)
        self._area = QScrollArea()
        self._chart = PosChart(context.theme)
        self._chart.step_picked.connect(self._session.pick_step)
        self._empty = TextLabel(NOTHING_YET, Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words = TextLabel(tone=Tone.MUTED)
        self._words.setWordWrap(False)
        self._words.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._replay = ReplayBar(context.theme)
        self._replay.step_picked.connect(self._session.pick_step)
        self._replay.live_asked.connect(self._session.go_live)
        self._clock = FrameClock(self._draw, self)
        self._lay_out()
        self._bind(context.actions)

    def handle(self, event: object) -> None:
        """Follow the run, the picked step and word."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked() | MentionPicked():
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
        self._empty.setText(NO_TRACE if run.is_over else NOTHING_YET)
        self._stack.setCurrentIndex(1 if run.steps else 0)
        self._strip.show_words(word_maps(run, baseline, step))
        self._area.setMaximumWidth(self._strip.sizeHint().width())
        self._strip.show_picked(self._session.mention_id or "")
        curves = pos_curves(run)
        if baseline is not None:
            curves = (*pos_curves(baseline, is_baseline=True), *curves)
        self._chart.show_step(step)
        self._chart.show_curves(curves, guided_steps(run), run.total_steps if run.steps else 0)
        self._replay.set_step_count(len(run.steps))
        self._replay.show_step(step, step_name(run, step))
        self._replay.show_live(offered=not run.is_over and not self._session.follows_live)
        self._words.setText(_meaning(run, step, self._session.mention_id))

    def _pick_word(self, key: str) -> None:
        self._session.pick_mention(MentionId(key) if key else None)

    def _lay_out(self) -> None:
        self._area.setWidgetResizable(True)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._area.setWidget(self._strip)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        trace = QWidget()
        row = QHBoxLayout(trace)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(1))
        row.addWidget(self._area, 3)
        row.addWidget(self._chart, 2)
        stack = QWidget()
        stack.setMinimumHeight(em(TRACE_EM))
        self._stack = QStackedLayout(stack)
        self._stack.addWidget(self._empty)
        self._stack.addWidget(trace)
        column = QVBoxLayout(self)
        column.setContentsMargins(em(0.9), em(0.3), em(0.9), em(0.5))
        column.setSpacing(em(0.3))
        column.addWidget(stack, 1)
        column.addWidget(self._words)
        column.addWidget(self._replay)


def _meaning(run: OpenRun, step: int, picked: MentionId | None) -> str:
    """Say in plain words the PoS of the first relation, or the first of the picked word."""
    event = step_at(run, step)
    if event is None:
        return ""
    measured = [relation for relation in run.scene.relations if relation.id in event.pos]
    of_word = [relation for relation in measured if picked in relation.ends]
    for relation in of_word or measured:
        return relation_in_words(relation, event.pos[relation.id], run.scene)
    return ""
