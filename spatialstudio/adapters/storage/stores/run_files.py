"""Storage of each run as three files with one name, in formats other programs can read.

    2026-11-20_103240_a-cat-above-a-dog_7.png      the picture, with its settings as metadata
    2026-11-20_103240_a-cat-above-a-dog_7.strace   its generation step by step, see ``trace``
    2026-11-20_103240_a-cat-above-a-dog_7.json     its evaluation and marks, see ``sidecar``

A run is identified by its picture's path. Runs of version 1, which were folders, can be read.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from os.path import lexists
from pathlib import Path
from uuid import uuid4

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes, read_texts
from spatialstudio.adapters.storage.stores import atomic_write
from spatialstudio.adapters.storage.stores.json_codec import RESTORE_HINT, encode
from spatialstudio.adapters.storage.stores.judgement import keep_judgement, recover_judgement
from spatialstudio.adapters.storage.stores.picture_record import (
    read_picture_record,
    texts_of,
    with_hash,
)
from spatialstudio.adapters.storage.stores.run_folder import PICTURE as OLD_PICTURE
from spatialstudio.adapters.storage.stores.run_folder import (
    is_run_folder,
    load_run_folder,
    run_folder_of,
)
from spatialstudio.adapters.storage.stores.sidecar import (
    REPETITION,
    Sidecar,
    part_hashes,
    read_listing,
    read_sidecar,
    repetition_hash,
    summarise,
    with_listing,
    write_sidecar,
)
from spatialstudio.adapters.storage.stores.trace import (
    MAPS,
    PackedArrays,
    TraceContent,
    events_of,
    maps_of,
    pack_trace_arrays,
    preview_member,
    previews_of,
    with_references,
    write_trace,
)
from spatialstudio.adapters.storage.stores.verify_run import (
    TRACE,
    faults_of,
    proven_repetition,
    read_part,
    read_record,
    read_trace,
    trace_hash,
    verify_run,
)
from spatialstudio.domain.arrays import RgbImage, hash_of_picture
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationRequest,
    StepEvent,
)
from spatialstudio.domain.library import (
    ArtifactRef,
    Fault,
    Marks,
    Reproduction,
    RunId,
    RunRecord,
)
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import is_folder, is_regular
from spatialstudio.domain.verdict import Evaluation

IMAGE = "image"
PICTURE = "picture"
_PROBE = ".probe"


def build(_: Surroundings) -> "RunFiles":
    """Create the store."""
    return RunFiles()


class RunFiles:
    """Stores runs as files; implements ``RunStore``. Thread-safe."""

    id = "files"

    def prepare(self, folder: Path) -> None:
        """Check before a run starts that its folder can be created and written.

        Raises:
            StoreError: The folder cannot be created or written.
        """
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            probe = folder / f".{uuid4().hex}{_PROBE}"
            probe.touch(exist_ok=False)  # does not follow a link of that name
            probe.unlink(missing_ok=True)

    def save(self, record: RunRecord, events: Sequence[GenerationEvent], folder: Path) -> Path:
        """Write a run into ``folder``, completely or not at all.

        Returns:
            The picture's file, under the first free name.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        steps = [event for event in events if isinstance(event, StepEvent)]
        (image,) = (event.image for event in events if isinstance(event, GenerationFinished))
        content = TraceContent(
            maps=maps_of(steps), previews=previews_of(steps), picture=lambda: image
        )
        packed = pack_trace_arrays(content)
        evaluation = record.evaluation
        kept = _with_references(record, content, packed)
        trace = write_trace(encode(kept, {}), packed)
        sidecar = write_sidecar(_sidecar(kept, evaluation, image))
        files = {
            atomic_write.TRACE_ENDING: trace,
            atomic_write.SIDECAR_ENDING: sidecar,
            atomic_write.PICTURE_ENDING: _picture(
                kept, evaluation, image, _hashes(sha256(trace).hexdigest(), sidecar)
            ),
        }
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            return atomic_write.write_run_files(folder, record.id, files)

    def load(self, path: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
        """Load a run: the record with its evaluation, and the events.

        Args:
            path: Any of its files; a folder, for the newest run in it; or a run of version 1.

        Raises:
            StoreError: There is no run, or one of its files is damaged.
        """
        if old := run_folder_of(path):
            return load_run_folder(old)
        picture = self.picture_of(path)
        record, content = read_trace(picture)
        image = PillowImages().read(picture) if picture.exists() else content.picture()
        sidecar = _sidecar_of(picture)
        evaluation = sidecar.evaluation if sidecar else None
        record = replace(record, id=RunId(picture.stem), evaluation=evaluation)
        try:
            return record, events_of(record, content.maps, content.previews, image)
        except KeyError as error:
            raise StoreError(f"The trace has no {error}.", hint=RESTORE_HINT) from error

    def judge(self, path: Path, evaluation: Evaluation) -> None:
        """Save the evaluation of a run's picture in the sidecar, and its hash in the picture.

        Raises:
            StoreError: There is no run, or the folder cannot be written.
        """
        picture = self.picture_of(path)
        record, image = read_record(picture), PillowImages().read(picture)
        sidecar = _sidecar(record, evaluation, image)
        if before := _listing_of(picture):
            compared = proven_repetition(picture, before.repetition)
            sidecar = replace(sidecar, marks=before.marks, repetition=compared)
        content = write_sidecar(sidecar)
        hashes = _hashes(trace_hash(picture), content)
        keep_judgement(picture, content, _picture(record, evaluation, image, hashes))

    def mark(self, path: Path, marks: Marks) -> None:
        """Save the user's marks of a run.

        Raises:
            StoreError: There is no run, or the folder cannot be written.
        """
        picture = self.picture_of(path)
        content = _amended(picture, lambda sidecar: replace(sidecar, marks=marks))
        write_whole(picture.with_suffix(atomic_write.SIDECAR_ENDING), content)

    def note_repetition(self, path: Path, repetition: Reproduction) -> None:
        """Save the comparison of a run with the one it repeats, in sidecar and picture.

        Raises:
            StoreError: There is no run, or the folder cannot be written.
        """
        picture = self.picture_of(path)
        content = _amended(picture, lambda sidecar: replace(sidecar, repetition=repetition))
        texts = with_hash(read_texts(read_part(picture)), REPETITION, repetition_hash(repetition))
        keep_judgement(picture, content, picture_bytes(PillowImages().read(picture), "PNG", texts))

    def marks(self, path: Path) -> Marks:
        """Return the user's marks of a run; empty if there is no sidecar.

        Raises:
            StoreError: The file is damaged.
        """
        sidecar = _listing_of(self.picture_of(path))
        return sidecar.marks if sidecar else Marks()

    def verify(self, path: Path) -> tuple[Fault, ...]:
        """Check every part of a run against its hashes; empty if all match."""
        if old := run_folder_of(path):
            return tuple(faults_of({"trace": lambda: load_run_folder(old)}))
        try:
            picture = self.picture_of(path)
        except StoreError as error:
            return (Fault(part="picture", message=error.message),)
        return verify_run(picture)

    def request_in(self, record: str) -> GenerationRequest:
        """Return the request in the record of one of our pictures.

        Raises:
            StoreError: The record is damaged, or of a newer version.
        """
        return read_picture_record(record).request

    def runs_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the pictures of all runs in a folder and its subfolders, by name.

        Hidden pictures and linked folders are skipped.
        """
        found = []
        for root, inner, names in os.walk(folder):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            here = Path(root)
            if is_run_folder(here):
                found.append(here / OLD_PICTURE)
            found += [
                (here / name).with_suffix(atomic_write.PICTURE_ENDING)
                for name in sorted(names)
                if name.endswith(atomic_write.TRACE_ENDING) and not name.startswith(".")
            ]
        return tuple(found)

    def is_run(self, path: Path) -> bool:
        """Return True if a file belongs to a run, which has a trace of the same name."""
        if path.suffix in atomic_write.ENDINGS and is_regular(
            path.with_suffix(atomic_write.TRACE_ENDING)
        ):
            return True
        return is_regular(path) and run_folder_of(path) is not None

    def files_of(self, path: Path) -> tuple[Path, ...]:
        """List all files of a run, given the path of any of them.

        Raises:
            StoreError: There is no run.
        """
        if old := run_folder_of(path):
            return tuple(old.iterdir())
        picture = self.picture_of(path)
        files = (picture.with_suffix(ending) for ending in atomic_write.ENDINGS)
        return tuple(file for file in files if file.exists())

    def picture_of(self, path: Path) -> Path:
        """Return the picture path that identifies a run, from the path of any of its files.

        Raises:
            StoreError: There is no run.
        """
        if old := run_folder_of(path):
            return old / OLD_PICTURE
        if is_folder(path):
            pictures = (p for p in path.glob("*.png") if is_regular(p.with_suffix(".strace")))
            newest = max(pictures, key=lambda p: p.name, default=None)
            if newest is None:
                raise StoreError(
                    f'The folder "{path}" contains no complete run.',
                    hint="Choose a picture generated by Spatial Studio.",
                )
            return newest
        if path.suffix not in atomic_write.ENDINGS:
            if not os.path.lexists(path):
                raise StoreError(
                    f'There is no file or run "{path}".',
                    hint='List the runs with "spatialstudio runs list".',
                )
            raise StoreError(
                f'The file "{path}" does not belong to a run.',
                hint="Choose a picture generated by Spatial Studio, or its trace.",
            )
        picture = path.with_suffix(atomic_write.PICTURE_ENDING)
        if is_regular(picture) and not is_regular(path.with_suffix(atomic_write.TRACE_ENDING)):
            with suppress(OSError):  # a folder that cannot be written stays unchanged
                atomic_write.finish(path.parent, path.stem)
        recover_judgement(picture)
        return picture


def _amended(picture: Path, change: Callable[[Sidecar], Sidecar]) -> bytes:
    """Return a run's sidecar with a change applied; it is created if missing."""
    if listing := _listing_of(picture):
        target = picture.with_suffix(atomic_write.SIDECAR_ENDING)
        return with_listing(read_part(target), target.name, change(listing))
    return write_sidecar(change(_sidecar(read_record(picture), None, PillowImages().read(picture))))


def _sidecar_of(picture: Path) -> Sidecar | None:
    """Read the sidecar of a picture; None if there is none."""
    path = picture.with_suffix(atomic_write.SIDECAR_ENDING)
    return read_sidecar(read_part(path), path.name) if lexists(path) else None


def _listing_of(picture: Path) -> Sidecar | None:
    """Read the sidecar without its evaluation; None if there is none."""
    path = picture.with_suffix(atomic_write.SIDECAR_ENDING)
    return read_listing(read_part(path), path.name) if lexists(path) else None


def _with_references(record: RunRecord, content: TraceContent, packed: PackedArrays) -> RunRecord:
    drawn = content.picture()
    references = {
        name: ArtifactRef(
            kind="attention" if name == MAPS else "preview",
            path=name,
            sha256=sha256(data).hexdigest(),
            bytes=len(data),
        )
        for name, data in packed.members.items()
    }
    previews = {step: references[preview_member(step)] for step in content.previews}
    image = ArtifactRef(
        kind=IMAGE,
        path=f"{record.id}{atomic_write.PICTURE_ENDING}",
        sha256=hash_of_picture(drawn),
        bytes=drawn.nbytes,
    )
    trace = with_references(record.trace, content.maps, references[MAPS], previews)
    return replace(record, trace=trace, artifacts=(image,), evaluation=None)


def _sidecar(record: RunRecord, evaluation: Evaluation | None, image: RgbImage) -> Sidecar:
    height, width, _ = image.shape
    summary = summarise(record, evaluation, (height, width))
    return Sidecar(summary=summary, evaluation=evaluation)


def _hashes(trace: str, sidecar: bytes) -> Mapping[str, str]:
    """Return the hashes of a run's parts for its picture, from trace hash and sidecar."""
    return {TRACE: trace, **part_hashes(sidecar, atomic_write.SIDECAR_ENDING)}


def _picture(
    record: RunRecord, evaluation: Evaluation | None, image: RgbImage, hashes: Mapping[str, str]
) -> bytes:
    height, width, _ = image.shape
    parts = {PICTURE: hash_of_picture(image), **hashes}
    size, is_marked = (height, width), record.is_marked
    texts = texts_of(record, evaluation, size, is_marked=is_marked, parts=parts)
    return picture_bytes(image, "PNG", texts)
