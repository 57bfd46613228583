"""The dock that selects the averaged layers and what the next run captures."""

from functools import partial

from PySide6.QtWidgets import QWidget

from spatialstudio.application.inspect.layer_maps import LayersAveraged, LayersMissing
from spatialstudio.application.jobs.messages import LayersListed
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
)
from spatialstudio.domain.attention import (
    AttentionDetail,
    LayerChoice,
    ModelLayers,
    TextLayer,
)
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.ports import ModelCard
from spatialstudio.ui.framework.bridge import FrameClock, VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.inspect.block_presenter import (
    blocks_of,
    blocks_to_come,
    guiding_layers,
    heads_of,
    kept_layers,
    layers_of,
    layers_of_shape,
    names_of,
    shapes_of,
)
from spatialstudio.ui.inspect.widgets.block_picker import BlockPicker
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import (
    SPACE,
    FlowLayout,
    Slot,
    clear,
    column,
    push_button,
    row,
    tool_button,
)
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    tr,
)

UNTOLD = "The model's layers were not recorded for this run."
MEAN_ONLY = "Only the mean over the filled blocks was recorded."
NO_MODEL = "The model's blocks appear here once it is loaded."
TO_COME = "Select blocks for the next picture. This records all layers."
CAPTURE = "Record all layers"
CAPTURE_TIP = (
    'Record the maps of all words in every layer for the next picture; "All layers" in the form'
)
KEPT = "Click a block to include or exclude it; double-click to show only that block."
CACHE = "Recorded layers on this computer: {} of at most {}."
CACHE_TIP = (
    "The oldest runs lose their recorded layers when a new one does not fit. Export runs as "
    '"Bundle with layers" to keep them.'
)
ALL_HEADS = "Mean over heads"
RUNNING = "Individual layers can be selected when the picture is finished."
WILL_BE_KEPT = "The next picture will record all layers."
HEADS_WILL_BE_KEPT = "The next picture will record all layers and heads."


