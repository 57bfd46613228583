"""Protocols of run storage: files, libraries, journals, metadata."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionCacheUse, AttentionFile, LayerValues
from spatialstudio.domain.fix import Fix
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationRequest,
    RequestId,
)
from spatialstudio.domain.judge_choice import JudgeSetCard
from spatialstudio.domain.library import (
    Deletion,
    EntryId,
    Fault,
    Filter,
    LibraryChange,
    LibraryEntry,
    Listing,
    Marks,
    Reproduction,
    RunRecord,
    RunSummary,
)
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_settings import Draft, RunSettings
from spatialstudio.domain.verdict import Evaluation


class RunStore(Protocol):
    """Stores finished runs as files; a run is identified by its image path."""

    def prepare(self, folder: Path) -> None:
        """Check that runs can be written to a folder, before generation starts.

        Raises:
            StoreError: The folder cannot be created or written.
        """

    def save(self, record: RunRecord, events: Sequence[GenerationEvent], folder: Path) -> Path:
        """Write a run atomically.

        Returns:
            The path of the image.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def load(self, path: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
        """Read a run and its events from its folder or any of its files.

        Raises:
            StoreError: There is no run, or it is damaged.
        """

    def is_run(self, path: Path) -> bool:
        """Return True if a file belongs to a run."""

    def runs_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the image paths of all runs in a folder and its subfolders, sorted by name."""

    def picture_of(self, path: Path) -> Path:
        """Return the image path of a run from the path of any of its files.

        Raises:
            StoreError: The file does not belong to a run.
        """

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """Return all files of a run from the path of any of them.

        Raises:
            StoreError: There is no run.
        """

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Store the evaluation of a run.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def marks(self, path: Path) -> Marks:
        """Return the user's marks of a run.

        Raises:
            StoreError: The file with the marks is damaged.
        """

    def mark(self, path: Path, marks: Marks) -> None:
        """Store the user's marks of a run.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def note_repetition(self, path: Path, repetition: Reproduction) -> None:
        """Store the comparison of a run with the run that it reproduces.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def verify(self, path: Path) -> tuple[Fault, ...]:
        """Verify the hashes of all parts of a run; return the defects."""

    def request_in(self, record: str) -> GenerationRequest:
        """Return the request in a record embedded in an image.

        Raises:
            StoreError: The record is damaged, or has a newer schema version.
        """


class RunLibrary(Protocol):
    """The runs in one folder and its subfolders: index, marks, trash and thumbnails.

    Thread-safe. Runs are identified by their image paths.
    """

    root: Path

    def close(self) -> None:
        """Close the index."""

    def refresh(self, *, thorough: bool = False) -> LibraryChange:
        """Scan for added, changed, moved and missing runs; ``thorough`` scans every folder."""

    def reindex(self) -> int:
        """Rebuild the index from the files; return the number of runs."""

    def find(self, wanted: Filter) -> tuple[EntryId, ...]:
        """Return the runs that match a filter, newest first."""

    def listing(self, wanted: Filter) -> Listing:
        """Return the runs that match a filter, with the columns of a grid."""

    def entries(self, ids: Sequence[EntryId]) -> tuple[LibraryEntry, ...]:
        """Return runs by their ids, in that order; missing ids are left out."""

    def entry_at(self, picture: Path) -> LibraryEntry | None:
        """Return the run with an image path; None when it is not in the library."""

    def id_at(self, picture: Path) -> EntryId | None:
        """Return the id of the run with an image path; None when it is not in the library."""

    def of_request(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the run of a request; None when there is none."""

    def derived_from(self, run_id: str) -> tuple[LibraryEntry, ...]:
        """Return the runs that were derived from a run, outside the trash, newest first."""

    def tags(self) -> tuple[str, ...]:
        """Return all tags, the most frequent first."""

    def add(self, picture: Path) -> None:
        """Add or update a run in the index."""

    def mark(self, picture: Path, marks: Marks) -> None:
        """Store the user's marks of a run, in its files and in the index.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def throw(self, pictures: Sequence[Path]) -> Deletion:
        """Move runs into the trash.

        Raises:
            StoreError: The library cannot be written.
        """

    def restore(self, inside: Sequence[Path]) -> tuple[Path, ...]:
        """Restore runs from the trash, and return their image paths.

        Args:
            inside: Their image paths in the trash.

        Raises:
            StoreError: A run is missing, or the library cannot be written.
        """

    def deletions(self) -> tuple[Deletion, ...]:
        """Return the deletions in the trash, the newest first."""

    def empty_trash(self, older_than: timedelta = timedelta(0)) -> int:
        """Permanently delete runs that were deleted long enough ago; return their number."""

    def forget(self, pictures: Sequence[Path]) -> None:
        """Remove runs with missing images from the index."""

    def recall(self, missing: Sequence[LibraryEntry]) -> None:
        """Add runs with missing images back to the index."""

    def repetitions(self, run: RunSummary) -> tuple[LibraryEntry, ...]:
        """Return the runs that reproduce a run and were compared with it, newest first."""

    def move(self, picture: Path, folder: Path) -> Path:
        """Move a run to another folder; return the new image path.

        Raises:
            StoreError: The folder cannot be written.
        """

    def picture(self, path: Path) -> RgbImage | None:
        """Return an image, (H, W, 3) uint8; None when the file cannot be read."""

    def thumbnail(self, picture: Path) -> RgbImage | None:
        """Return a thumbnail, (h, w, 3) uint8; None when the file cannot be read."""


class RunLibraries(Protocol):
    """Opens libraries."""

    def open(self, root: Path, cache: Path, draws_stickers: Callable[[str], bool]) -> RunLibrary:
        """Open the library of a folder; index and thumbnails are stored in ``cache``.

        Verdicts from the sticker models are listed only for runs whose model id satisfies
        ``draws_stickers``, as the sticker models do not apply to other images.
        """


class QueueJournal(Protocol):
    """Persists unfinished requests. Thread-safe."""

    def note(self, request: GenerationRequest) -> None:
        """Write a request, before work on it begins.

        Raises:
            StoreError: The journal cannot be written.
        """

    def end(self, request_id: RequestId) -> None:
        """Mark a request as done, failed or cancelled."""

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return the unfinished requests of processes that ended unexpectedly, in order."""

    def forget(self, request_ids: Collection[RequestId]) -> None:
        """Delete interrupted requests."""

    def close(self) -> None:
        """Close this process's journal; unfinished requests count as interrupted."""


class StateFiles(Protocol):
    """Reads and writes application state: queue journal, draft, settings, saved searches."""

    def open_journal(self, folder: Path) -> QueueJournal:
        """Open this process's journal in a folder shared by all processes of a user."""

    def write(
        self, path: Path, state: Draft | RunSettings | Refinement | Fix | Mapping[str, str]
    ) -> None:
        """Write a draft, run settings, a refinement, a fix or texts by name atomically.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def read_draft(self, path: Path) -> Draft | None:
        """Return the stored draft; None when there is none, or it cannot be read."""

    def read_settings(self, path: Path) -> RunSettings:
        """Read run settings.

        Raises:
            StoreError: The file cannot be read, or is not a settings file.
        """

    def read_refinement(self, path: Path) -> Refinement | None:
        """Return a stored refinement; None when there is none, or it cannot be read."""

    def read_fix(self, path: Path) -> Fix | None:
        """Return a stored fix; None when there is none, or it cannot be read."""

    def read_texts(self, path: Path) -> dict[str, str]:
        """Return texts by name; empty when they cannot be read."""

    def read_judge_sets(self, path: Path) -> tuple[JudgeSetCard, ...]:
        """Return the user-defined judge sets; an invalid set has a ``fault``."""

    def write_judge_set(self, path: Path, set_id: str, card: JudgeSetCard | None) -> None:
        """Replace a stored judge set, or delete it; other sets stay as they are, valid or not.

        Raises:
            StoreError: The file is damaged, or cannot be written.
        """


class AttentionFiles(Protocol):
    """Reads attention stored on disk for a run."""

    def use(self) -> AttentionCacheUse:
        """Return how full the cache of recorded layers is."""

    def read(self, request_id: RequestId, file: AttentionFile) -> LayerValues:
        """Open one layer's attention as a memory map.

        Returns:
            (stored steps, heads, words, h, w).

        Raises:
            StoreError: The file is missing or damaged.
        """


class MetadataFiles(Protocol):
    """Reads and writes generation settings in image metadata."""

    def read(self, path: Path) -> PictureSettings | None:
        """Read the generation settings of an image; None when it has none.

        Raises:
            ImageError: The file cannot be read.
        """

    def encode(self, image: RgbImage, model_id: str) -> bytes:
        """Encode an image as PNG; its metadata names the model that generated it, if known."""
