"""Reads runs of version 1: one folder of plain files a run. They are no longer written.

picture.png       the finished picture
run.json          the record: request, steps, environment, hashes of the other files
trace.npz         attention maps and previews of every captured step
evaluation.json   verdicts and what they rest on, when the picture was judged
perception.npz    masks and depth of the evaluation
"""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.stores.array_file import unpack_arrays
from spatialstudio.adapters.stores.arrival import TRACE_ENDING
from spatialstudio.adapters.stores.json_codec import decode
from spatialstudio.adapters.stores.json_text import RESTORE_HINT, parse_json
from spatialstudio.adapters.stores.trace import events_of
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationEvent
from spatialstudio.domain.record import SCHEMA_VERSION, ArtifactRef, RunRecord
from spatialstudio.domain.verdict import Evaluation

PICTURE = "picture.png"
RECORD = "run.json"
TRACE = "trace.npz"
EVALUATION = "evaluation.json"
PERCEPTION = "perception.npz"

_BESIDE = (PICTURE, TRACE, EVALUATION, PERCEPTION)
_FILES = frozenset({RECORD, *_BESIDE})
_PREVIEW = "/preview"


def is_run_folder(path: Path) -> bool:
    """Say whether a folder holds a run of version 1: its record, and a file that goes with it."""
    return any((path / name).is_file() for name in _BESIDE) and _tells_version(path / RECORD)


def run_folder_of(path: Path) -> Path | None:
    """Return the run of version 1 that a folder, or one of its files, belongs to; None for none.

    A file that has a trace of its own name belongs to that.
    """
    if is_run_folder(path):
        return path
    is_mine = path.name in _FILES and not path.with_suffix(TRACE_ENDING).exists()
    return path.parent if is_mine and is_run_folder(path.parent) else None


def _tells_version(record: Path) -> bool:
    try:
        plain = parse_json(record.read_bytes(), RECORD)
    except (OSError, StoreError):
        return False
    return isinstance(plain, dict) and "schema_version" in plain


def load_run_folder(folder: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
    """Read a run: the record and the events as they were while it was drawn.

    Raises:
        StoreError: The folder holds no run, or a file of it is damaged.
    """
    record = _read_record(folder)
    files = {artifact.path: _read_checked(folder, artifact) for artifact in _artifacts(record)}
    if PICTURE not in files:
        raise StoreError(f'The run "{folder.name}" has no picture.', hint=RESTORE_HINT)
    if EVALUATION in files:
        record = replace(record, evaluation=_read_evaluation(files))
    arrays = unpack_arrays(files[TRACE], TRACE) if TRACE in files else {}
    previews = {
        int(name.removesuffix(_PREVIEW)): array
        for name, array in arrays.items()
        if name.endswith(_PREVIEW)
    }
    maps = {name: array for name, array in arrays.items() if not name.endswith(_PREVIEW)}
    try:
        return record, events_of(record, maps, previews, PillowImages().read(folder / PICTURE))
    except KeyError as error:
        raise StoreError(f"The trace has no {error}.", hint=RESTORE_HINT) from error


def _read_record(folder: Path) -> RunRecord:
    plain = parse_json(_read_bytes(folder / RECORD), RECORD)
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(
            f'The run "{folder.name}" was written by a newer Spatial Studio.',
            hint="Update Spatial Studio to open it.",
        )
    return decode(RunRecord, plain, {})


def _read_evaluation(files: Mapping[str, bytes]) -> Evaluation:
    if PERCEPTION not in files:
        raise StoreError("The evaluation has no masks.", hint=RESTORE_HINT)
    shelf = unpack_arrays(files[PERCEPTION], PERCEPTION)
    return decode(Evaluation, parse_json(files[EVALUATION], EVALUATION), shelf)


def _artifacts(record: RunRecord) -> set[ArtifactRef]:
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
            f'The file "{artifact.path}" of the run "{folder.name}" is damaged.', hint=RESTORE_HINT
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
