"""The dock of self-attention: where a chosen place of the picture attends."""

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QWidget

from spatialstudio.application.inspect.self_attention import (
    Place,
    PlaceAttention,
    has_joint_attention,
    place_attention,
    self_layers,
)
from spatialstudio.application.inspect.view_script import place_script
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    RunChanged,
    StepPicked,
)
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.scene import MentionId
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect.layer_presenter import READ
from spatialstudio.ui.inspect.maps_panel import COPIED, NOT_STORED
from spatialstudio.ui.inspect.widgets.place_map import PlaceContents, PlaceMap
from spatialstudio.ui.stage.map_presenter import map_selection, maps_at, place_in_words, step_at
from spatialstudio.ui.stage.stage_presenter import word_maps
from spatialstudio.ui.stage.widgets.map_strip import MapRoom, MapStrip
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, column, grow, pages, push_button, row
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

NO_RUN = "Where a place of the picture attends appears here once a picture recorded it."
NONE_CAPTURED = "This run has no self-attention. Record it, then generate the picture again."
JOINT = (
    "Joint attention: in the layers of this model, text and picture attend together; it has no "
    'separate self-attention. "Attention maps" shows the attention of the picture to the words.'
)
RUNNING = "Self-attention can be read when the picture is finished."
NOT_AT_STEP = "Self-attention was not recorded at this step."
CAPTURE = "Record self-attention"
CAPTURE_TIP = (
    "Record the self-attention of layers of at most 32 x 32 positions for the next picture; "
    "UNets and PixArt only"
)
WILL_BE_KEPT = "The next picture will record self-attention."
COPY_TIP = "Copy a script that opens this run and reads this map"
SIDE_EM = 21
NARROW_EM = 34
WORDS_EM = 8


