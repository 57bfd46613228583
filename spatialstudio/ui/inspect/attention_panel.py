"""The dock of attention maps at a step and their PoS."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy

from spatialstudio.application.inspect.inspection import relation_in_words
from spatialstudio.application.inspect.step_numbers import (
    baseline_in_words,
    moment_in_words,
    moment_of,
)
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.attention import LayerChoice
from spatialstudio.domain.scene import MentionId
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.stage.map_presenter import step_at
from spatialstudio.ui.stage.stage_presenter import word_maps
from spatialstudio.ui.stage.widgets.map_strip import MapRoom, MapStrip
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grow, pages
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TRACE_EM = 6
OF_GUIDANCE = "These maps are the mean over guidance layers and heads, not over the chosen ones."
NOTHING_YET = "While a picture is generated, the attention map of each object appears here."
NO_TRACE = "This picture has no trace: it was imported, or the run ended before its first step."


class AttentionPanel(Panel):
    """Shows the attention maps of all words, live or replayed."""

    title = "Attention maps of the words"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._maps = context.maps
        self._session = context.studio.session  # Qt holds a plain Python receiver weakly
        self._strip = MapStrip(context.theme)
        self._strip.word_picked.connect(self._pick_word)
        self._empty = TextLabel(tr(NOTHING_YET), Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._words = TextLabel(tone=Tone.MUTED)
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        self._lay_out()
        space_keys = (inspect_commands.PLAY,)  # Space presses buttons here
        context.actions.use_stage_keys(self, without=space_keys)

    def handle(self, event: object) -> None:
        """Follow the run, picked step and word."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked() | MentionPicked():
                self._clock.request()

    def _draw(self) -> None:
        run, baseline, step = self._session.run, self._session.baseline, self._session.step
        if run is None:
            return
        self._empty.setText(tr(NO_TRACE if run.is_over else NOTHING_YET))
        self._pages.setCurrentIndex(1 if run.steps else 0)
        self._strip.show_words(word_maps(run, baseline, step, self._maps.look.moment))
        self._strip.show_picked(self._session.mention_id or "")
        layers = "" if self._maps.choice == LayerChoice() else tr(OF_GUIDANCE)
        said = (self._meaning(run, step), self._meaning_of_baseline(run, baseline, step), layers)
        self._words.setText(" ".join(filter(None, said)))

    def _pick_word(self, key: str) -> None:
        self._session.pick_mention(MentionId(key) if key else None)

    def _meaning(self, run: OpenRun, step: int) -> str:
        """Describe the PoS of the first relation, or of the picked word's first relation."""
        event, picked = step_at(run, step), self._session.mention_id
        if event is None:
            return ""
        wanted = self._maps.look.moment
        pos = event.pos_at(moment_of(run, wanted))
        measured = [relation for relation in run.scene.relations if relation.id in pos]
        of_word = [relation for relation in measured if picked in relation.ends]
        when = moment_in_words(run, wanted) if event.is_guided else ""
        for relation in of_word or measured:
            sentence = relation_in_words(relation, pos[relation.id], run.scene)
            return f"{sentence} {tr(when)}." if when else sentence
        return ""

    def _meaning_of_baseline(self, run: OpenRun, second: OpenRun | None, step: int) -> str:
        """Describe the baseline's PoS of the same relation; empty without a baseline."""
        return "" if second is None else baseline_in_words(run, second, self._meaning(second, step))

    def _lay_out(self) -> None:
        self._pages = pages(self._empty, MapRoom(self._strip))
        self._pages.setMinimumHeight(em(TRACE_EM))
        self._pages.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Ignored)
        column(grow(self._pages), self._words, within=self, gap=0.3, edges=(0.9, 0.3, 0.9, 0.5))
