"""Entry point to every use case of the window and the terminal."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.compose.compare_readings import ComparedReading, compare_readings
from spatialstudio.application.compose.edit_relations import keep_hand
from spatialstudio.application.compose.language_model import LanguageModel, SecondReader
from spatialstudio.application.compose.read_prompt import only_known, read_prompt, read_thing
from spatialstudio.application.compose.token_counter import TokenCounter
from spatialstudio.application.compose.wildcards import FOLDER, Wildcards, has_choices
from spatialstudio.application.engine.process_engine import EngineKind, open_engine
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.evaluate.adjusting import Adjusting
from spatialstudio.application.evaluate.judge_choice import (
    JudgeDefaults,
    JudgeSets,
    make_judge_set,
)
from spatialstudio.application.evaluate.pictures import Pictures
from spatialstudio.application.events import EventBus
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.inspect.storyboard import Storyboard
from spatialstudio.application.jobs.messages import Engine, GenerateJob
from spatialstudio.application.models.downloads import (
    HUB_ID,
    Downloads,
    ModelsChanged,
    Report,
    RunningDownload,
)
from spatialstudio.application.models.model_lists import DeviceList, LayerList, ModelList
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.plugins import Plugins, installed_plugins, open_registry
from spatialstudio.application.registry import Registry
from spatialstudio.application.run.choose_settings import (
    new_request,
    request_of,
    seeds_of,
    with_recommended_steering,
)
from spatialstudio.application.run.estimates import RunEstimates
from spatialstudio.application.run.fixing import Fixing
from spatialstudio.application.run.live_preview import LivePreview
from spatialstudio.application.run.queue import RunQueue, waiting
from spatialstudio.application.run.second_run import SecondRun
from spatialstudio.application.run.start_run import RunStarter
from spatialstudio.application.session import OpenRun, RunChanged, Session
from spatialstudio.application.storage.storage import IMAGES_ID, Storage
from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.errors import ModelNotFound, PromptError, StudioError
from spatialstudio.domain.generation import GenerationRequest, RequestId, new_request_id
from spatialstudio.domain.hub import DownloadPlan, ModelHub
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET, JudgeSetCard, JudgeSetChoice
from spatialstudio.domain.options import MethodCard
from spatialstudio.domain.picture_settings import FieldDifference, PictureSettings
from spatialstudio.domain.ports import (
    LoraCard,
    ModelCard,
    PerceptionCard,
    PerceptionCatalog,
    Trainer,
)
from spatialstudio.domain.run_settings import RunSettings, SketchedPlaces, places_of
from spatialstudio.domain.scene import ObjectMention, Prompt, SceneGraph, TokenSpan
from spatialstudio.domain.verdict import REPRODUCE, Evaluation
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.science.scenes.consistency import contradictions_of

if TYPE_CHECKING:
    from spatialstudio.application.evaluate.judging import Judging
    from spatialstudio.application.gallery.exports import Exports

EXTRACTOR_ID = "grammar"
LANGUAGE_MODEL_ID = "llm"
SERVER_CHOICES_ID = "user"
CATALOG_ID = "folders"
TRAINER_ID = "stickers"
PACES = "paces.json"


class Studio:
    """Reads prompts, generates and evaluates images, and stores runs.

    Attributes:
        judges: The user's judge set.
        checker: Settings of the checker for the next evaluations.
        extractor_id: The relation extractor selected by the user.
        registry: Registry of adapters.
        engine: Engine that runs the models.
        assertions: Of the DA-score of the next pictures; None for those of each scene.

    Args:
        registry: Registry of adapters.
        engine: Engine that runs the models.
        paths: Folders of the installation.
        runs_folder: Folder of finished runs; None for the library, grouped by month.
    """

    assertions: Assertions | None = None
    checker = REPRODUCE

    def __init__(
        self,
        registry: Registry,
        engine: Engine,
        paths: StudioPaths,
        runs_folder: Path | None = None,
    ) -> None:
        self.bus = EventBus()
        self.session = Session(self.bus.publish)
        self.paths = paths
        self.judges, self.extractor_id = DEFAULT_JUDGE_SET, EXTRACTOR_ID
        self.judge_sets = JudgeSets(
            self._perception_catalog, registry.ids, self._own_judge_sets, lambda: self.hub.catalogue
        )
        self.judge_defaults = JudgeDefaults(
            lambda: self.models, lambda: self.judges, self.judge_sets
        )
        draws_stickers = self.judge_defaults.draws_stickers
        self.storage = Storage(registry, paths, runs_folder, self.bus.publish, draws_stickers)
        self.adjusting = Adjusting(self.session, lambda: self.storage.store)
        self._wildcards = Wildcards(paths.settings / FOLDER)
        self.model_list = ModelList(lambda: registry.model_catalog(CATALOG_ID), self._repositories)
        self.pictures = Pictures(
            self.session,
            self._evaluate,
            lambda: registry.images(IMAGES_ID),
            lambda: self.storage.metadata,
            (self.parse_prompt, self.parse_for_model),
            self.judge_defaults,
        )
        self.registry, self.engine = registry, engine
        self._second_reader = SecondReader(
            lambda: registry.cancellable_extractor(LANGUAGE_MODEL_ID), self.bus.publish
        )
        self.language_model = LanguageModel(
            lambda: registry.server_choices(SERVER_CHOICES_ID),
            self.bus.publish,
            lambda: registry.discard("extractor"),
        )
        self.downloads = Downloads(lambda: self.hub, self._start_download, self.bus.publish)
        self.devices = DeviceList(engine.ask, self.bus.subscribe)
        self.layers = LayerList(engine.ask, self.bus.subscribe)
        self.tokens = TokenCounter(engine.ask, self.bus.subscribe)
        self._starter = RunStarter(engine, self.storage, self._job_of, self.bus.publish)
        self.queue = RunQueue(self._starter, self.session, self.bus.publish)
        self.preview = LivePreview(engine, self.model, lambda: self.queue.running is not None)
        self.storyboard = Storyboard(self.bus.publish)
        self.second = SecondRun(self.session, self._starter)
        self.estimates = RunEstimates(self.queue.request, self._starter.ask_memory)
        self.fixing = Fixing(self.queue, self.storage, self.model, self.pictures, self.bus.publish)

    @classmethod
    def open(
        cls,
        engine: EngineKind = "process",
        paths: StudioPaths | None = None,
        runs_folder: Path | None = None,
    ) -> "Studio":
        """Create a studio; cheap, as no model library is imported.

        Args:
            engine: "process" for the window, "inline" for the terminal and scripts.
            paths: Folders of the installation; None for the defaults.
            runs_folder: Folder of finished runs; None for the library, grouped by month.
        """
        paths = paths or StudioPaths.usual()
        plugins = tuple(each.name for each in installed_plugins().loaded)
        made = open_engine(engine, paths.surroundings, plugins)
        return cls(open_registry(paths.surroundings), made, paths, runs_folder)

    @property
    def models(self) -> tuple[ModelCard, ...]:
        """The generation models, embedded ones first."""
        return self.model_list.cards

    @property
    def guidance_methods(self) -> tuple[MethodCard, ...]:
        """The registered guidance methods, in display order."""
        return tuple(GUIDANCE_METHODS)

    @property
    def judging(self) -> "Judging":
        """Evaluation of image files and of recorded benchmark runs."""
        from spatialstudio.application.evaluate.judging import Judging

        return Judging(
            self.registry,
            self.parse_prompt,
            self.parse_for_model,
            self.pictures.shows_stickers,
            self.judge_defaults,
            self.storage.checker_presets,
        )

    @property
    def hub(self) -> ModelHub:
        """Models on the hub and on this machine."""
        return self.registry.model_hub(HUB_ID)

    @property
    def plugins(self) -> Plugins:
        """The plugins of this installation, including disabled ones."""
        return installed_plugins()

    @property
    def library(self) -> Library:
        """The library of finished runs."""
        return self.storage.library

    @property
    def exports(self) -> "Exports":
        """Export of runs to files."""
        return self.storage.exports

    @property
    def runs_folder(self) -> Path:
        """Folder of finished runs."""
        return self.storage.runs_folder

    @property
    def trainer(self) -> Trainer:
        """Trainer of the embedded models."""
        return self.registry.trainer(TRAINER_ID)

    @property
    def perception_models(self) -> tuple[PerceptionCard, ...]:
        """The installed perception models, without the sticker models."""
        return self._perception_catalog().cards()

    @property
    def damaged_perception_models(self) -> Mapping[str, ModelNotFound]:
        """Errors of unusable perception models, by folder name."""
        return self.registry.perception_catalog(CATALOG_ID).damaged()

    def model(self, model_id: str | None = None) -> ModelCard:
        """Return a model's card; None for the first model.

        Raises:
            ModelNotFound: There is no such model, or its files are damaged.
        """
        return self.model_list.card(model_id)

    def start(self) -> None:
        """Start the engine; called when the window is shown."""
        self.estimates.read(self.paths.cache / PACES)
        self.engine.start(self._on_report)
        self.layers.ask_again()

    def close(self) -> None:
        """Stop all work, release resources; unfinished requests are offered at the next start."""
        self._second_reader.cancel()
        self.language_model.cancel()
        self.downloads.close()
        self.storage.note_closing()
        self.engine.close()
        self.estimates.write(self.paths.cache / PACES)
        self.storage.close()

    @property
    def object_names(self) -> tuple[str, ...]:
        """Common object names for prompts, most likely first, independent of the model."""
        return self.registry.object_names(EXTRACTOR_ID)

    @property
    def loras(self) -> tuple[LoraCard, ...]:
        """The LoRAs in the model folders, by name; reads their headers."""
        return self.registry.lora_catalog(CATALOG_ID).cards()

    def parse_prompt(self, text: str, extractor_id: str | None = None) -> SceneGraph:
        """Read a prompt of any objects; the grammar replaces a slow language model, with a note.

        Args:
            text: The prompt.
            extractor_id: Relation extractor; None for the selected one.

        Raises:
            PromptError: The prompt is empty or too long.
        """
        return self._read(text, None, extractor_id or self.extractor_id)

    def parse_for_model(self, text: str, model_id: str | None = None) -> SceneGraph:
        """Read a prompt with the objects that a model knows.

        Raises:
            PromptError: The prompt is empty, or names an object that the model cannot generate.
        """
        return self._read(text, self.model(model_id).known_objects, self.extractor_id)

    def _read(
        self, text: str, known_objects: Mapping[str, str] | None, extractor_id: str
    ) -> SceneGraph:
        """Read a prompt, of each choice its first alternative."""
        extractor = self.registry.extractor(extractor_id)
        if not has_choices(text):
            return read_prompt(text, extractor, known_objects or None)
        plain = self._wildcards.resolved(text, None)
        scene = read_prompt(plain.text, extractor, known_objects or None)
        return plain.restored(scene, replace(scene.prompt, text=text))

    def thing_named(self, name: str, model_id: str | None = None) -> ObjectMention:
        """Read the name of one object that a model knows; its id and span belong to no scene.

        Raises:
            PromptError: The text does not name one object, or the model cannot generate it.
        """
        known = self.model_list.known_objects(model_id)
        return read_thing(name, self.registry.extractor(EXTRACTOR_ID), known or None)

    def token_spans(self, scene: SceneGraph, model_id: str | None = None) -> tuple[TokenSpan, ...]:
        """Return the positions of a scene's mentions in the sequences of a model's text encoders.

        Raises:
            BackendError: The model is damaged or missing.
            PromptError: A mention lies beyond the text encoder's limit.
        """
        model = self.model(model_id)
        return self.registry.backend(model.backend_id).token_spans(scene, model)

    def use_prompt(self, text: str, model_id: str | None = None) -> None:
        """Read a prompt and make its scene the current one; publish the error if that fails."""
        try:
            self.storage.drafts.keep_prompt(text, model_id)
            known = self.model_list.known_objects(model_id)
            scene = self._read(text, known, self.extractor_id)
            self.use_scene(keep_hand(scene, self.session.last_scene))
        except StudioError as error:
            self.session.set_scene(None, error=report_on(error, "Parsing the prompt"))

    def request_second_reading(self, text: str) -> None:
        """Read a prompt with a language model in the background; publishes ``ReadAgain``."""
        self._second_reader.read(Prompt(text=text))

    def compare_with_scene(
        self, later: SceneGraph, known_objects: Mapping[str, str] | None = None
    ) -> ComparedReading | None:
        """Compare a second reading with the current scene and return the differences.

        If they agree, the notes of the second reading are shown. None without a scene.

        Args:
            later: Second reading of the same prompt.
            known_objects: Objects of the selected model, by name; None if it is not restricted.
        """
        shown = self.session.scene
        if shown is None:
            return None
        later = only_known(later, known_objects) if known_objects else later
        compared = compare_readings(shown, later)
        if compared.scene is not shown:
            self.use_scene(compared.scene)
        return compared

    def use_scene(self, scene: SceneGraph) -> None:
        """Make a scene the current one and report its contradictions."""
        self.storage.drafts.keep_scene(scene)
        self.session.set_scene(scene, contradictions_of(scene))
        self.storage.drafts.keep_places(self.session.places)

    def use_places(self, places: SketchedPlaces) -> None:
        """Make sketched places the current ones; they are part of the next request."""
        self.session.set_places(places)
        self.storage.drafts.keep_places(self.session.places)

    def forget_places(self, prompt: str) -> None:
        """Free all objects of a prompt, which is the current one or will be."""
        self.session.forget_places(prompt)
        self.storage.drafts.keep_places(self.session.places)

    def new_request(
        self,
        *,
        model_id: str | None = None,
        seed: int = 0,
        steps: int | None = None,
        strength: float | None = None,
        guided: bool = True,
    ) -> GenerationRequest:
        """Create a request for the current scene; omitted settings take the model's defaults.

        Raises:
            PromptError: There is no scene.
            ModelNotFound: There is no such model.
        """
        model = self.model(model_id)
        scene = self._scene_to_draw(self.session.scene, seed, model)
        asked = new_request(scene, model, seed=seed, steps=steps, strength=strength, guided=guided)
        return with_recommended_steering(asked, self.judge_defaults) if guided else asked

    def check_judges(self, request: GenerationRequest) -> None:
        """Check, before anything is drawn, that the models of the judge set are installed.

        Raises:
            ModelNotFound: One of them is not installed, or has another role.
            SettingsError: The chosen judge set does not exist.
        """
        judges = self._job_of(request).judges
        if judges.detector_id is not None:
            make_judge_set(self.registry, judges)

    def requests(
        self, settings: RunSettings, scene: SceneGraph | None = None
    ) -> tuple[GenerationRequest, ...]:
        """Create requests for the current scene, or another without places, one per seed.

        Raises:
            PromptError: There is no scene.
            ModelNotFound: There is no such model.
        """
        model = self.model(settings.model_id)
        places = self.session.places if scene is None else SketchedPlaces()
        source = scene or self.session.scene
        drawn = ((self._scene_to_draw(source, seed, model), seed) for seed in seeds_of(settings))
        return tuple(
            request_of(scene, model, settings, seed, places, self.judge_defaults)
            for scene, seed in drawn
        )

    def generate(self, request: GenerationRequest, *, with_baseline: bool = False) -> RequestId:
        """Generate, evaluate and store an image, and open its run in the session.

        Args:
            request: The generation request.
            with_baseline: Also generate the same seed without guidance.

        Raises:
            PromptError: The scene contradicts itself.
            RequestError: A setting is out of range.
            ModelNotFound: There is no such model.
            StoreError: The runs folder is not writable.
        """
        requests = self._starter.prepare(request, with_baseline=with_baseline)
        self.session.open(*waiting(*requests).runs)
        self._starter.submit(requests)
        return request.id

    def run_again(self, path: Path) -> RequestId:
        """Repeat a stored run exactly; publishes ``Reproduced`` when the image is stored.

        Raises:
            StoreError: There is no run, or it is damaged.
            ModelNotFound: Its model is not installed.
        """
        again = self.storage.again(path, new_request_id())
        return self.generate(self.devices.without_missing_device(again))

    def cancel(self) -> None:
        """Stop the open run and its baseline before their next model call."""
        runs = (self.session.run, self.session.baseline)
        self._starter.cancel(run.id for run in runs if run is not None and not run.is_over)

    def is_run(self, path: Path) -> bool:
        """Return True if a file belongs to a stored run."""
        return self.storage.store.is_run(path)

    def compare_picture(self, theirs: PictureSettings) -> tuple[FieldDifference, ...] | None:
        """Compare the settings in an image's metadata with the current ones, without applying them.

        Returns:
            One row per field; None if no generation model is installed.
        """
        models = self.models
        return self.storage.compare_picture(theirs, self.session.scene, models) if models else None

    def open_run(self, path: Path) -> OpenRun:
        """Open a stored run and publish its events as for a live run.

        Args:
            path: Image, trace or evaluation of the run; or a folder, for its newest run.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        run = self.read_run(path)
        self.show_run(run)
        return run

    def show_run(self, run: OpenRun) -> None:
        """Open a run that is already read, and publish its events as for a live run.

        Its sketched places replace the current ones; a run without any keeps those of its prompt.
        """
        before = self.session.scene
        self.use_scene(run.scene)
        places = places_of(run.request) if run.request else SketchedPlaces()
        is_same = before is not None and before.prompt.text == run.scene.prompt.text
        if places.targets or not is_same:
            self.use_places(places)
        self.session.open(run)

    def apply_event(self, event: object) -> tuple[object, ...]:
        """Apply an event of the bus on the GUI thread and return the events for the panels.

        Changes of the session follow the event that caused them; an outdated run is left out.
        """
        if isinstance(event, RunChanged) and event.run is not self.session.run:
            return ()
        if isinstance(event, ModelsChanged):
            self.judge_sets.forget()
        changes = self.session.apply_event(event)
        self.queue.apply_event(event)
        self.estimates.apply_event(event)
        self.fixing.apply_event(event)
        return (event, *changes)

    def present(self) -> tuple[object, ...]:
        """Return the events that describe the current state, for a late subscriber."""
        return (*self.session.present(), self.queue.present())

    def read_run(self, path: Path) -> OpenRun:
        """Read a stored run, from any thread; verdicts of an unsuitable detector are omitted.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        run = self.storage.read_run(path)
        return replace(run, evaluation=self.judge_defaults.fitting(run.evaluation, run.model_id))

    def judge_stored(
        self, path: Path, check: Callable[[], object], assertions: Assertions | None = None
    ) -> Evaluation:
        """Judge a stored run by the chosen judge set, and store the verdicts; nothing is drawn.

        Stored verdicts are used or decided again as ``judge_run`` does.

        Args:
            path: Image of the run.
            check: Called regularly while the engine works; raises ``Cancelled`` to stop.
            assertions: Of the DA-score; None for those of the scene.

        Raises:
            Cancelled: ``check`` raised it; nothing is stored.
            StudioError: The run cannot be read, judged or written.
        """
        from spatialstudio.application.evaluate.judge_stored import judge_in_engine, judge_run

        run = self.storage.read_run(path)
        judges = self.judge_defaults.judges_of(run.model_id, run.scene), self.checker
        judge = partial(judge_in_engine, self.engine, self.bus.subscribe, check=check)
        evaluation = judge_run(run, judges, judge, assertions)
        if evaluation is not run.evaluation:
            self.storage.store.judge(path, evaluation)
            self.library.add(path)
        return evaluation

    def _evaluate(self, run: OpenRun, judges: JudgeSetChoice) -> None:
        """Evaluate the image of an open run in the engine, and store the evaluation."""
        if run.image is not None:
            self.storage.expect_evaluation(run)
            from spatialstudio.application.evaluate.judge_stored import evaluate_job

            self.engine.submit(evaluate_job(run, (judges, self.checker), run.id, self.assertions))

    def _scene_to_draw(self, scene: SceneGraph | None, seed: int, model: ModelCard) -> SceneGraph:
        """Return a scene; with choices, the scene of the text that a seed chooses."""
        if scene is None:
            hint = 'Enter a prompt, for example "a cat to the left of a dog".'
            raise PromptError("The prompt is empty.", hint=hint)
        template = scene.prompt.text
        if not has_choices(template):
            return self.tokens.whole(scene)
        text = self._wildcards.resolved(template, seed).text
        chosen = keep_hand(self._read(text, model.known_objects, self.extractor_id), scene)
        return replace(chosen, prompt=replace(chosen.prompt, template=template))

    def _perception_catalog(self) -> PerceptionCatalog:
        return self.registry.perception_catalog(CATALOG_ID)

    def _repositories(self) -> Mapping[str, str]:
        """Return the repositories of recommended models by their short names."""
        return {each.id: each.repository for each in self.hub.catalogue}

    def _own_judge_sets(self) -> tuple[JudgeSetCard, ...]:
        return self.storage.own_judge_sets()

    def _job_of(self, request: GenerationRequest) -> GenerateJob:
        model = self.model(request.model.id)
        judges = self.judge_defaults.judges_of(model.id, request.scene)
        return GenerateJob(
            request=request,
            model=model,
            judges=judges,
            assertions=self.assertions,
            checker=self.checker,
            start=self.storage.repairs.start_of(request),
        )

    def _on_report(self, report: object) -> None:
        self.bus.publish(report)
        self.storage.run_recorder.apply_event(report)

    def _start_download(self, plan: DownloadPlan, report: Report) -> RunningDownload:
        from spatialstudio.application.models.download_process import ChildDownload

        return ChildDownload(self.paths.surroundings, plan, report)