class SelfAttentionPanel(Panel):
    """Shows where a chosen place attends in a layer, beside the cross-attention of the words."""

    title = "Self-attention"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._session = context.studio.session
        self._maps = context.maps
        self._place: Place = (0.5, 0.5)
        self._layers: tuple[AttentionFile, ...] = ()
        self._map = PlaceMap(context.theme)
        self._map.place_picked.connect(self._pick_place)
        self._strip = MapStrip(context.theme)
        self._strip.word_picked.connect(self._pick_word)
        self._layer = ChoiceBox(tr("Layer"))
        self._layer.activated.connect(lambda _index: self._draw())
        self._sentence = TextLabel(tone=Tone.MUTED, small=True)
        self._empty = TextLabel(tr(NO_RUN), Tone.MUTED)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        tip = tr(CAPTURE_TIP)
        self._capture = push_button(tr(CAPTURE), self._ask_capture, name=tip, tip=tip)
        copy_tip = tr(COPY_TIP)
        self._copy = push_button(
            tr("Copy as Python"), self._copy_script, name=copy_tip, tip=copy_tip
        )
        self._clock = VisibleFrameClock(self._draw, self)
        self._maps.changed.connect(self._clock.request)
        self._lay_out()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run, the step and the picked word."""
        match event:
            case RunChanged() | BaselineChanged() | StepPicked() | MentionPicked():
                self._clock.request()

    def _draw(self) -> None:
        run = self._session.run
        found, note = self._found(run)
        self._pages.setCurrentIndex(0 if found is None else 1)
        self._capture.setVisible(note in {tr(NO_RUN), tr(NONE_CAPTURED)})
        self._empty.setText(note)
        if run is None or found is None:
            self._sentence.show_text("")
            return
        step = self._session.step
        text = self._in_words(run, step, found)
        at_end = run.image is not None and step >= len(run.steps) - 1
        event = step_at(run, step)
        picture = run.image if at_end else (event.preview if event else None)
        self._map.show_contents(
            PlaceContents(weights=found.weights, cell=found.cell, picture=picture, text=text)
        )
        self._strip.show_words(word_maps(run, None, step, self._maps.look.moment))
        self._strip.show_picked(self._session.mention_id or "")
        self._sentence.show_text(text)

    def _found(self, run: OpenRun | None) -> tuple[PlaceAttention | None, str]:
        """Return the attention of the place; None with the reason why there is none."""
        self._offer_layers(self_layers(run) if run is not None and run.is_over else ())
        if run is None:
            return None, tr(NO_RUN)
        if not run.self_attention_files:
            return None, tr(JOINT if has_joint_attention(run) else NONE_CAPTURED)
        if not run.is_over:
            return None, tr(RUNNING)
        file, read = self._layers[self._layer.currentIndex()], self._context.studio.storage
        step, moment = self._session.step, self._maps.look.moment
        try:
            found = place_attention(run, read.read_layer, file, step, self._place, moment)
        except StoreError as error:
            return None, f"{error.message} {error.hint}"
        return found, "" if found is not None else tr(NOT_AT_STEP)

    def _offer_layers(self, layers: tuple[AttentionFile, ...]) -> None:
        """Offer the layers of a run; the chosen one stays chosen if it is among them."""
        if layers == self._layers:
            return
        before, self._layers = self._layer.currentText(), layers
        names = [_named(file) for file in layers]
        with QSignalBlocker(self._layer):
            self._layer.clear()
            self._layer.addItems(names)
            self._layer.setCurrentIndex(names.index(before) if before in names else 0)

    def _in_words(self, run: OpenRun, step: int, found: PlaceAttention) -> str:
        height, width = found.weights.shape
        at, to = (
            tr("x {x:.0%}, y {y:.0%}").format(x=(c + 0.5) / width, y=(r + 0.5) / height)
            for r, c in (found.cell, found.peak)
        )
        said = tr(
            "Step {step}: the place at {at} attends most to {to} ({peak:.3g}); half of its "
            "attention lies in {area:.0%} of the picture."
        ).format(step=step + 1, at=at, to=to, peak=float(found.weights.max()), area=found.half_area)
        selection = map_selection(self._maps, run)
        words = [mention.id for mention in run.scene.mentions]
        cross = place_in_words(run.scene, maps_at(run, step, selection), words, *self._place)
        parts = [said, tr(READ[found.moment]) if found.moment else ""]
        parts.append(tr("Cross-attention there: {words}.").format(words=cross) if cross else "")
        return " ".join(filter(None, parts))

    def _copy_script(self) -> None:
        """Copy the script that reads the shown map."""
        run, step = self._session.run, self._session.step
        found, _ = self._found(run)
        if run is None or found is None:
            return
        if run.path is None:
            self._context.toasts.tell(tr(NOT_STORED))
            return
        file = self._layers[self._layer.currentIndex()]
        script = place_script(run, file, step, found, self._context.studio.paths.layers)
        QGuiApplication.clipboard().setText(script)
        self._context.toasts.tell(tr(COPIED))

    def _pick_place(self, x: float, y: float) -> None:
        self._place = (x, y)
        self._draw()

    def _pick_word(self, key: str) -> None:
        self._session.pick_mention(MentionId(key) if key else None)

    def _ask_capture(self) -> None:
        self._context.window_signals.self_attention_asked.emit()
        self._context.toasts.tell(tr(WILL_BE_KEPT))

    def resizeEvent(self, event: QResizeEvent) -> None:
        way = QBoxLayout.Direction
        is_narrow = self.width() < em(NARROW_EM)
        self._parts.setDirection(way.TopToBottom if is_narrow else way.LeftToRight)
        super().resizeEvent(event)

    def _lay_out(self) -> None:
        body, side, empty = QWidget(), QWidget(), QWidget()
        words = MapRoom(self._strip)
        words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        words.setMinimumHeight(em(WORDS_EM))
        side.setMaximumWidth(em(SIDE_EM))
        column(*(self._layer, self._sentence, row(self._copy, SPACE), SPACE), within=side, gap=0.5)
        self._parts = row(self._map, grow(words, 3), grow(side, 2), within=body, gap=0.8)
        column(grow(self._empty), row(SPACE, self._capture, SPACE), within=empty, gap=0.5)
        self._pages = pages(empty, body)
        column(grow(self._pages), within=self, edges=(0.9, 0.3, 0.9, 0.5))


def _named(file: AttentionFile) -> str:
    *_, height, width = file.shape
    return f"{file.layer} ({width}x{height})"
