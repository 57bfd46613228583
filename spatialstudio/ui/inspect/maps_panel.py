"""The dock of map opacity, scale and isolines, and of the selected relation's reading."""

from dataclasses import replace

from PySide6.QtCore import QSignalBlocker
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox

from spatialstudio.application.inspect.step_numbers import baseline_in_words
from spatialstudio.application.inspect.view_script import LayersToRead, view_script
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.stage.map_presenter import (
    MapSelection,
    layers_in_words,
    legend_of,
    map_selection,
    maps_at,
    moment_note,
    shown_moment,
    shown_relation,
    shown_words,
    words_to_script,
)
from spatialstudio.ui.stage.widgets.map_legend import MapLegend
from spatialstudio.ui.widgets.builders import SPACE, column, grow, push_button, row, space
from spatialstudio.ui.widgets.fields import Slider
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

FULL = 100
TIPS = {
    MapScale.PER_MAP: ("Each map is normalised to its own maximum: compare shapes, not magnitudes"),
    MapScale.SHARED: "All maps share one maximum: compare magnitudes",
    MapScale.ABSOLUTE: "Attention probabilities, not rescaled",
}
MOMENTS = {
    Moment.BEFORE: ("Before updates", "Attention and PoS before the latent updates"),
    Moment.AFTER: ("After updates", "Attention and PoS after the latent updates"),
}
OPEN_RUN_BARS = "The colour bars are those of the open run."
NOT_STORED = "Only stored runs can be opened by a script."
NO_MAPS = "This step has no maps."
COPIED = "Copied. Run the script with the Python environment of Spatial Studio."
PIN_TWO = "Pin both objects of a relation to see its attention PoS."


class MapsPanel(Panel):
    """Lets the user set opacity, scale and isolines; describes the relation of two pinned words."""

    title = "Attention maps"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._session = context.studio.session
        self._stage = context.stage
        self._maps = context.maps
        self._layers = context.studio.paths.layers
        self._opacity = Slider(accessibleName=tr("Opacity of the maps"), maximum=FULL)
        self._opacity.valueChanged.connect(self._fade)
        self._scale = Segments(
            tr("Normalisation"), {each: (tr(each.value), tr(TIPS[each])) for each in MapScale}
        )
        self._scale.choice_picked.connect(lambda scale: self._maps.show_look(scale=scale))
        self._isolines = QCheckBox(tr("Isolines, 50 and 80 %"))
        self._isolines.setToolTip(tr("Smallest areas that contain these fractions of a map's mass"))
        self._isolines.clicked.connect(lambda on: self._maps.show_look(has_isolines=on))
        self._moment = Segments(
            tr("Capture of guided steps"),
            {each: (tr(text), tr(tip)) for each, (text, tip) in MOMENTS.items()},
        )
        self._moment.choice_picked.connect(lambda moment: self._maps.show_look(moment=moment))
        self._note = TextLabel(tone=Tone.MUTED, small=True, lines=2)
        self._legend = MapLegend(context.theme)
        self._sentence = TextLabel(tone=Tone.HEADING, lines=2)
        self._second_sentence = TextLabel()
        self._details = TextLabel(tone=Tone.MUTED, small=True, lines=3)
        copy = context.actions[inspect_commands.COPY_PYTHON]
        self._copy = push_button(tr("Copy as Python"), copy.trigger, tip=copy.toolTip())
        context.actions.bind(inspect_commands.COPY_PYTHON, self._copy_script)
        self._tell = context.toasts.tell
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        self._stage.layers_changed.connect(self._clock.request)
        self._lay_out()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run and the step."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked():
                self._clock.request()

    def _fade(self, percent: int) -> None:
        look = self._stage.look_of(Layer.MAPS)
        self._stage.show_look(Layer.MAPS, replace(look, opacity=percent / FULL))

    def _copy_script(self) -> None:
        run, step = self._session.run, self._session.step
        if run is None or run.path is None:
            self._tell(tr(NOT_STORED))
            return
        selection = map_selection(self._maps, run, self._session.baseline)
        words, choice = words_to_script(run, step, selection)
        if not words:
            self._tell(tr(NO_MAPS))
            return
        moment = shown_moment(run, selection)
        layers = LayersToRead(choice=choice, folder=self._layers) if choice else None
        script = view_script(run, words, step, self._maps.look.scale, layers, moment)
        QGuiApplication.clipboard().setText(script)
        self._tell(tr(COPIED))

    def _draw(self) -> None:
        with QSignalBlocker(self._opacity):
            self._opacity.setValue(round(self._stage.look_of(Layer.MAPS).opacity * FULL))
        self._scale.show_choice(self._maps.look.scale)
        self._moment.show_choice(self._maps.look.moment)
        self._isolines.setChecked(self._maps.look.has_isolines)
        run, baseline, step = self._session.run, self._session.baseline, self._session.step
        sentences = (self._sentence, self._second_sentence, self._details)
        for part in (*sentences, self._legend, self._note):
            part.setVisible(run is not None)
        if run is None:
            return
        selection = map_selection(self._maps, run, baseline)
        maps = maps_at(run, step, selection)
        words = shown_words(run.scene, selection)
        layers, moment = layers_in_words(run, selection), moment_note(run, step, selection)
        own = self._maps.look.scale is MapScale.PER_MAP and baseline is not None
        bars = tr(OPEN_RUN_BARS) if own else ""
        self._note.show_text(" ".join(filter(None, (f"{layers}." if layers else "", moment, bars))))
        self._legend.show_entries(legend_of(run.scene, maps, words, selection))
        reading = shown_relation(run.scene, maps, words)
        self._sentence.show_text(reading.sentence if reading else "")
        self._second_sentence.show_text(self._of_baseline(run, baseline, selection))
        self._details.setText("\n".join(reading.details) if reading else tr(PIN_TWO))

    def _of_baseline(self, run: OpenRun, second: OpenRun | None, selection: MapSelection) -> str:
        """Return the sentence on the baseline's maps; empty without a baseline or its maps."""
        if second is None:
            return ""
        maps = maps_at(second, self._session.step, selection)
        reading = shown_relation(second.scene, maps, shown_words(second.scene, selection))
        if reading is None or reading.pos is None:
            return ""
        return baseline_in_words(run, second, reading.sentence)

    def _lay_out(self) -> None:
        label = TextLabel(tr("Opacity"), wraps=False)
        column(
            self._sentence,
            self._second_sentence,
            self._details,
            space(0.5),
            self._note,
            self._moment,
            TextLabel(tr("Normalisation"), Tone.HEADING),
            self._scale,
            self._legend,
            row(label, grow(self._opacity), gap=0.6),
            self._isolines,
            row(self._copy, SPACE),
            within=self,
            gap=0.5,
        )
