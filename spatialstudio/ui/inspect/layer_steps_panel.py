"""The dock that shows in which layer and at which step a relation is decided."""

from dataclasses import replace
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSizePolicy, QWidget

from spatialstudio.application.inspect.captured_layers import layers_read
from spatialstudio.application.inspect.layer_maps import LayersAveraged, LayersMissing
from spatialstudio.application.inspect.layer_table import LayersMeasured, LayerTable, difference
from spatialstudio.application.inspect.step_numbers import Column, Measure
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.attention import AttentionDetail, LayerChoice, Moment
from spatialstudio.domain.generation import RequestId
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.map_view import MapSource
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.plot_saving import save_plot
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect.block_presenter import guiding_layers, kept_layers
from spatialstudio.ui.inspect.blocks_panel import CAPTURE, CAPTURE_TIP, WILL_BE_KEPT
from spatialstudio.ui.inspect.layer_presenter import (
    cell_in_words,
    curves_in_words,
    curves_of,
    deciding_layers,
    difference_of_curves,
    heat_contents,
    largest_in_words,
    measure_choices,
    reading_in_words,
    settled_in_words,
)
from spatialstudio.ui.inspect.widgets.layer_heat_map import HeatContents, HeatCurve, LayerHeatMap
from spatialstudio.ui.stage.map_presenter import map_source_choices
from spatialstudio.ui.widgets.builders import SPACE, column, grow, pages, push_button, row
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

NO_RUN = "PoS, entropy, mass and overlap by layer and step appear here after a picture."
NONE_CAPTURED = "This run has no recorded layers. Record all layers, then generate it again."
RUNNING = "The layers are measured when the picture is finished."
MEASURING = "Measuring the recorded layers…"
NOT_COMPARABLE = (
    "The runs cannot be subtracted: they share no recorded layer, step or word, or one was read "
    "before and the other after a step's updates."
)
SECOND_LACKS = "The second run has no recorded layers."
LEGEND = "Triangles: layers that guidance reads. Bars: chosen layers."
WILL_GUIDE = "The next picture is guided with {count} chosen layers."
USUAL_LAYERS = "The next picture is guided with the layers of the model's family."
ONE_RESOLUTION = "Guidance reads layers of one resolution: choose layers with maps of one size."
TABLES_KEPT = 4
_Reading: TypeAlias = tuple[RequestId, Moment | None]
KEYS_OF_THE_MAP = (inspect_commands.PLAY,)


