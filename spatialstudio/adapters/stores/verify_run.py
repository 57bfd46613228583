"""Reads the parts of a run from disk and proves them by their hashes."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.metadata.reader import settings_in
from spatialstudio.adapters.stores.arrival import SIDECAR_ENDING, TRACE_ENDING
from spatialstudio.adapters.stores.json_codec import decode
from spatialstudio.adapters.stores.json_text import parse_json
from spatialstudio.adapters.stores.picture_record import request_in
from spatialstudio.adapters.stores.sidecar import read_sidecar
from spatialstudio.adapters.stores.trace_file import (
    RECORD,
    TraceContent,
    read_members,
    unpack_trace_arrays,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import StoreError, StudioError
from spatialstudio.domain.record import Fault, RunRecord

_RESTORE = "Restore the run from a copy; its other files may still be good."


def pixel_hash(image: RgbImage) -> str:
    """Name a picture by its pixels, (H, W, 3) uint8; what else its file holds does not count."""
    return sha256(image.tobytes()).hexdigest()


def read_trace(picture: Path) -> tuple[RunRecord, TraceContent]:
    """Read the trace beside a picture, every member proven.

    Raises:
        StoreError: It is missing or damaged.
    """
    path = picture.with_suffix(TRACE_ENDING)
    members = read_members(read_part(path), path.name)
    return _checked_record(members, path), unpack_trace_arrays(members, path.name)


def read_record(picture: Path) -> RunRecord:
    """Read the record alone, without its evaluation.

    Raises:
        StoreError: The trace is missing or damaged.
    """
    path = picture.with_suffix(TRACE_ENDING)
    return _checked_record(read_members(read_part(path), path.name), path)


def read_part(path: Path) -> bytes:
    """Read a file of a run.

    Raises:
        StoreError: It is missing or cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreError(
            f'There is no complete run: "{path}" is missing.',
            hint="Choose a picture that lies beside its trace.",
        ) from error
    except OSError as error:
        raise StoreError(
            f'The file "{path}" cannot be read: {error.strerror or error}.',
            hint="Check that you may read it and that the disk is there.",
        ) from error


def verify_run(picture: Path) -> tuple[Fault, ...]:
    """Check picture, trace, evaluation and metadata of a run; empty when all is well."""
    checks = {
        "trace": lambda: read_trace(picture),
        "picture": lambda: _check_picture(picture),
        "evaluation": lambda: _check_evaluation(picture),
        "metadata": lambda: _check_metadata(picture),
    }
    return tuple(faults_of(checks))


def faults_of(checks: Mapping[str, Callable[[], object]]) -> Iterator[Fault]:
    """Do every check and yield what it complains of."""
    for part, check in checks.items():
        try:
            check()
        except StudioError as error:
            yield Fault(part=part, message=error.message)


def _checked_record(members: Mapping[str, bytes], path: Path) -> RunRecord:
    record = decode(RunRecord, parse_json(members.get(RECORD, b""), RECORD), {})
    steps = (ref for step in record.trace for ref in (step.attention, step.preview))
    for artifact in {ref for ref in steps if ref is not None}:
        if sha256(members.get(artifact.path, b"")).hexdigest() != artifact.sha256:
            raise StoreError(
                f'"{artifact.path}" in the trace "{path.name}" is damaged.', hint=_RESTORE
            )
    return record


def _check_picture(picture: Path) -> None:
    image = PillowImages().read(picture)
    hashes = {artifact.sha256 for artifact in read_record(picture).artifacts}
    if hashes and pixel_hash(image) not in hashes:
        raise StoreError(f'The picture "{picture.name}" is not the one that was drawn.')


def _check_evaluation(picture: Path) -> None:
    path = picture.with_suffix(SIDECAR_ENDING)
    if not path.exists():
        raise StoreError(f'The file "{path.name}" is missing.')
    evaluation = read_sidecar(read_part(path), path.name).evaluation
    if evaluation is None:
        return
    if evaluation.perception.image_sha256 != pixel_hash(PillowImages().read(picture)):
        raise StoreError(f'The evaluation "{path.name}" is that of another picture.')


def _check_metadata(picture: Path) -> None:
    settings = settings_in(read_part(picture))
    if settings is None or not settings.record:
        raise StoreError(f'The picture "{picture.name}" does not say how it was made.')
    if request_in(settings.record) != read_record(picture).request:
        raise StoreError(f'The picture "{picture.name}" tells of another request.')
