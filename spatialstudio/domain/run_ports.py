"""The protocols of what keeps runs: files, libraries, journals, metadata."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionFile
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationRequest,
    RequestId,
)
from spatialstudio.domain.library import (
    Deletion,
    EntryId,
    Filter,
    LibraryChange,
    LibraryEntry,
    Listing,
    Marks,
    RunSummary,
)
from spatialstudio.domain.picture_settings import EmbeddedTexts, PictureSettings
from spatialstudio.domain.record import (
    Fault,
    Reproduction,
    RunRecord,
)
from spatialstudio.domain.run_settings import Draft, RunSettings
from spatialstudio.domain.verdict import Evaluation


class RunStore(Protocol):
    """Keeps finished runs as files; a run is named by its picture's path."""

    def prepare(self, folder: Path) -> None:
        """Make sure that runs can be kept in a folder, before work is spent on one.

        Raises:
            StoreError: The folder cannot be made or written.
        """

    def save(self, record: RunRecord, events: Sequence[GenerationEvent], folder: Path) -> Path:
        """Write a run; nothing half-written is ever seen under its final name.

        Returns:
            The picture's file.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def load(self, path: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
        """Read a run back from any of its files or its folder, events as they were.

        Raises:
            StoreError: There is no run, or it is damaged.
        """

    def is_run(self, path: Path) -> bool:
        """Say whether a file belongs to a run."""

    def runs_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the pictures of all runs in a folder and below it, by name."""

    def picture_of(self, path: Path) -> Path:
        """Return the path by which a run is named, from that of any of its files.

        Raises:
            StoreError: It is none.
        """

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """List the files that a run consists of, from the path of any of them.

        Raises:
            StoreError: There is no run.
        """

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Keep what was found in a run's picture.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def marks(self, path: Path) -> Marks:
        """Return what the user says of a run.

        Raises:
            StoreError: The file that tells is damaged.
        """

    def mark(self, path: Path, marks: Marks) -> None:
        """Keep what the user says of a run.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def note_repetition(self, path: Path, repetition: Reproduction) -> None:
        """Keep how near a run came to the one that it repeats.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def verify(self, path: Path) -> tuple[Fault, ...]:
        """Check every part of a run against its hashes; empty when all is well."""

    def request_in(self, record: str) -> GenerationRequest:
        """Return the request that the record in one of our pictures holds.

        Raises:
            StoreError: The record is damaged, or of a newer version.
        """