class LayerStepsPanel(Panel):
    """Shows a measure by layer and step of the open run, the second run, or their difference."""

    title = "Layers over the steps"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._session = context.studio.session
        self._maps = context.maps
        self._tables = dict[_Reading, LayerTable]()
        self._failures = dict[RequestId, str]()
        self._asked: tuple[_Reading, ...] = ()
        self._source, self._measure = MapSource.FIRST, Measure.POS
        self._columns: tuple[Column, ...] = ()
        self._measures = Segments(tr("Measure"), measure_choices())
        self._measures.choice_picked.connect(partial(self._show, "_measure"))
        self._measures.show_choice(self._measure)
        self._sources = Segments(tr("Run"), map_source_choices())
        self._sources.choice_picked.connect(partial(self._show, "_source"))
        self._sources.show_choice(self._source)
        self._of = ChoiceBox(tr("Word or relation"))
        self._of.activated.connect(lambda _index: self._draw())
        self._heat = LayerHeatMap(context.theme)
        self._heat.step_picked.connect(self._session.pick_step)
        self._heat.layer_picked.connect(self._pick_layer)
        self._heat.save_asked.connect(partial(save_plot, context.toasts))
        self._empty = TextLabel(tr(NO_RUN), Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._sentence = TextLabel(tone=Tone.MUTED, small=True)
        policy = self._sentence.sizePolicy()  # needs its height at the dock's width only
        policy.setVerticalPolicy(QSizePolicy.Policy.Preferred)
        self._sentence.setSizePolicy(policy)
        tip = tr(CAPTURE_TIP)
        self._capture = push_button(tr(CAPTURE), self._ask_capture, name=tip, tip=tip)
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        guide = inspect_commands.GUIDE_WITH_LAYERS
        context.actions.bind(guide, self._guide_with)
        do = context.actions[guide].trigger
        self._guide = push_button(tr(guide.text), do, name=tr(guide.text), tip=tr(guide.tip))
        context.actions.use_stage_keys(self, without=KEYS_OF_THE_MAP)
        self._lay_out()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the runs, the picked step and the measurements."""
        match event:
            case RunChanged() | BaselineChanged():
                self._clock.request()
            case StepPicked():
                self._heat.show_step(self._session.step)
                self._describe()
            case LayersMeasured(table=table):
                kept = list(self._tables.items())[-TABLES_KEPT:]
                self._tables = {**dict(kept), (table.request_id, table.moment): table}
                self._failures.pop(table.request_id, None)
                self._clock.request()
            case LayersMissing(request_id=request_id, error=error):
                self._failures[request_id] = f"{error.message} {error.hint}"
                self._clock.request()

    def _draw(self) -> None:
        run, second = self._session.run, self._session.baseline
        if second is None:
            self._source = MapSource.FIRST
            self._sources.show_choice(self._source)
        self._sources.setVisible(second is not None)
        table, note = self._found(run, second)
        self._capture.setVisible(note == tr(NONE_CAPTURED))
        self._pages.setCurrentIndex(0 if table is None else 1)
        for part in (self._measures, self._of, self._guide):
            part.setVisible(table is not None)
        self._empty.setText(note)
        self._sentence.setToolTip("")
        if run is None or table is None:
            self._sentence.show_text("")
            return
        shown = self._shown_run(run, second)
        chosen, choice = self._chosen_column(table), self._maps.choice
        is_difference = self._source is MapSource.DIFFERENCE
        if chosen is None:
            self._heat.show_contents(HeatContents(), self._session.step)
            return
        contents = heat_contents(
            table,
            shown,
            chosen,
            choice,
            self._curves(shown, second, chosen),
            is_difference=is_difference,
        )
        self._heat.show_contents(contents, self._session.step)
        if not is_difference:
            layers = deciding_layers(table, shown, chosen, choice.head)
            self._sentence.setToolTip(plain_tip(layers))
        self._describe()

    def _found(self, run: OpenRun | None, second: OpenRun | None) -> tuple[LayerTable | None, str]:
        """Return the shown table; None with the reason why there is none."""
        if run is None:
            return None, tr(NO_RUN)
        if self._source is MapSource.FIRST or second is None:
            return self._table_of(run)
        if not second.attention_files:
            return None, tr(SECOND_LACKS)
        own, note = self._table_of(run)
        other, other_note = self._table_of(second)
        if self._source is MapSource.SECOND:
            return other, other_note
        if own is None or other is None:
            return None, note or other_note
        found = difference(own, other)
        return found, "" if found else tr(NOT_COMPARABLE)

    def _curves(
        self, run: OpenRun, second: OpenRun | None, chosen: Column
    ) -> tuple[HeatCurve, ...]:
        """Return the curves of the shown run, or their difference from the second run's."""
        moment = self._maps.look.moment
        curves = curves_of(run, self._averaged(run), chosen, moment)
        if second is None or self._source is not MapSource.DIFFERENCE:
            return curves
        return difference_of_curves(
            curves, curves_of(second, self._averaged(second), chosen, moment)
        )

    def _averaged(self, run: OpenRun) -> LayersAveraged | None:
        """Return a run's maps of the chosen layers; None for those of guidance, and until known."""
        choice, averaged = self._maps.choice, self._maps.averages.get(run.id)
        if choice == LayerChoice() or averaged is None:
            return None
        kept = kept_layers(run)
        layers = (choice.layers & kept) or (guiding_layers(run) & kept)
        return averaged if averaged.choice == replace(choice, layers=layers) else None

    def _table_of(self, run: OpenRun) -> tuple[LayerTable | None, str]:
        """Return the measurements of a run; start to measure it if it can be."""
        if not run.attention_files:
            return None, tr(NONE_CAPTURED)
        if not run.is_over:
            return None, tr(RUNNING)
        if (table := self._tables.get(self._reading(run))) is not None:
            return table, ""
        if run.id in self._failures:
            return None, self._failures[run.id]
        self._measure_runs()
        return None, tr(MEASURING)

    def _measure_runs(self) -> None:
        """Measure both runs, each once."""
        runs = [
            each
            for each in (self._session.run, self._session.baseline)
            if each is not None
            and each.is_over
            and each.attention_files
            and self._reading(each) not in self._tables
        ]
        asked = tuple(self._reading(each) for each in runs)
        if runs and asked != self._asked:
            self._asked = asked
            self._context.studio.storage.layer_tables.measure(runs, self._maps.look.moment)

    def _reading(self, run: OpenRun) -> _Reading:
        """Return a run with the moment at which its layers are shown."""
        return run.id, layers_read(run, self._maps.look.moment)

    def _shown_run(self, run: OpenRun, second: OpenRun | None) -> OpenRun:
        is_second = self._source is MapSource.SECOND and second is not None
        return second if is_second and second is not None else run

    def _chosen_column(self, table: LayerTable) -> Column | None:
        """Return the chosen column of the measure; offer the others."""
        columns = tuple(each for each in table.columns if each.measure is self._measure)
        if columns != self._columns:
            before = self._of.currentText()
            self._columns = columns
            self._of.clear()
            self._of.addItems([each.of for each in columns])
            names = [each.of for each in columns]
            self._of.setCurrentIndex(names.index(before) if before in names else 0)
        place = self._of.currentIndex()
        return columns[place] if 0 <= place < len(columns) else None

    def _describe(self) -> None:
        """Say the value at the current step and layer, and where the relation is decided."""
        run, contents = self._session.run, self._heat.contents_shown
        table, _ = self._found(run, self._session.baseline)
        place = self._of.currentIndex()
        if run is None or table is None or not 0 <= place < len(self._columns):
            return
        said = [cell_in_words(contents, self._heat.layer, self._session.step)]
        if self._source is MapSource.DIFFERENCE:
            said.append(largest_in_words(contents))
        else:
            shown = self._shown_run(run, self._session.baseline)
            said.append(
                settled_in_words(table, shown, self._columns[place], self._maps.choice.head)
            )
        said += [reading_in_words(table), tr(LEGEND), curves_in_words(contents.curves)]
        self._sentence.show_text(" ".join(filter(None, said)))

    def _pick_layer(self, layer: int, adds: bool) -> None:
        run, layers = self._session.run, self._heat.contents_shown.layers
        if run is None or not 0 <= layer < len(layers):
            return
        name = frozenset({layers[layer]})
        chosen = self._maps.choice.layers or guiding_layers(run)
        self._maps.average(chosen ^ name if adds else name)

    def _guide_with(self) -> None:
        """Set the layers that guide the next picture."""
        run, chosen = self._session.run, self._maps.choice.layers
        shapes = {layer.shape for layer in (run.text_layers if run else ()) if layer.name in chosen}
        if len(shapes) > 1:
            self._context.toasts.tell(tr(ONE_RESOLUTION))
            return
        self._context.window_signals.guidance_layers_asked.emit(chosen)
        said = tr(WILL_GUIDE).format(count=len(chosen)) if chosen else tr(USUAL_LAYERS)
        self._context.toasts.tell(said)

    def _show(self, name: str, choice: object) -> None:
        setattr(self, name, choice)
        self._draw()

    def _ask_capture(self) -> None:
        self._context.window_signals.capture_asked.emit(AttentionDetail.EVERY_WORD)
        self._context.toasts.tell(tr(WILL_BE_KEPT))

    def _lay_out(self) -> None:
        nothing = QWidget()
        column(SPACE, self._empty, row(SPACE, self._capture, SPACE), SPACE, within=nothing, gap=0.5)
        self._pages = pages(nothing, self._heat)
        head = row(self._measures, grow(self._of), self._sources)
        parts = (head, grow(self._pages), row(grow(self._sentence), self._guide))
        column(*parts, within=self, gap=0.3, edges=(0.9, 0.3, 0.9, 0.5))
