"""What the studio keeps on disk: finished runs, the queue, drafts. Made when first needed."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.compose.drafts import DraftSaver
from spatialstudio.application.gallery.compare_runs import compare_runs
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.inspect.layer_maps import LayerMaps
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.registry import Registry
from spatialstudio.application.session import (
    OpenRun,
    RunState,
    RunStored,
    after,
)
from spatialstudio.application.storage.picture_settings import tell_form
from spatialstudio.application.storage.run_writer import RunRecorder, RunWriter
from spatialstudio.application.storage.store_run import record_of
from spatialstudio.domain.errors import (
    LibraryNotWritable,
    StoreError,
    StudioError,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.picture_settings import (
    FieldDifference,
    PictureSettings,
    compare_settings,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.record import Reproduction
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.run_ports import (
    MetadataFiles,
    QueueJournal,
    RunStore,
    StateFiles,
)
from spatialstudio.domain.run_settings import RunSettings
from spatialstudio.domain.safe_files import is_inside

log = logging.getLogger(__name__)

if TYPE_CHECKING:
    from spatialstudio.application.gallery.exports import Exports
    from spatialstudio.application.gallery.gallery import Gallery
    from spatialstudio.application.jobs.background_jobs import BackgroundJobs

STORE_ID = "files"
LIBRARY_ID = "files"
STATE_ID = "files"
METADATA_ID = "embedded"
EXPORTER_ID = "files"
ATTENTION_ID = "files"

JOURNALS = "queue"
DRAFT = "draft.json"
SEARCHES = "searches.json"
LIBRARY_FOLDER = "library.json"


@frozen
class Reproduced:
    """A run was drawn again. Published once the repetition is stored; may cross threads.

    Attributes:
        request_id: Of the repetition.
        first: Picture of the run repeated.
        comparison: Whether it came out the same, and why not.
    """

    request_id: RequestId
    first: Path
    comparison: Reproduction


class Storage:
    """All that outlives the program, however it ends.

    Attributes:
        marks_pictures: Whether new pictures say in their XMP that a model drew them.

    Args:
        registry: Where the adapters are.
        paths: Where things are on disk.
        runs_folder: Where finished runs are written; None for the user's library, by month.
        publish: Takes what is to be told.
        draws_stickers: Says of the id of a model whether the sticker models know its pictures.
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
        self._is_by_month = runs_folder is None
        if runs_folder is not None:
            self.runs_folder = runs_folder
        self.marks_pictures = True

    @cached_property
    def runs_folder(self) -> Path:
        """Where finished runs are written: the folder the user chose, else the usual one."""
        chosen = self._state.read_library_folder(self._paths.settings / LIBRARY_FOLDER)
        return chosen or self._paths.runs

    @cached_property
    def store(self) -> RunStore:
        """Reads and writes single runs."""
        return self._registry.store(STORE_ID)

    @cached_property
    def metadata(self) -> MetadataFiles:
        """Reads and writes what pictures tell of their making."""
        return self._registry.metadata(METADATA_ID)

    @cached_property
    def library(self) -> Library:
        """All runs in the folder, as they are found and marked."""
        runs = self._registry.library(LIBRARY_ID).open(
            self.runs_folder, self._paths.cache, self._draws_stickers
        )
        searches = self._paths.settings / SEARCHES
        return Library(runs, self.store, self._state, searches, self._publish)

    @cached_property
    def gallery(self) -> "Gallery":
        """Asks the library beside the window."""
        from spatialstudio.application.gallery.gallery import Gallery

        return Gallery(self.library, self._publish)

    @cached_property
    def drafts(self) -> DraftSaver:
        """What is typed and set, kept as it changes."""
        state, path = self._state, self._paths.settings / DRAFT
        return DraftSaver(partial(state.read_draft, path), partial(state.write_draft, path))

    @cached_property
    def background_jobs(self) -> "BackgroundJobs":
        """Exports, imports and checks of runs, done beside the window."""
        from spatialstudio.application.jobs.background_jobs import BackgroundJobs

        return BackgroundJobs(self._publish)

    @cached_property
    def reading(self) -> "BackgroundJobs":
        """Files that the user opens, read in a thread that no export keeps busy."""
        from spatialstudio.application.jobs.background_jobs import BackgroundJobs

        return BackgroundJobs(self._publish, "reading")

    @cached_property
    def layer_maps(self) -> LayerMaps:
        """Averages the attention that runs have kept, over layers of choice."""
        return LayerMaps(lambda: self._registry.attention_files(ATTENTION_ID), self._publish)

    @cached_property
    def exports(self) -> "Exports":
        """Takes runs out as files."""
        from spatialstudio.application.gallery.exports import Exports

        exporter = self._registry.exporter(EXPORTER_ID)
        themes = self._paths.resources / "themes"
        return Exports(store=self.store, exporter=exporter, themes=themes)

    @cached_property
    def run_recorder(self) -> RunRecorder:
        """Stores runs as they end."""
        sink = RunWriter(
            self.store, self.folder_now, self._paths.recovery, lambda: self.marks_pictures
        )
        return RunRecorder(sink, self._journal, self._tell)

    def read_run(self, path: Path) -> OpenRun:
        """Read a stored run, as it stood when it had ended.

        Args:
            path: Of its picture, trace or evaluation; of a folder, for the newest run in it.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        record, events = self.store.load(path)
        run = OpenRun(id=record.request.id, scene=record.request.scene, request=record.request)
        for event in events:
            run = after(run, event)
        return replace(
            run,
            state=RunState.DONE,
            phase=None,
            evaluation=record.evaluation,
            path=self.store.picture_of(path),
        )

    def save_picture(self, run: OpenRun, path: Path, *, overwrite: bool = False) -> None:
        """Write a finished picture where the user wants it; how it was made stands in it.

        Raises:
            ExportError: The file's ending is not that of a picture.
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """
        if run.request is not None and (events := run.events):
            marked = self.marks_pictures
            record = record_of(run.request, events, run.evaluation, is_marked=marked)
            self.exports.save_picture(record, events, path, overwrite=overwrite)

    def again(self, path: Path, request_id: RequestId) -> GenerationRequest:
        """Return the request that draws a stored run again; what came of it will be told.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        record, _ = self.store.load(path)
        self._repeated[request_id] = self.store.picture_of(path)
        return replace(record.request, id=request_id, parent_run_id=record.id, sweep=None)

    def compare_picture(
        self, theirs: PictureSettings, scene: SceneGraph | None, models: Sequence[ModelCard]
    ) -> tuple[FieldDifference, ...]:
        """Set what a picture tells of its making beside the draft.

        Args:
            theirs: What the picture tells.
            scene: That is worked on; None when there is none.
            models: Those that are here; the first is set where nothing was set by hand.
        """
        return compare_settings(tell_form(self.drafts.newest, scene, models), theirs)

    def request_in(self, theirs: PictureSettings) -> GenerationRequest | None:
        """Return the whole request that one of our pictures tells; None for those of others."""
        try:
            return self.store.request_in(theirs.record) if theirs.record else None
        except StoreError as error:
            log.info("A picture's record cannot be read: %s", error.message)
            return None

    def compare(self, first: Path, again: Path) -> Reproduction:
        """Say how near a run comes to another that it repeats.

        Raises:
            StoreError: One of them is no run, or damaged.
        """
        one, other = self.exports.read(first), self.exports.read(again)
        return compare_runs(one.record, one.image, other.record, other.image)

    def folder_now(self) -> Path:
        """Return the folder that a run goes to which ends now."""
        if not self._is_by_month:
            return self.runs_folder
        month = self.runs_folder / f"{datetime.now(UTC):%Y/%m}"
        # NOTE: where a link leads out of the library, a run would not be found again
        return month if is_inside(month, self.runs_folder) else self.runs_folder

    def prepare(self) -> None:
        """Make sure that runs can be kept, before work is spent on one.

        Raises:
            LibraryNotWritable: The folder cannot be made or written.
        """
        try:
            self.store.prepare(self.folder_now())
        except StoreError as error:
            raise LibraryNotWritable(error.message, hint=error.hint) from error

    def use_library(self, folder: Path | None) -> None:
        """Keep finished runs in another folder, now and in later programs; its runs are found.

        Whoever asked the former library asks anew. Runs that lie there stay there.

        Args:
            folder: None for the usual one.

        Raises:
            StoreError: The folder cannot be written, or pictures are still being drawn.
        """
        if self.run_recorder.is_busy:
            raise StoreError(
                "Pictures are still being generated or waiting.",
                hint="Choose the folder when they are finished.",
            )
        wanted = folder or self._paths.runs
        self.store.prepare(wanted)
        self._state.write_library_folder(self._paths.settings / LIBRARY_FOLDER, folder)
        self._close_library()
        self.runs_folder, self._is_by_month = wanted, True

    def find_interrupted(self) -> None:
        """Look from a thread for what earlier programs left undone; then ``InterruptedFound``."""
        self._search = threading.Thread(target=self._find, name="interrupted", daemon=True)
        self._search.start()

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return what earlier programs had been asked and have not drawn, in order."""
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
        """Drop interrupted requests from the list."""
        self._journal.forget([request.id for request in requests])

    def note_closing(self) -> None:
        """From now on what is stopped is not stopped by the user; the next program offers it."""
        if "run_recorder" in vars(self):
            self.run_recorder.note_closing()

    def give_up(self) -> tuple[Path, ...]:
        """Forget what is being drawn, which the user stopped; safe to call from any thread.

        Returns:
            Pictures that are stored already and were not judged.
        """
        pictures = self.run_recorder.forget_all()
        if "_journal" in vars(self):
            self._journal.close()
        return pictures

    def write_settings(self, settings: RunSettings, path: Path) -> None:
        """Write settings to a file that other people can open.

        Raises:
            StoreError: The file cannot be written.
        """
        self._state.write_settings(path, settings)

    def read_settings(self, path: Path) -> RunSettings:
        """Read settings that somebody wrote.

        Raises:
            StoreError: The file cannot be read, or holds something else.
        """
        return self._state.read_settings(path)

    def close(self) -> None:
        """Write what is still to be written, and give everything back."""
        made = vars(self)
        if "drafts" in made:
            self.drafts.close()
        if "background_jobs" in made:
            self.background_jobs.close()
        if "reading" in made:
            self.reading.close()
        if "layer_maps" in made:
            self.layer_maps.close()
        self._close_library()
        if "_journal" in made:
            self._journal.close()

    def _close_library(self) -> None:
        """Give library and gallery back; they are opened anew when somebody asks for them."""
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
        """Have the library know of a run before anybody hears that it is stored."""
        if isinstance(event, RunStored) and "library" in vars(self):
            self.library.add(event.path)
        self._publish(event)
        if isinstance(event, RunStored) and event.request_id in self._repeated:
            self._tell_comparison(event, self._repeated.pop(event.request_id))

    def _tell_comparison(self, again: RunStored, first: Path) -> None:
        try:
            comparison = self.compare(first, again.path)
        except StudioError as error:
            log.warning("A run drawn again could not be compared: %s", error.message)
            return
        try:
            self.library.note_repetition(again.path, comparison)
        except StudioError as error:
            log.warning("The result of reproducing a run could not be saved: %s", error.message)
        reproduced = Reproduced(request_id=again.request_id, first=first, comparison=comparison)
        self._publish(reproduced)

    @cached_property
    def _state(self) -> StateFiles:
        return self._registry.state(STATE_ID)

    @cached_property
    def _journal(self) -> QueueJournal:
        return self._state.open_journal(self._paths.settings / JOURNALS)


@frozen
class InterruptedFound:
    """Earlier programs left requests undone. Published once a start; may cross threads."""

    requests: tuple[GenerationRequest, ...]