class RunLibrary(Protocol):
    """The runs of one folder and all below it: listed, found, marked, deleted and put back.

    Safe to use from any thread. Runs are named by the paths of their pictures.
    """

    root: Path

    def close(self) -> None:
        """Give the index back."""

    def refresh(self, *, thorough: bool = False) -> LibraryChange:
        """Look for what came, changed, moved or went; ``thorough`` looks into every folder."""

    def reindex(self) -> int:
        """Build the index anew from the files; return how many runs there are."""

    def find(self, wanted: Filter) -> tuple[EntryId, ...]:
        """Return the runs that a filter asks for, newest first."""

    def listing(self, wanted: Filter) -> Listing:
        """Return the same runs with as much as a grid of them needs."""

    def entries(self, ids: Sequence[EntryId]) -> tuple[LibraryEntry, ...]:
        """Return runs by their ids, in that order; those that are gone are left out."""

    def entry_at(self, picture: Path) -> LibraryEntry | None:
        """Return the run of a picture; None when it is not in the library."""

    def of_request(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the run that a request has drawn; None when there is none."""

    def tags(self) -> tuple[str, ...]:
        """Return all tags in use, the most used first."""

    def add(self, picture: Path) -> None:
        """Take in a run that was just stored or changed."""

    def mark(self, picture: Path, marks: Marks) -> None:
        """Keep what the user says of a run, in its files and in the index.

        Raises:
            StoreError: There is no run, or it cannot be written.
        """

    def throw(self, pictures: Sequence[Path]) -> Deletion:
        """Move runs into the trash.

        Raises:
            StoreError: The library cannot be written.
        """

    def restore(self, inside: Sequence[Path]) -> tuple[Path, ...]:
        """Put runs back where they were, and return their pictures.

        Args:
            inside: Their pictures in the trash.

        Raises:
            StoreError: One is no longer there, or the library cannot be written.
        """

    def deletions(self) -> tuple[Deletion, ...]:
        """List what can be put back, the newest first."""

    def empty_trash(self, older_than: timedelta = timedelta(0)) -> int:
        """Delete for good what was thrown away long enough ago; return how many runs."""

    def forget(self, pictures: Sequence[Path]) -> None:
        """Take runs whose pictures are gone off the list."""

    def recall(self, missing: Sequence[LibraryEntry]) -> None:
        """List runs again whose pictures are gone."""

    def repetitions(self, run: RunSummary) -> tuple[LibraryEntry, ...]:
        """Return the runs that repeat one exactly and were compared with it, newest first."""

    def move(self, picture: Path, folder: Path) -> Path:
        """Move a run into another folder; return the picture's new path.

        Raises:
            StoreError: The folder cannot be written.
        """

    def picture(self, path: Path) -> RgbImage | None:
        """Return a picture, (H, W, 3) uint8; None when the file cannot be read."""

    def thumbnail(self, picture: Path) -> RgbImage | None:
        """Return a small picture, (h, w, 3) uint8; None when the file cannot be read."""


class RunLibraries(Protocol):
    """Opens libraries."""

    def open(self, root: Path, cache: Path, draws_stickers: Callable[[str], bool]) -> RunLibrary:
        """Open the library in a folder; index and thumbnails go to ``cache``.

        Verdicts of the sticker models are listed only where ``draws_stickers`` says of a run's
        model that they know its pictures.
        """


class QueueJournal(Protocol):
    """Remembers on disk what was asked, until it is done. Safe to use from any thread."""

    def note(self, request: GenerationRequest) -> None:
        """Remember a request, before work on it begins.

        Raises:
            StoreError: The journal cannot be written.
        """

    def end(self, request_id: RequestId) -> None:
        """Note that a request needs no more remembering: done, failed or cancelled."""

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return what programs that ended suddenly had not done, in order."""

    def forget(self, request_ids: Collection[RequestId]) -> None:
        """Drop interrupted requests from the list."""

    def close(self) -> None:
        """End this program's part; what is not done is listed as interrupted next time."""


class StateFiles(Protocol):
    """Keeps what is not finished: the queue, and what was typed."""

    def open_journal(self, folder: Path) -> QueueJournal:
        """Open this program's journal in a folder that all programs of a user share."""

    def write_draft(self, path: Path, draft: Draft) -> None:
        """Write what was typed, whole.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def read_draft(self, path: Path) -> Draft | None:
        """Return what was typed last; None when nothing was, or it cannot be read."""

    def write_settings(self, path: Path, settings: RunSettings) -> None:
        """Write settings of runs, whole.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def read_settings(self, path: Path) -> RunSettings:
        """Read settings of runs.

        Raises:
            StoreError: The file cannot be read, or holds something else.
        """

    def write_searches(self, path: Path, searches: Mapping[str, str]) -> None:
        """Write saved searches, by name.

        Raises:
            StoreError: The folder cannot be written or is full.
        """

    def read_searches(self, path: Path) -> dict[str, str]:
        """Return saved searches by name; none when they cannot be read."""

    def write_library_folder(self, path: Path, folder: Path | None) -> None:
        """Write where the user wants runs to be kept; None for the usual folder.

        Raises:
            StoreError: The file cannot be written.
        """

    def read_library_folder(self, path: Path) -> Path | None:
        """Return where the user wants runs to be kept; None when nothing says so."""


class AttentionFiles(Protocol):
    """Reads attention that was kept on disk beside a run."""

    def read(self, request_id: RequestId, file: AttentionFile) -> npt.NDArray[np.float16]:
        """Open one layer's attention without taking all of it into memory.

        Returns:
            (steps kept, heads, words, h, w).

        Raises:
            StoreError: It is no longer there, or damaged.
        """


class MetadataFiles(Protocol):
    """Reads how pictures say that they were made, and writes it."""

    def read(self, path: Path) -> PictureSettings | None:
        """Read how a picture was made; None when it does not tell.

        Raises:
            ImageError: The file cannot be read.
        """

    def encode(self, image: RgbImage, kind: str, texts: EmbeddedTexts | None) -> bytes:
        """Return a picture file of kind "PNG", "JPEG" or "WEBP"; None for a clean copy.

        Raises:
            ExportError: The texts are too long for the kind.
        """
