"""Keeps each run as a folder of plain files that any program can read.

    picture.png       the finished picture
    run.json          the record: request, steps, environment, hashes of the other files
    trace.npz         attention maps and previews of every captured step
    evaluation.json   verdicts and what they rest on, when the picture was judged
    perception.npz    masks and depth of the evaluation

A run is written under a hidden name and renamed when the disk has all of it.
"""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import chain, count
from pathlib import Path
from uuid import uuid4

from spatialstudio.adapters.durable_files import explained_writing, sync_folder, write_synced
from spatialstudio.adapters.images import PillowImages, png_bytes
from spatialstudio.adapters.stores.array_file import AnyArray, pack_arrays, unpack_arrays
from spatialstudio.adapters.stores.json_codec import Json, decode, encode
from spatialstudio.adapters.stores.trace import arrays_of, events_of, with_references
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationEvent, GenerationFinished, StepEvent
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.record import SCHEMA_VERSION, ArtifactRef, RunId, RunRecord
from spatialstudio.domain.verdict import Evaluation

PICTURE = "picture.png"
RECORD = "run.json"
TRACE = "trace.npz"
EVALUATION = "evaluation.json"
PERCEPTION = "perception.npz"

_KINDS = {PICTURE: "image", EVALUATION: "evaluation", PERCEPTION: "perception"}
_RESTORE = "Restore the run from a copy; its other files may still be good."


def build(_: Surroundings) -> "FolderStore":
    """Make the store."""
    return FolderStore()


class FolderStore:
    """Keeps runs as folders; implements ``RunStore``. Safe to use from any thread."""

    id = "folder"

    def prepare(self, folder: Path) -> None:
        """Make sure that runs can be kept in a folder, before work is spent on one.

        Raises:
            StoreError: The folder cannot be made or written.
        """
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with _draft_in(folder):
                pass

    def save(self, record: RunRecord, events: Sequence[GenerationEvent], folder: Path) -> RunRecord:
        """Write a run as a folder inside ``folder``; it appears whole or not at all.

        Returns:
            The record with its artifacts, under the name that was free.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        arrays = arrays_of(event for event in events if isinstance(event, StepEvent))
        files = {PICTURE: _picture(events), TRACE: pack_arrays(arrays)}
        files |= _evaluation_files(record.evaluation) if record.evaluation else {}
        kept = replace(
            record,
            trace=with_references(record.trace, arrays, _reference(TRACE, files[TRACE])),
            artifacts=tuple(_reference(name, files[name]) for name in _KINDS if name in files),
        )
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            with _draft_in(folder) as draft:
                for name, content in files.items():
                    write_synced(draft / name, content)
                return _publish(draft, kept, folder)

    def load(self, folder: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
        """Read a run back: the record and the events as they were while it was drawn.

        Raises:
            StoreError: The folder holds no run, or a file of it is damaged.
        """
        record = _read_record(folder)
        files = {
            artifact.path: _read_checked(folder, artifact) for artifact in _all_artifacts(record)
        }
        if PICTURE not in files:
            raise StoreError(f'The run "{folder.name}" has no picture.', hint=_RESTORE)
        if EVALUATION in files:
            record = replace(record, evaluation=_read_evaluation(files))
        arrays = unpack_arrays(files[TRACE], TRACE) if TRACE in files else {}
        try:
            return record, events_of(record, arrays, PillowImages().read(folder / PICTURE))
        except KeyError as error:
            raise StoreError(f"The trace has no {error}.", hint=_RESTORE) from error


def _picture(events: Sequence[GenerationEvent]) -> bytes:
    (finished,) = (event for event in events if isinstance(event, GenerationFinished))
    return png_bytes(finished.image)


def _evaluation_files(evaluation: Evaluation) -> dict[str, bytes]:
    shelf: dict[str, AnyArray] = {}
    plain = encode(evaluation, shelf)
    return {EVALUATION: _json_bytes(plain), PERCEPTION: pack_arrays(shelf)}


def _reference(name: str, content: bytes) -> ArtifactRef:
    digest = sha256(content).hexdigest()
    return ArtifactRef(kind=_KINDS.get(name, ""), path=name, sha256=digest, bytes=len(content))


@contextmanager
def _draft_in(folder: Path) -> Iterator[Path]:
    draft = folder / f".{uuid4().hex}.part"
    draft.mkdir()
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _publish(draft: Path, record: RunRecord, folder: Path) -> RunRecord:
    """Give the draft its record and the first free name like the record's id."""
    for name in chain([record.id], (f"{record.id}_{number}" for number in count(2))):
        if (folder / name).exists():
            continue
        named = replace(record, id=RunId(name))
        plain = encode(replace(named, evaluation=None), {})
        (draft / RECORD).unlink(missing_ok=True)
        write_synced(draft / RECORD, _json_bytes(plain))
        sync_folder(draft)
        try:
            draft.rename(folder / name)
        except OSError:
            if (folder / name).exists():  # another program took the name in this moment
                continue
            raise
        sync_folder(folder)
        return named
    raise AssertionError("There is always a free number.")


def _json_bytes(plain: Json) -> bytes:
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode("utf-8", "surrogatepass")


def _read_record(folder: Path) -> RunRecord:
    plain = _parse(_read_bytes(folder / RECORD), RECORD)
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(
            f'The run "{folder.name}" was written by a newer Spatial Studio.',
            hint="Update Spatial Studio to open it.",
        )
    return decode(RunRecord, plain, {})


def _read_evaluation(files: Mapping[str, bytes]) -> Evaluation:
    if PERCEPTION not in files:
        raise StoreError("The evaluation has no masks.", hint=_RESTORE)
    shelf = unpack_arrays(files[PERCEPTION], PERCEPTION)
    return decode(Evaluation, _parse(files[EVALUATION], EVALUATION), shelf)


def _parse(content: bytes, name: str) -> Json:
    try:
        plain: Json = json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f'The file "{name}" is damaged.', hint=_RESTORE) from error
    return plain


def _all_artifacts(record: RunRecord) -> set[ArtifactRef]:
    steps = chain.from_iterable((step.attention, step.preview) for step in record.trace)
    named = {replace(artifact, kind="") for artifact in steps if artifact is not None}
    return named | set(record.artifacts)


def _read_checked(folder: Path, artifact: ArtifactRef) -> bytes:
    if Path(artifact.path).name != artifact.path:
        raise StoreError(
            f'The run "{folder.name}" names a file outside its folder.',
            hint="Do not open runs from people whom you do not trust.",
        )
    content = _read_bytes(folder / artifact.path)
    if sha256(content).hexdigest() != artifact.sha256:
        raise StoreError(
            f'The file "{artifact.path}" of the run "{folder.name}" is damaged.', hint=_RESTORE
        )
    return content


def _read_bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreError(
            f'The folder "{path.parent}" holds no complete run: there is no {path.name}.',
            hint=f"Choose a folder that holds {RECORD} and the files beside it.",
        ) from error
    except OSError as error:
        raise StoreError(
            f'The file "{path}" cannot be read: {error.strerror or error}.',
            hint="Check that you may read it and that the disk is there.",
        ) from error
