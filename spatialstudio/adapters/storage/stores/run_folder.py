"""Reader of version 1 runs, each a folder of plain files. They are no longer written.

picture.png       the finished picture
run.json          the record: request, steps, environment, hashes of the other files
trace.npz         attention maps and previews of every captured step
evaluation.json   verdicts and their evidence, if the picture was judged
perception.npz    masks and depth of the evaluation
"""

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from pathlib import Path

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.stores.atomic_write import TRACE_ENDING
from spatialstudio.adapters.storage.stores.json_codec import (
    MAX_RECORD_BYTES,
    RESTORE_HINT,
    AnyArray,
    decode,
    parse_json,
    read_json,
    unpack_arrays,
)
from spatialstudio.adapters.storage.stores.trace import events_of
from spatialstudio.adapters.storage.stores.verify_run import read_part
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationEvent
from spatialstudio.domain.library import SCHEMA_VERSION, RunRecord
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    is_path_component,
    is_regular,
)
from spatialstudio.domain.verdict import Evaluation

PICTURE = "picture.png"
RECORD = "run.json"
TRACE = "trace.npz"
EVALUATION = "evaluation.json"
PERCEPTION = "perception.npz"

_PARTS = (PICTURE, TRACE, EVALUATION, PERCEPTION)
_FILES = frozenset({RECORD, *_PARTS})
_PREVIEW = "/preview"
_MOST_DIGITS = 9
_LONGEST_ENDING = "_999999.strace.part"
"""Longest suffix of a file named by a run id, with a number and while it is written."""
MAX_RUN_BYTES = 128 * MEBIBYTE
"""Limit for all files of a run together; version 1 stored maps and previews without a budget."""
_DISTRUST = "Only open runs from sources that you trust."


def is_run_folder(path: Path) -> bool:
    """Return True if a folder holds a run of version 1: its record and one of its other files."""
    return any(is_regular(path / name) for name in _PARTS) and _tells_version(path / RECORD)


def run_folder_of(path: Path) -> Path | None:
    """Return the version 1 run that a folder or one of its files belongs to; None if none.

    A file with a trace of the same name belongs to that run.
    """
    if is_run_folder(path):
        return path
    is_mine = path.name in _FILES and not is_regular(path.with_suffix(TRACE_ENDING))
    return path.parent if is_mine and is_run_folder(path.parent) else None


def _tells_version(record: Path) -> bool:
    try:
        plain = read_json(record)
    except (OSError, StoreError):
        return False
    return isinstance(plain, dict) and "schema_version" in plain


def load_run_folder(folder: Path) -> tuple[RunRecord, tuple[GenerationEvent, ...]]:
    """Load a run: the record and its events as they were during generation.

    Raises:
        StoreError: The folder holds no run, or one of its files is damaged.
    """
    record = _read_record(folder)
    files = _read_files(folder, _hashes(folder, record))
    if PICTURE not in files:
        raise StoreError(f'The run "{folder.name}" has no picture.', hint=RESTORE_HINT)
    if EVALUATION in files:
        record = replace(record, evaluation=_read_evaluation(files))
    arrays = unpack_arrays(files[TRACE], TRACE) if TRACE in files else {}
    previews = _previews_in(arrays)
    maps = {name: array for name, array in arrays.items() if not name.endswith(_PREVIEW)}
    try:
        return record, events_of(record, maps, previews, PillowImages().read(folder / PICTURE))
    except KeyError as error:
        raise StoreError(f"The trace has no {error}.", hint=RESTORE_HINT) from error


def _previews_in(arrays: Mapping[str, AnyArray]) -> dict[int, RgbImage]:
    """Return the previews by step.

    Raises:
        StoreError: A preview belongs to no step or is not a picture.
    """
    previews: dict[int, RgbImage] = {}
    for name, array in arrays.items():
        if not name.endswith(_PREVIEW):
            continue
        step = name.removesuffix(_PREVIEW)
        if not (step.isascii() and step.isdecimal() and len(step) <= _MOST_DIGITS):
            raise StoreError("The previews in the trace are damaged.", hint=RESTORE_HINT)
        previews[int(step)] = array
    return previews


def _read_record(folder: Path) -> RunRecord:
    plain = parse_json(read_part(folder / RECORD, MAX_RECORD_BYTES), RECORD)
    version = plain.get("schema_version") if isinstance(plain, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise StoreError(
            f'The run "{folder.name}" was written by a newer Spatial Studio.',
            hint="Update Spatial Studio to open it.",
        )
    record = decode(RunRecord, plain, {})
    if record.id[:1] in ("", ".") or not is_path_component(f"{record.id}{_LONGEST_ENDING}"):
        raise StoreError(
            f'The run "{folder.name}" is damaged: its id is not a valid file name.', hint=_DISTRUST
        )
    return record


def _read_evaluation(files: Mapping[str, bytes]) -> Evaluation:
    if PERCEPTION not in files:
        raise StoreError("The evaluation has no masks.", hint=RESTORE_HINT)
    arrays = unpack_arrays(files[PERCEPTION], PERCEPTION)
    return decode(Evaluation, parse_json(files[EVALUATION], EVALUATION), arrays)


def _hashes(folder: Path, record: RunRecord) -> dict[str, str]:
    """Return the hash of each file in a run's record, by file name.

    Raises:
        StoreError: A file would be outside the folder, or has two hashes.
    """
    steps = chain.from_iterable((step.attention, step.preview) for step in record.trace)
    hashes: dict[str, str] = {}
    for artifact in chain(record.artifacts, (ref for ref in steps if ref is not None)):
        if not is_path_component(artifact.path):
            raise StoreError(
                f'The run "{folder.name}" refers to a file outside its folder.', hint=_DISTRUST
            )
        if hashes.setdefault(artifact.path, artifact.sha256) != artifact.sha256:
            raise _damaged(folder, artifact.path)
    return hashes


def _read_files(folder: Path, hashes: Mapping[str, str]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    left_bytes = MAX_RUN_BYTES
    for name, digest in hashes.items():
        files[name] = read_part(folder / name, left_bytes)
        left_bytes -= len(files[name])
        if sha256(files[name]).hexdigest() != digest:
            raise _damaged(folder, name)
    return files


def _damaged(folder: Path, name: str) -> StoreError:
    return StoreError(
        f'The file "{name}" of the run "{folder.name}" is damaged.', hint=RESTORE_HINT
    )
