"""The dock of per-step measurements of the open run, the second run, or their difference."""

from collections.abc import Iterable

from PySide6.QtGui import QGuiApplication

from spatialstudio.application.inspect.step_numbers import (
    Column,
    Measure,
    StepNumbers,
    StepTable,
    difference,
    moment_in_words,
    tab_separated,
)
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.map_view import MapSource
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.inspect.widgets.number_table import NumberColumn, NumberTable
from spatialstudio.ui.stage.map_presenter import (
    layers_in_words,
    map_selection,
    map_source_choices,
    on_chosen_layers,
    shown_moment,
)
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TIPS = {
    Measure.ENTROPY: "Entropy of the map in bits; low for concentrated attention",
    Measure.CENTRE_X: "Horizontal centre of the map, as a fraction of the width from the left",
    Measure.CENTRE_Y: "Vertical centre of the map, as a fraction of the height from the top",
    Measure.SPREAD: "Standard distance from the centre, as a fraction of the sides",
    Measure.OVERLAP: "Overlap of the two maps: 0 disjoint, 1 identical",
    Measure.POS: "PoS of the attention maps; ties count half",
}
UNITS = "Positions and distances are fractions of the picture's sides; entropy is in bits."
NOTHING_YET = "Measurements at each step appear here during generation."
KEYS_OF_TABLES = (
    inspect_commands.PLAY,
    inspect_commands.PREVIOUS,
    inspect_commands.NEXT,
    inspect_commands.FIRST,
    inspect_commands.LAST,
)


class NumbersPanel(Panel):
    """Shows entropy, centre and spread of each word's map, and overlap and PoS of each relation."""

    title = "Numbers"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._maps = context.maps
        self._toasts = context.toasts
        self._numbers, self._second_numbers = StepNumbers(), StepNumbers()
        self._source = MapSource.FIRST
        self._shown = StepTable()
        self._table = NumberTable()
        self._table.step_picked.connect(self._session.pick_step)
        self._table.copy_asked.connect(self._copy)
        self._choice = Segments(tr("Run"), map_source_choices())
        self._choice.choice_picked.connect(self._show_source)
        self._choice.show_choice(self._source)
        self._choice.hide()
        self._explanation = TextLabel(tr(NOTHING_YET), Tone.MUTED, small=True)
        copy = replay_commands.COPY_NUMBERS
        do = context.actions[copy].trigger
        self._button = push_button(tr("Copy all"), do, name=tr(copy.text), tip=tr(copy.tip))
        self._button.setEnabled(False)
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        context.actions.bind(copy, self._copy)
        context.actions.use_stage_keys(self, without=KEYS_OF_TABLES)
        foot = row(grow(self._explanation), self._button)
        parts = (self._choice, grow(self._table), foot)
        column(*parts, within=self, gap=0.4, edges=(0.9, 0.3, 0.9, 0.5))

    def handle(self, event: object) -> None:
        """Follow the run and the picked step while visible."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked():
                self._clock.request()

    def _draw(self) -> None:
        run = self._session.run
        if run is None:
            return
        self._choice.setVisible(self._session.baseline is not None)
        self._measure()
        columns = tuple(map(_named, self._shown.columns))
        self._table.show_numbers(columns, self._shown.steps, self._shown.rows)
        self._table.show_step(self._session.step)
        self._explanation.setText(self._explained(run))
        self._button.setEnabled(bool(self._shown.rows))

    def _explained(self, run: OpenRun) -> str:
        """Describe what is measured, and when within a step it was read."""
        if not self._shown.rows:
            return tr(NOTHING_YET)
        selection = map_selection(self._maps, run)
        shown = on_chosen_layers(run, selection)
        when = moment_in_words(shown, shown_moment(run, selection))
        parts = (f"{part}." for part in (layers_in_words(run, selection), tr(when)) if part)
        return " ".join((*parts, tr(UNITS)))

    def _measure(self) -> None:
        run, baseline = self._session.run, self._session.baseline
        if run is None:
            return
        selection = map_selection(self._maps, run, baseline)
        moment = shown_moment(run, selection)
        run = on_chosen_layers(run, selection)
        baseline = None if baseline is None else on_chosen_layers(baseline, selection)
        if baseline is None or self._source is MapSource.FIRST:
            self._shown = self._numbers.table(run, moment)
            return
        second = self._second_numbers.table(baseline, moment)
        if self._source is MapSource.DIFFERENCE:
            second = difference(self._numbers.table(run, moment), second)
        self._shown = second

    def _show_source(self, source: MapSource) -> None:
        self._source = source
        self._draw()

    def _copy(self, places: Iterable[int] | None = None) -> None:
        self._measure()
        if self._shown.rows:
            QGuiApplication.clipboard().setText(tab_separated(self._shown, places))
            self._toasts.tell(tr("Copied the numbers as tab-separated text."))


def _named(shown: Column) -> NumberColumn:
    name, tip = tr(shown.measure.value), tr(TIPS[shown.measure])
    return NumberColumn(shown.of, name, f"{shown.of}: {tip}")