class BlocksPanel(Panel):
    """Lets the user pick blocks and resolutions; averages the maps in the background."""

    title = "Layers of the model"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._session = context.studio.session
        self._maps = context.maps
        self._asked: tuple[object, ...] = ()
        self._heads = ChoiceBox(tr("Attention head"))
        self._heads.activated.connect(self._pick_head)
        self._failures: dict[object, str] = {}
        self._picker = BlockPicker(context.theme)
        self._picker.block_toggled.connect(self._toggle)
        self._picker.block_singled.connect(self._single)
        self._picks = QWidget()
        self._flow = FlowLayout(em(0.2))
        self._picks.setLayout(self._flow)
        self._shapes: tuple[tuple[int, int], ...] = ()
        self._note = TextLabel(tone=Tone.MUTED, small=True)
        self._cache = TextLabel(tone=Tone.MUTED, small=True)
        self._cache.setToolTip(tr(CACHE_TIP))
        self._cache.hide()
        tip = tr(CAPTURE_TIP)
        self._capture = push_button(tr(CAPTURE), self._ask_for_more, name=tip, tip=tip)
        self._clock = VisibleFrameClock(self._draw, self)
        self._averaging = FrameClock(self._average, self)
        self._maps.changed.connect(self._follow)
        for signal in (context.window_signals.model_picked, context.window_signals.capture_asked):
            signal.connect(self._clock.request)
        foot = row(self._capture, SPACE)
        parts = (self._picker, self._picks, self._heads, self._note, self._cache, foot)
        column(*parts, within=self, gap=0.5)
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the run; show its averaged maps."""
        match event:
            case RunChanged() | BaselineChanged():
                self._follow()
            case LayersListed():
                self._clock.request()
            case LayersAveraged():
                self._failures.pop(event.request_id, None)
                self._maps.take(event)
            case LayersMissing(request_id=request_id, error=error):
                self._failures[request_id] = f"{error.message} {error.hint}"
                self._clock.request()

    def _follow(self) -> None:
        """Redraw if visible; request the averaged maps regardless, as the stage shows them."""
        self._clock.request()
        self._averaging.request()

    def _draw(self) -> None:
        run = self._session.run
        if run is None:
            self._ask_layers()
        layers, chosen = self._text_layers, self._maps.choice.layers
        self._picker.setVisible(bool(layers))
        self._picks.setVisible(bool(layers))
        self._show_heads(run)
        if run is not None:
            self._picker.show_blocks(blocks_of(run, chosen))
            self._show_shapes(shapes_of(layers) if kept_layers(run) else ())
            self._note_on(run)
        elif (model := self._model) is not None:
            self._picker.show_blocks(blocks_to_come(model, chosen & names_of(layers)))
            self._show_shapes(shapes_of(layers))
            self._show_note(tr(self._note_to_come), offers_more=self._keeps_means)
        else:
            self._show_note(tr(NO_MODEL), offers_more=self._keeps_means)

    @property
    def _text_layers(self) -> tuple[TextLayer, ...]:
        """The layers of the open run's model, or of the selected model."""
        if (run := self._session.run) is not None:
            return run.text_layers
        return self._model.layers if self._model is not None else ()

    @property
    def _guiding(self) -> frozenset[str]:
        if (run := self._session.run) is not None:
            return guiding_layers(run)
        return self._model.guiding if self._model is not None else frozenset()

    @property
    def _model(self) -> ModelLayers | None:
        """The layers of the selected model; None if unknown."""
        card = self._card
        return None if card is None else self._context.studio.layers.of(card.id)

    @property
    def _card(self) -> ModelCard | None:
        """The selected model, the first by default; None if there are none."""
        models = self._context.studio.models
        settings = self._context.studio.storage.drafts.newest.settings
        chosen = (each for each in models if settings and each.id == settings.model_id)
        return next(iter((*chosen, *models)), None)

    def _ask_layers(self) -> None:
        """Request the selected model's layers at the current picture size."""
        if (card := self._card) is not None:
            settings = self._context.studio.storage.drafts.newest.settings
            side = card.native_size
            size = (settings.height, settings.width) if settings else (side, side)
            self._context.studio.layers.ask(card, *size)

    @property
    def _detail(self) -> AttentionDetail:
        settings = self._context.studio.storage.drafts.newest.settings
        return settings.detail if settings else AttentionDetail.RELATION_WORDS

    @property
    def _keeps_means(self) -> bool:
        """Whether the next run stores averaged maps only."""
        return self._detail is AttentionDetail.RELATION_WORDS

    @property
    def _note_to_come(self) -> str:
        if self._keeps_means:
            return TO_COME
        return HEADS_WILL_BE_KEPT if self._detail is AttentionDetail.EVERYTHING else WILL_BE_KEPT

    def _note_on(self, run: OpenRun) -> None:
        if not run.text_layers:
            self._show_note(tr(UNTOLD), offers_more=run.request is not None)
        elif not kept_layers(run):
            self._show_note(tr(MEAN_ONLY), offers_more=True)
        elif failure := self._failures.get(run.id):
            self._show_note(failure, offers_more=False)
        else:
            self._show_note(tr(KEPT if run.is_over else RUNNING), offers_more=False)
        self._show_cache(run)

    def _show_cache(self, run: OpenRun) -> None:
        """Show how full the cache is, if the run has layers in it."""
        self._cache.setVisible(bool(run.attention_files or run.self_attention_files))
        use = self._context.studio.storage.layer_cache()
        sizes = map(size_in_words, (use.size_bytes, use.limit_bytes))
        self._cache.setText(tr(CACHE).format(*sizes))

    def _show_note(self, text: str, *, offers_more: bool) -> None:
        self._note.setText(text)
        self._capture.setVisible(offers_more)

    def _show_shapes(self, shapes: tuple[tuple[int, int], ...]) -> None:
        if shapes == self._shapes:
            return
        self._shapes = shapes
        clear(self._flow)
        if shapes:
            tip = tr("Layers used for guidance")
            self._add_pick(tr("Guidance layers"), tip, lambda: self._maps.average(frozenset()))
            self._add_pick(tr("All"), tr("All recorded layers"), self._pick_all)
        for shape in shapes if len(shapes) > 1 else ():
            name = f"{shape[1]}x{shape[0]}"
            tip = tr("All layers of {resolution}").format(resolution=name)
            self._add_pick(name, tip, partial(self._pick_shape, shape))

    def _show_heads(self, run: OpenRun | None) -> None:
        """Offer single heads where the run stored them, or the next run can."""
        if run is not None:
            count = heads_of(run, self._layers(run))
        else:
            count = self._model.heads if self._model is not None else 1
        self._heads.setVisible(count > 1)
        if self._heads.count() != count + 1:
            self._heads.clear()
            self._heads.addItem(tr(ALL_HEADS))
            self._heads.addItems([tr("Head {number}").format(number=n + 1) for n in range(count)])
        head = self._maps.choice.head
        self._heads.setCurrentIndex(0 if head is None else head + 1)

    def _add_pick(self, text: str, tip: str, do: Slot) -> None:
        self._flow.addWidget(tool_button(text, do, kind="pill", name=tip, tip=tip))

    def _average(self) -> None:
        """Average a finished run's maps, once for each choice."""
        if (run := self._session.run) is None:
            return
        layers = self._layers(run)
        runs = [
            each
            for each in (run, self._session.baseline)
            if each is not None and each.is_over and each.attention_files
        ]
        choice = LayerChoice(layers=layers, head=self._maps.choice.head)
        moment = self._maps.look.moment
        asked = (tuple(each.id for each in runs), choice, moment)
        if not layers or not runs or asked == self._asked:
            return
        self._asked = asked
        self._context.studio.storage.layer_maps.average(runs, choice, moment)

    def _layers(self, run: OpenRun) -> frozenset[str]:
        """Return the averaged layers that the run stored."""
        kept = kept_layers(run)
        return (self._maps.choice.layers & kept) or (guiding_layers(run) & kept)

    def _toggle(self, key: str) -> None:
        known = names_of(self._text_layers)
        chosen = (self._maps.choice.layers & known) or self._guiding
        own = layers_of(self._text_layers, key)
        self._pick(chosen - own if own <= chosen else chosen | own)

    def _single(self, key: str) -> None:
        self._pick(layers_of(self._text_layers, key))

    def _pick_head(self, index: int) -> None:
        self._maps.show_head(index - 1 if index else None)
        if index:
            self._capture_at_least(AttentionDetail.EVERYTHING)

    def _pick_all(self) -> None:
        run = self._session.run
        self._pick(names_of(self._text_layers) if run is None else kept_layers(run))

    def _pick_shape(self, shape: tuple[int, int]) -> None:
        self._pick(layers_of_shape(self._text_layers, shape))

    def _pick(self, layers: frozenset[str]) -> None:
        """Average layers; without a run, set the layers that the next run stores."""
        self._maps.average(layers)
        self._capture_at_least(AttentionDetail.EVERY_WORD)

    def _capture_at_least(self, detail: AttentionDetail) -> None:
        details = list(AttentionDetail)
        if self._session.run is None and details.index(self._detail) < details.index(detail):
            self._context.window_signals.capture_asked.emit(detail)

    def _ask_for_more(self) -> None:
        self._context.window_signals.capture_asked.emit(AttentionDetail.EVERY_WORD)
        self._context.toasts.tell(tr(WILL_BE_KEPT))
