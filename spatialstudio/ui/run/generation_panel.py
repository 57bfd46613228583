"""Stage 2, relations to image: how pictures are drawn; Generate and Cancel."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.compose.layouts import things_of
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import DevicesListed, MemoryEstimated
from spatialstudio.application.models.downloads import (
    DownloadPlanned,
    DownloadsChanged,
    ModelsChanged,
    ModelsFound,
    ModelsTaskEnded,
)
from spatialstudio.application.models.model_lists import usual_settings, with_model
from spatialstudio.application.run.choose_settings import (
    last_guided_step,
    moved_on,
    presets_of,
    recommended_strength,
    settings_of,
    with_method,
    with_steps,
)
from spatialstudio.application.run.queue import Place, QueueChanged
from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    SceneChanged,
)
from spatialstudio.application.storage.picture_settings import with_fields
from spatialstudio.domain.attention import AttentionDetail, removed_in_words
from spatialstudio.domain.devices import MemoryFix, size_in_words
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.generation import GenerationStarted
from spatialstudio.domain.ports import LoraCard
from spatialstudio.domain.run_settings import (
    Preset,
    RunSettings,
    SeedMode,
    with_values,
)
from spatialstudio.ui.compose import commands as compose_commands
from spatialstudio.ui.compose.layouts_panel import LayoutDialog
from spatialstudio.ui.compose.sketch_panel import take_places
from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.commands import ALL_CONTROLS
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.framework.window_signals import OfferedSettings
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.failure_actions import report_with_remedies
from spatialstudio.ui.run.presenters import (
    A_MINUTE,
    NO_MODEL,
    device_choices,
    estimate_in_words,
    estimate_now,
    format_choices,
    kept_in_words,
    model_choices,
    prediction_choices,
    prediction_note,
    sampler_choices,
)
from spatialstudio.ui.run.settings_files import SettingsFiles
from spatialstudio.ui.run.sweep import Sweeping
from spatialstudio.ui.run.widgets.fields import Choice
from spatialstudio.ui.run.widgets.generate_footer import GenerateFooter
from spatialstudio.ui.run.widgets.run_form import RunForm
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.texts import tr

A_FEW = 4
GENERATE = "generate"
"""Of what is only estimated."""


class GenerationPanel(Panel):
    """Lets the user set how pictures are drawn, and have them drawn or stopped.

    Emits ``running_changed`` when work begins or ends, and when the next in the queue begins.
    """

    title = "Generation"
    running_changed = Signal(bool)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._studio = context.studio
        self._context = context
        self._run_id = ""
        self._shown_run: tuple[bool, str | None] = (False, None)
        self._form = RunForm(context.theme)
        self._form.guidance.show_methods(context.studio.guidance_methods)
        variants = tuple(context.actions[command] for command in commands.VARIANTS)
        self._foot = GenerateFooter(context.theme, variants)
        column(self._form, within=self)
        self._settings = self._first_settings()
        self._show_models()
        self._show()
        if self._settings is not None:
            context.window_signals.model_picked.emit(self._settings.model_id)
            context.window_signals.settings_changed.emit(self._settings)
        self._connect()
        self._bind(context.actions)
        self._sweeping = Sweeping(context, lambda: self._settings, self)
        files = SettingsFiles(context, lambda: self._settings, self)
        files.settings_opened.connect(partial(self._edit, tr("load settings")))
        files.problem_met.connect(self.problem_met)

    @property
    def buttons(self) -> QWidget:
        """Generate and Cancel, to stand where they are always in sight."""
        return self._foot

    @property
    def settings(self) -> RunSettings | None:
        """What is set; None while there is no model."""
        return self._settings

    @property
    def is_running(self) -> bool:
        """Whether a picture is being drawn or judged."""
        session = self._studio.session
        runs = [run for run in (session.run, session.baseline) if run is not None]
        return self._studio.queue.running is not None or any(not run.is_over for run in runs)

    def generate(self, place: Place = Place.LAST, pictures: int | None = None) -> None:
        """Draw the scene with what is set, or as many pictures of it as are asked for."""
        self._context.toasts.clear()
        self._context.window_signals.prompt_wanted.emit()
        if (unreadable := self._studio.session.scene_error) is not None:
            self.problem_met.emit(unreadable)
            return
        try:
            settings = self._settings or usual_settings(self._studio.model())
            settings = replace(settings, pictures=pictures or settings.pictures)
            requests = self._studio.requests(settings)
            self._studio.queue.add(*requests, with_baseline=settings.with_baseline, place=place)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Starting the run")))
            return
        self.use_seed(moved_on(settings).sampling.seed)
        self._follow()

    def cancel(self) -> None:
        """Stop what runs."""
        if self.is_running:
            self._foot.show_cancelling()
            queue = self._studio.queue
            (queue if queue.running else self._studio).cancel()

    def use_seed(self, seed: int) -> None:
        """Take a seed that was chosen elsewhere."""
        if self._settings is not None:
            self._take(with_values(self._settings, seed=seed))

    def handle(self, event: object) -> None:
        """Follow the scene, the queue, and which picture is looked at."""
        self._sweeping.handle(event)
        match event:
            case ModelsChanged():
                self._find_models(says_none=False)
            case DownloadsChanged() | DownloadPlanned() | ModelsFound() | ModelsTaskEnded():
                self._context.window_signals.models_reported.emit(event)
            case SceneChanged():
                self._estimate()
            case RunChanged(run=run):
                if run.id != self._run_id:
                    self._run_id = run.id
                    self._reuse_seed(run)
                self._follow()
            case BaselineChanged() | QueueChanged():
                self._follow()
            case MemoryEstimated():
                self._estimate()
            case DevicesListed():
                self._show_devices()
            case GenerationStarted(removed_runs=count) if count:
                self._context.toasts.tell(removed_in_words(count))

    def use_density(self, density: Density) -> None:
        """Show every setting, or only how firmly the layout is held."""
        self._form.show_all(density is Density.FULL)

    def _follow(self) -> None:
        running = self.is_running
        self._context.actions[commands.STOP_AFTER].setChecked(self._studio.queue.is_held)
        entry = self._studio.queue.running
        shown = (running, entry.id if entry else None)
        if shown == self._shown_run:
            return
        self._shown_run = shown
        self._foot.show_running(running)
        self._context.actions[commands.CANCEL].setEnabled(running)
        self.running_changed.emit(running)
        self._estimate()

    def _connect(self) -> None:
        self._form.settings_edited.connect(self._edit)
        self._form.model_picked.connect(self._pick_model)
        self._form.steps_picked.connect(self._pick_steps)
        self._form.guidance.method_picked.connect(self._pick_method)
        self._form.guidance.devices_wanted.connect(self._studio.devices.ask)
        self._form.loras_wanted.connect(self._find_loras)
        self._context.window_signals.seed_offered.connect(self.use_seed)
        self._context.window_signals.capture_asked.connect(self._pick_detail)
        self._context.window_signals.self_attention_asked.connect(self._record_self_attention)
        self._context.window_signals.guidance_layers_asked.connect(self._guide_with)
        self._foot.generate_picked.connect(self.generate)
        self._foot.cancel_picked.connect(self.cancel)
        self._foot.offer_picked.connect(self._use_small_model)
        self._context.window_signals.model_wanted.connect(self._pick_model)
        self._context.window_signals.fix_wanted.connect(self._save_memory)
        self._context.window_signals.settings_offered.connect(self._take_offered)

    def _show_tips(self) -> None:
        shown = (commands.GENERATE, commands.CANCEL)
        self._foot.show_tips(*(self._context.actions[command].toolTip() for command in shown))

    def _bind(self, actions: Actions) -> None:
        actions.keys_changed.connect(self._show_tips)
        self._show_tips()
        actions.bind(commands.GENERATE, self.generate)
        actions.bind(commands.GENERATE_FOUR, lambda: self.generate(pictures=A_FEW))
        actions.bind(commands.GENERATE_NEXT, lambda: self.generate(Place.FIRST))
        actions.bind(commands.GENERATE_INSTEAD, lambda: self.generate(Place.INSTEAD))
        actions.bind(commands.CANCEL, self.cancel)
        actions[commands.CANCEL].setEnabled(False)
        actions.bind_switch(commands.STOP_AFTER, self._studio.queue.hold)
        actions.bind_switch(commands.BASELINE, self._switch_baseline)
        actions.bind(commands.NEW_SEED, self._form.roll)
        actions.bind(commands.TAKE_SETTINGS, self._take_settings)
        actions.bind(compose_commands.LAYOUTS, self._offer_layouts)
        actions.bind(commands.CHOOSE_MODEL, self._choose_model)
        actions.bind(commands.OPEN_MODEL, self._ask_for_model)
        actions.bind(commands.FIND_MODELS, self._find_models)

    def _switch_baseline(self, on: bool) -> None:
        """Take what was chosen in menu or by key, and say so where no box shows it."""
        if self._settings is None:
            return
        self._edit(tr("baseline"), replace(self._settings, with_baseline=on))
        if self._context.settings.density is Density.SIMPLE:
            message = (
                tr("The baseline is generated as well.") if on else tr("No baseline is generated.")
            )
            self._context.toasts.tell(message)

    def _pick_model(self, model_id: str) -> None:
        if self._settings is not None:
            chosen = with_model(self._settings, self._studio.model(model_id))
            self._edit(tr("change model"), chosen)

    def _pick_steps(self, steps: int) -> None:
        if self._settings is not None:
            model = self._studio.model(self._settings.model_id)
            self._edit(tr("change steps"), with_steps(self._settings, model, steps))

    def _pick_method(self, method_id: str, preset: Preset) -> None:
        if self._settings is None:
            return
        model = self._studio.model(self._settings.model_id)
        preset = preset if preset in presets_of(method_id, model) else Preset.RECOMMENDED
        self._edit(tr("change method"), with_method(self._settings, model, method_id, preset))

    def _save_memory(self, fix: MemoryFix) -> None:
        if (settings := self._settings) is not None:
            height, width = fix.size or (settings.height, settings.width)
            savings = fix.savings or settings.sampling.savings
            less = with_values(settings, savings=savings, height=height, width=width)
            self._edit(tr("save memory"), less)

    def _pick_detail(self, detail: AttentionDetail) -> None:
        if self._settings is not None:
            self._edit(tr("change recording"), replace(self._settings, detail=detail))

    def _record_self_attention(self) -> None:
        if self._settings is not None:
            self._edit(tr("change recording"), replace(self._settings, self_attention=True))

    def _guide_with(self, layers: Iterable[str]) -> None:
        if (settings := self._settings) is not None:
            guidance = replace(settings.sampling.guidance, layers=tuple(sorted(layers)))
            self._edit(tr("choose guidance layers"), with_values(settings, guidance=guidance))

    def _use_small_model(self) -> None:
        self._pick_model(self._studio.model().id)

    def _edit(self, name: str, settings: RunSettings) -> None:
        """Make what the user has just set an edit that can be undone."""
        if (before := self._settings) is not None:
            self._context.edits.change(name, before, settings, self._take, merge_key=name)

    def _take(self, settings: RunSettings) -> None:
        if not self._studio.models:
            return
        settings = self._drawable(settings)
        before, self._settings = self._settings, settings
        self._studio.storage.drafts.keep_settings(settings)
        self._context.window_signals.settings_changed.emit(settings)
        self._keep_prediction(settings)
        self._show()
        if before is None or before.model_id != settings.model_id:
            self._context.window_signals.model_picked.emit(settings.model_id)

    def _keep_prediction(self, settings: RunSettings) -> None:
        """Store the prediction type for the model, so that it is used the next time as well."""
        try:
            self._studio.model_list.choose_prediction(
                settings.model_id, settings.sampling.prediction_type
            )
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Storing the prediction type")))

    def _reuse_seed(self, run: OpenRun) -> None:
        settings = self._settings
        if settings and run.request and settings.seed_mode is SeedMode.REUSE:
            seeded = with_values(settings, seed=run.request.sampling.seed)
            if run.is_over:  # it was opened by hand
                self._edit(tr("load seed from picture"), seeded)
            else:
                self._take(seeded)

    def _take_settings(self) -> None:
        run = self._studio.session.run
        if run is None or run.request is None or self._settings is None:
            return
        try:
            model = self._studio.model(run.request.model.id)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Applying the settings")))
            return
        scene = self._studio.session.scene
        typed = run.scene.prompt.as_typed
        if scene is None or scene.prompt.text != typed:
            self._context.window_signals.prompt_offered.emit(typed)
        self._edit(
            tr("load settings from picture"), settings_of(run.request, model, self._settings)
        )
        take_places(self._context, run.request)

    def _take_offered(self, offered: OfferedSettings) -> None:
        """Take what the user picked of what a picture tells."""
        if self._settings is not None:
            theirs, names = offered.settings, offered.names
            model = self._studio.model(theirs.model) if "model" in names else None
            taken = with_fields(self._settings, theirs, names, model, offered.request)
            self._edit(tr("load settings from picture"), taken)

    def _offer_layouts(self) -> None:
        things = things_of(self._studio.session.scene)
        dialog = LayoutDialog(self._context.theme, things, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.prompt_picked.connect(self._context.window_signals.prompt_offered)
        dialog.spots_picked.connect(self._context.window_signals.spots_offered)
        dialog.open()

    def _show_models(self) -> None:
        choices = model_choices(self._studio.models, self._studio.model_list.damaged)
        self._form.show_models(choices, self._settings.model_id if self._settings else NO_MODEL)

    def _find_models(self, *, says_none: bool = True) -> None:
        """Search for models again; settings are preserved if their model still exists."""
        known = {card.id for card in self._studio.models}
        models = self._studio.model_list.find()
        if self._settings is None or not models:
            self._settings = self._first_settings()
        self._show_models()
        if self._settings is not None:
            self._take(self._settings)
            self._context.window_signals.model_picked.emit(self._settings.model_id)
        new = [card.title for card in models if card.id not in known]
        message = tr("New models: {names}.") if new else tr("No new model was found.")
        if new or says_none:
            self._context.toasts.tell(message.format(names=", ".join(new)))

    def open_model(self, file: Path) -> None:
        """Add a single file to the models and choose it; report why it cannot be used."""
        try:
            card = self._studio.model_list.open_file(file)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Opening the model")))
            return
        if self._settings is None:
            self._settings = self._first_settings()
        self._show_models()
        self._pick_model(card.id)
        words = tr("{model} was added: {family}, {size}.")
        size = size_in_words(card.size_bytes)
        family = card.family or card.pipeline_class
        self._context.toasts.tell(words.format(model=card.title, family=family, size=size))

    def _ask_for_model(self) -> None:
        chosen, _ = QFileDialog.getOpenFileName(
            self.window(), tr("Open a model file"), "", tr("Checkpoints (*.safetensors)")
        )
        if chosen:
            self.open_model(Path(chosen))

    def _choose_model(self) -> None:
        """Open the list of models, wherever the user is."""
        self._context.window_signals.workspace_asked.emit(GENERATE)
        if self._context.settings.density is Density.SIMPLE:
            self._context.actions[ALL_CONTROLS].trigger()
        self._form.open_models()

    def _first_settings(self) -> RunSettings | None:
        """Return what was set when the studio was last closed, else what the model recommends."""
        models = self._studio.models
        if not models:
            return None
        kept = self._studio.storage.drafts.newest.settings
        if kept is None:
            return replace(usual_settings(models[0]), seed_mode=SeedMode.RANDOM)
        return self._drawable(kept)

    def _drawable(self, settings: RunSettings) -> RunSettings:
        """Return settings whose model is there; say why where that has to be another one."""
        try:
            self._studio.model(settings.model_id)
        except StudioError as error:
            first = self._studio.models[0]
            settings = with_model(settings, first)
            self._studio.storage.drafts.keep_settings(settings)
            instead = tr("{model} is used instead.").format(model=first.title)
            report = report_on(error, tr("Restoring the last used model"))
            report_with_remedies(self._context, replace(report, hint=instead))
        return settings

    def _show(self) -> None:
        settings = self._settings
        if settings is None:
            return
        model = self._studio.model(settings.model_id)
        self._form.show_settings(
            settings,
            recommended=recommended_strength(settings, model),
            presets=presets_of(settings.sampling.guidance.method_id, model),
            last_step=last_guided_step(settings),
            samplers=sampler_choices(model, settings.sampling.scheduler_id),
        )
        self._form.show_predictions(
            prediction_choices(model),
            settings.sampling.prediction_type or model.prediction_type,
            prediction_note(model, settings),
        )
        self._context.actions[commands.BASELINE].setChecked(settings.with_baseline)
        self._show_devices()
        self._estimate()

    def _find_loras(self) -> None:
        """Read the headers of the LoRAs in the background, and offer them."""
        self._context.reading.read(
            Subject.LORAS,
            tr("Listing the LoRAs"),
            lambda: self._studio.loras,
            self._show_loras,
            self.problem_met.emit,
        )

    def _show_loras(self, cards: tuple[LoraCard, ...]) -> None:
        self._form.show_loras(
            [Choice(id=card.name, title=card.name, tip=card.family) for card in cards]
        )

    def _show_devices(self) -> None:
        if (settings := self._settings) is not None:
            known, chosen = self._studio.devices.known, settings.sampling.device
            self._form.guidance.show_devices(device_choices(known, chosen), chosen)
            formats = format_choices(known, chosen, settings.sampling.dtype)
            self._form.guidance.show_formats(formats)

    def _estimate(self) -> None:
        settings = self._settings
        estimate = estimate_now(self._studio, settings)
        if settings is None or estimate is None:
            self._foot.show_estimate("")
            return
        model = self._studio.model(settings.model_id)
        is_slow = estimate.device == "cpu" and (estimate.seconds or 0.0) > A_MINUTE
        small = self._studio.model()
        offer = tr("Use {model}").format(model=small.title) if model.id != small.id else ""
        line = estimate_in_words(estimate, model.size_bytes)
        if is_slow:
            line = tr("Running on the CPU. {line}").format(line=line)
        self._foot.show_estimate(line, offer if is_slow else "")
        self._form.guidance.show_kept(kept_in_words(estimate))
