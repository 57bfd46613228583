"""Persistent storage of the studio: runs, queue and drafts, each opened on first use."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.compose.drafts import DraftSaver
from spatialstudio.application.evaluate.checker_presets import CheckerPresets
from spatialstudio.application.gallery.compare_runs import SHORT_HASH, compare_runs
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.inspect.layer_maps import LayerMaps
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.refine.local_repair import LocalRepairs
from spatialstudio.application.refine.stored_refinements import (
    StoredLoops,
    fixes_in,
    refinements_in,
)
from spatialstudio.application.registry import Registry
from spatialstudio.application.session import OpenRun, RunStored
from spatialstudio.application.storage.picture_settings import tell_form
from spatialstudio.application.storage.run_writer import (
    RunRecorder,
    RunWriter,
    record_of,
    run_of,
)
from spatialstudio.domain.attention import AttentionCacheUse, AttentionFile, LayerValues
from spatialstudio.domain.errors import (
    LibraryNotWritable,
    ModelNotFound,
    SettingsError,
    StoreError,
    StudioError,
)
from spatialstudio.domain.fix import Fix
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.judge_choice import (
    JUDGE_SETS,
    JudgeSetCard,
    JudgeTask,
    is_judge_set_name,
)
from spatialstudio.domain.library import Reproduction, RunRecord
from spatialstudio.domain.picture_settings import (
    FieldDifference,
    PictureSettings,
    compare_settings,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_ports import (
    MetadataFiles,
    QueueJournal,
    RunStore,
    StateFiles,
)
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.domain.safe_files import is_inside
from spatialstudio.domain.scene import SceneGraph

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from spatialstudio.application.audit.desk import AuditDesk
    from spatialstudio.application.gallery.exports import Exports
    from spatialstudio.application.gallery.figures import Figures
    from spatialstudio.application.gallery.gallery import Gallery
    from spatialstudio.application.inspect.layer_table import LayerTables
    from spatialstudio.application.jobs.background_jobs import BackgroundJobs

FILES = "files"
"""Id of the adapters that store everything in files."""
METADATA_ID = "embedded"
IMAGES_ID = "pillow"
LORA_CATALOG_ID = "folders"
RECORDS_ID = "spatialbench-uc"

JOURNALS = "queue"
DRAFT = "draft.json"
FIGURES = "figures"
REFINEMENTS = "refinements"
FIXES = "fixes"
AUDITS = "audits"
SEARCHES = "searches.json"
CHECKERS = "checkers"
OWN_JUDGE_SETS = "judge_sets.json"
LIBRARY_FOLDER = "library.json"


@frozen
class Reproduced:
    """A run was repeated. Published when the repetition is stored; may cross threads.

    Attributes:
        request_id: Id of the repetition.
        first: Image file of the original run.
        comparison: Comparison of both runs.
    """

    request_id: RequestId
    first: Path
    comparison: Reproduction


class Storage:
    """Persistent state of the application.

    Attributes:
        marks_pictures: Whether new images declare in XMP that a model generated them.
        stores_evaluations: Whether evaluations of open images are stored as runs.

    Args:
        registry: Registry of adapters.
        paths: Folders of the installation.
        runs_folder: Folder of finished runs; None for the library, grouped by month.
        publish: Receives the storage's events.
        draws_stickers: Returns whether a model id is that of a sticker model.
    """

    def __init__(
        self,
        registry: Registry,
        paths: StudioPaths,
        runs_folder: Path | None,
        publish: Callable[[object], None],
        draws_stickers: Callable[[str], bool],
    ) -> None:
        self._draws_stickers = draws_stickers
        self._registry = registry
        self._paths = paths
        self._publish = publish
        self._repeated: dict[RequestId, Path] = {}
        self._search: threading.Thread | None = None
        self._judge_sets: tuple[JudgeSetCard, ...] | None = None
        self._is_by_month = runs_folder is None
        if runs_folder is not None:
            self.runs_folder = runs_folder
        self.marks_pictures = True
        self.stores_evaluations = True

    @cached_property
    def runs_folder(self) -> Path:
        """Folder of finished runs: the user's choice, else the default."""
        chosen = self._state.read_texts(self._paths.settings / LIBRARY_FOLDER).get("folder")
        return Path(chosen) if chosen else self._paths.runs

    @cached_property
    def store(self) -> RunStore:
        """Reader and writer of single runs."""
        return self._registry.store(FILES)

    @cached_property
    def metadata(self) -> MetadataFiles:
        """Reader and writer of image metadata."""
        return self._registry.metadata(METADATA_ID)

    @cached_property
    def library(self) -> Library:
        """The library of runs in the runs folder."""
        runs = self._registry.library(FILES).open(
            self.runs_folder, self._paths.cache, self._draws_stickers
        )
        searches = self._paths.settings / SEARCHES
        return Library(runs, self.store, self._state, searches, self._publish)

    @cached_property
    def repairs(self) -> LocalRepairs:
        """Local repairs, with the pictures that they start from."""
        return LocalRepairs(self.picture_of_request, lambda: self._registry.images(IMAGES_ID))

    @cached_property
    def checker_presets(self) -> CheckerPresets:
        """Presets of the checker."""
        return CheckerPresets(
            self._paths.settings / CHECKERS,
            lambda: self._registry.records(RECORDS_ID),
            lambda: self._registry.audit_files(RECORDS_ID),
        )

    def own_judge_sets(self) -> tuple[JudgeSetCard, ...]:
        """Return the user-defined judge sets, read once."""
        if self._judge_sets is None:
            self._judge_sets = self._state.read_judge_sets(self._paths.settings / OWN_JUDGE_SETS)
        return self._judge_sets

    def save_judge_set(self, card: JudgeSetCard) -> None:
        """Save a user-defined judge set; it replaces one with the same name.

        Raises:
            SettingsError: The name is invalid or that of a built-in set, or there is no detector.
            StoreError: The file is damaged or not writable.
        """
        built_in = {name.casefold() for each in JUDGE_SETS for name in (each.id, each.label)}
        if not is_judge_set_name(card.id) or card.id.casefold() in built_in:
            raise SettingsError(
                f'A judge set cannot have the name "{card.id}".',
                hint="Choose another name of up to 60 characters; built-in sets keep theirs.",
            )
        if JudgeTask.DETECTOR not in card.tasks:
            raise SettingsError(
                "The judge set has no detector.", hint="Choose a detector, then save again."
            )
        self._write_judge_set(card.id, card)

    def delete_judge_set(self, set_id: str) -> None:
        """Delete a user-defined judge set, if there is one with this name.

        Raises:
            StoreError: The file is damaged or not writable.
        """
        self._write_judge_set(set_id, None)

    def _write_judge_set(self, set_id: str, card: JudgeSetCard | None) -> None:
        self._judge_sets = None  # another program may have changed the file
        self._state.write_judge_set(self._paths.settings / OWN_JUDGE_SETS, set_id, card)

    @cached_property
    def gallery(self) -> "Gallery":
        """Background queries on the library."""
        from spatialstudio.application.gallery.gallery import Gallery

        return Gallery(self.library, self._publish)

    @cached_property
    def audit_desk(self) -> "AuditDesk":
        """The audit of the window: its sessions and their analysis."""
        from spatialstudio.application.audit.desk import make_desk

        outside = (lambda: self.library, self._publish)
        look, folder = self.exports.look(), self._paths.settings / AUDITS
        return make_desk(self._registry, folder, (look, self.checker_presets), outside)

    @cached_property
    def drafts(self) -> DraftSaver:
        """Automatic saving of the draft."""
        state, path = self._state, self._paths.settings / DRAFT
        return DraftSaver(partial(state.read_draft, path), partial(state.write, path))

    @cached_property
    def refinements(self) -> StoredLoops[Refinement]:
        """Refinements and their attempts, of this and earlier sessions."""
        return refinements_in(self._paths.settings / REFINEMENTS, self._state)

    @cached_property
    def fixes(self) -> StoredLoops[Fix]:
        """Fixes and their attempts, of this and earlier sessions."""
        return fixes_in(self._paths.settings / FIXES, self._state)

    @cached_property
    def background_jobs(self) -> "BackgroundJobs":
        """Background jobs for export, import and verification of runs."""
        from spatialstudio.application.jobs.background_jobs import BackgroundJobs

        return BackgroundJobs(self._publish)

    @cached_property
    def reading(self) -> "BackgroundJobs":
        """Background jobs for files that the user opens, independent of exports."""
        from spatialstudio.application.jobs.background_jobs import BackgroundJobs

        return BackgroundJobs(self._publish, "reading")

    @cached_property
    def layer_maps(self) -> LayerMaps:
        """Averages of stored attention maps over selected layers."""
        return LayerMaps(lambda: self._registry.attention_files(FILES), self._publish)

    @cached_property
    def layer_tables(self) -> "LayerTables":
        """Measurements of stored attention maps by layer and step."""
        from spatialstudio.application.inspect.layer_table import LayerTables

        return LayerTables(lambda: self._registry.attention_files(FILES), self._publish)

    def layer_cache(self) -> AttentionCacheUse:
        """Return how full the cache of recorded layers is."""
        return self._registry.attention_files(FILES).use()

    def read_layer(self, request_id: RequestId, file: AttentionFile) -> LayerValues:
        """Open a recorded layer of a run; see ``AttentionFiles``.

        Raises:
            StoreError: The file is missing or damaged.
        """
        return self._registry.attention_files(FILES).read(request_id, file)

    @cached_property
    def exports(self) -> "Exports":
        """Export of runs to files."""
        from spatialstudio.application.gallery.exports import Exports

        exporter = self._registry.exporter(FILES)
        themes = self._paths.resources / "themes"
        return Exports(
            store=self.store,
            exporter=exporter,
            themes=themes,
            read_layer=self.read_layer,
        )

    @cached_property
    def figures(self) -> "Figures":
        """Previews and templates of figures for papers."""
        from spatialstudio.application.gallery.figures import Figures

        return Figures(self.exports, self._paths.settings / FIGURES)

    @cached_property
    def run_recorder(self) -> RunRecorder:
        """Recorder that stores runs when they end."""
        return RunRecorder(self._writer, self._journal, self._tell)

    @cached_property
    def _writer(self) -> RunWriter:
        return RunWriter(
            self.store,
            self.folder_now,
            self._paths.recovery,
            lambda: self.marks_pictures,
            self.picture_of_request,
        )

    def read_run(self, path: Path) -> OpenRun:
        """Read a stored run in its final state.

        Args:
            path: Image, trace or evaluation of the run; or a folder, for its newest run.

        Raises:
            StoreError: The run does not exist or is damaged.
        """
        return run_of(*self.store.load(path), self.store.picture_of(path))

    def expect_evaluation(self, run: OpenRun) -> None:
        """Store the evaluation of an open image when the engine reports it."""
        if self.stores_evaluations:
            self.run_recorder.expect_evaluation(run)

    def store_evaluated(self, run: OpenRun) -> Path:
        """Store the evaluation of an open image, as a new run if it has none; return its file.

        Raises:
            StoreError: The folder is not writable, or the disk is full.
        """
        path = self._writer.store_evaluated(run)
        self.library.add(path)
        return path

    def picture_of_request(self, request_id: RequestId) -> Path | None:
        """Return the image file of a stored request, outside the trash; None without one."""
        if not self.library.is_looked_through:
            self.library.refresh()
        entry = self.library.entry_of(request_id)
        return None if entry is None or entry.is_missing or entry.deleted else entry.path

    def save_picture(self, run: OpenRun, path: Path, *, overwrite: bool = False) -> None:
        """Write a finished image to a chosen file, with the run in its metadata.

        Raises:
            ExportError: The extension is not that of an image format.
            TargetExists: The file exists and is not to be replaced.
            StoreError: The file cannot be written.
        """
        if run.request is not None and (events := run.events):
            marked = self.marks_pictures
            record = record_of(run.request, events, run.evaluation, is_marked=marked)
            self.exports.save_picture(record, events, path, overwrite=overwrite)

    def again(self, path: Path, request_id: RequestId) -> GenerationRequest:
        """Return the request that repeats a stored run; its result is published.

        Raises:
            StoreError: The run does not exist, is damaged, or is an imported picture.
            ModelNotFound: A LoRA of the run is missing, or its file has changed.
        """
        record, _ = self.store.load(path)
        if record.origin is not None:
            raise StoreError(
                "An imported picture cannot be reproduced.",
                hint="Choose a picture generated by Spatial Studio.",
            )
        self._check_loras(record)
        self._repeated[request_id] = self.store.picture_of(path)
        return replace(record.request, id=request_id, parent_run_id=record.id, sweep=None)

    def _check_loras(self, record: RunRecord) -> None:
        """Compare the LoRA files on this machine with those of a run.

        Raises:
            ModelNotFound: One is missing, or has another hash than the recorded one.
        """
        recorded = record.environment.setup.loras or {}
        for name in sorted({use.name for use in record.request.sampling.loras}):
            loras = self._registry.lora_catalog(LORA_CATALOG_ID)
            loras.card(name)
            if name in recorded and loras.file_hash(name) != recorded[name]:
                raise ModelNotFound(
                    f'The file of the LoRA "{name}" has changed since the run.',
                    hint=f"Restore the file whose SHA-256 begins with {recorded[name][:SHORT_HASH]}"
                    ", or generate a new picture with the settings of the run.",
                )

    def compare_picture(
        self, theirs: PictureSettings, scene: SceneGraph | None, models: Sequence[ModelCard]
    ) -> tuple[FieldDifference, ...]:
        """Compare the settings in an image's metadata with the draft.

        Args:
            theirs: Settings in the image's metadata.
            scene: The current scene; None if there is none.
            models: Installed models; the first applies if none is selected.
        """
        return compare_settings(tell_form(self.drafts.newest, scene, models), theirs)

    def request_in(self, theirs: PictureSettings) -> GenerationRequest | None:
        """Return the request in the metadata of this application's images; None for others."""
        try:
            return self.store.request_in(theirs.record) if theirs.record else None
        except StoreError as error:
            log.info("A picture's record cannot be read: %s", error.message)
            return None

    def compare(self, first: Path, again: Path) -> Reproduction:
        """Compare a run with the run that it repeats.

        Raises:
            StoreError: One of them is not a run, or is damaged.
        """
        one, other = self.exports.read(first), self.exports.read(again)
        return compare_runs(one.record, one.image, other.record, other.image)

    def folder_now(self) -> Path:
        """Return the folder of a run that ends now."""
        if not self._is_by_month:
            return self.runs_folder
        month = self.runs_folder / f"{datetime.now(UTC):%Y/%m}"
        # NOTE: a run behind a link out of the library would not be found again
        return month if is_inside(month, self.runs_folder) else self.runs_folder

    def prepare(self) -> None:
        """Verify that runs can be stored, before work is spent on one.

        Raises:
            LibraryNotWritable: The folder cannot be created or written.
        """
        try:
            self.store.prepare(self.folder_now())
        except StoreError as error:
            raise LibraryNotWritable(error.message, hint=error.hint) from error

    def use_library(self, folder: Path | None) -> None:
        """Use another runs folder, also in later sessions; runs in it are indexed.

        Queries on the previous library must be repeated. Its runs are not moved.

        Args:
            folder: None for the default.

        Raises:
            StoreError: The folder is not writable, or images are being generated.
        """
        if self.run_recorder.is_busy:
            raise StoreError(
                "The queue is not empty.",
                hint="Change the folder when all runs are finished.",
            )
        wanted = folder or self._paths.runs
        self.store.prepare(wanted)
        self._state.write(
            self._paths.settings / LIBRARY_FOLDER, {"folder": str(folder) if folder else ""}
        )
        self._close_library()
        self.runs_folder, self._is_by_month = wanted, True

    def find_interrupted(self) -> None:
        """Search for interrupted requests in a thread; publishes ``InterruptedFound``."""
        self._search = threading.Thread(target=self._find, name="interrupted", daemon=True)
        self._search.start()

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return the unfinished requests of earlier sessions, in order."""
        asked = self._journal.interrupted()
        if not asked:
            return ()
        self.library.refresh()
        is_there = self.library.has_drawn
        drawn = [request.id for request in asked if is_there(request.id)]
        if drawn:
            self._journal.forget(drawn)
        return tuple(request for request in asked if request.id not in drawn)

    def forget(self, *requests: GenerationRequest) -> None:
        """Remove interrupted requests from the journal."""
        self._journal.forget([request.id for request in requests])

    def note_closing(self) -> None:
        """Treat later cancellations as caused by closing; the next start offers the requests."""
        if "run_recorder" in vars(self):
            self.run_recorder.note_closing()

    def give_up(self) -> tuple[Path, ...]:
        """Drop the running requests, which the user cancelled; callable from any thread.

        Returns:
            Stored images without an evaluation.
        """
        pictures = self.run_recorder.forget_all()
        if "_journal" in vars(self):
            self._journal.close()
        return pictures

    def write_settings(self, settings: RunSettings, path: Path) -> None:
        """Write settings to a file for sharing.

        Raises:
            StoreError: The file is not writable.
        """
        self._state.write(path, settings)

    def read_settings(self, path: Path) -> RunSettings:
        """Read settings from a file.

        Raises:
            StoreError: The file is not readable, or has other contents.
        """
        return self._state.read_settings(path)

    def close(self) -> None:
        """Write pending data and release all resources."""
        made = vars(self)
        if "drafts" in made:
            self.drafts.close()
        if "background_jobs" in made:
            self.background_jobs.close()
        if "reading" in made:
            self.reading.close()
        for name in ("layer_maps", "layer_tables", "audit_desk"):
            if name in made:
                made[name].close()
        self._close_library()
        if "_journal" in made:
            self._journal.close()

    def _close_library(self) -> None:
        """Release library and gallery; they are opened again on next use."""
        if self._search is not None:
            self._search.join()
        made = vars(self)
        for name in ("gallery", "library"):
            if name in made:
                made.pop(name).close()

    def _find(self) -> None:
        if found := self.interrupted():
            self._publish(InterruptedFound(requests=found))

    def _tell(self, event: object) -> None:
        """Add a run to the library before ``RunStored`` is published."""
        if isinstance(event, RunStored) and "library" in vars(self):
            self.library.add(event.path)
        self._publish(event)
        if isinstance(event, RunStored) and event.request_id in self._repeated:
            self._tell_comparison(event, self._repeated.pop(event.request_id))

    def _tell_comparison(self, again: RunStored, first: Path) -> None:
        try:
            comparison = self.compare(first, again.path)
        except StudioError as error:
            log.warning("A reproduced run could not be compared: %s", error.message)
            return
        try:
            self.library.note_repetition(again.path, comparison)
        except StudioError as error:
            log.warning("The result of reproducing a run could not be saved: %s", error.message)
        reproduced = Reproduced(request_id=again.request_id, first=first, comparison=comparison)
        self._publish(reproduced)

    @cached_property
    def _state(self) -> StateFiles:
        return self._registry.state(FILES)

    @cached_property
    def _journal(self) -> QueueJournal:
        return self._state.open_journal(self._paths.settings / JOURNALS)


@frozen
class InterruptedFound:
    """Requests of earlier sessions are unfinished. Published once per start; may cross threads."""

    requests: tuple[GenerationRequest, ...]
