"""Verification of the parts of a run against their hashes."""

from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from os.path import lexists
from pathlib import Path
from typing import TypeVar

import numpy as np

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.metadata.picture_texts import (
    PARAMETERS,
    XMP,
    picture_bytes,
    read_texts,
)
from spatialstudio.adapters.storage.metadata.reader import settings_in
from spatialstudio.adapters.storage.stores.atomic_write import SIDECAR_ENDING, TRACE_ENDING
from spatialstudio.adapters.storage.stores.json_codec import (
    RESTORE_HINT,
    Json,
    decode,
    encode,
    parse_json,
)
from spatialstudio.adapters.storage.stores.picture_record import (
    VERSION,
    PictureRecord,
    read_picture_record,
    record_texts,
    recorded_verdicts,
)
from spatialstudio.adapters.storage.stores.sidecar import (
    EVALUATION,
    MAX_SIDECAR_BYTES,
    REPETITION,
    Sidecar,
    evaluation_hash,
    read_sidecar,
    repetition_hash,
    summarise,
)
from spatialstudio.adapters.storage.stores.trace import (
    RECORD,
    TraceContent,
    read_members,
    unpack_trace_arrays,
)
from spatialstudio.domain.arrays import hash_of_picture
from spatialstudio.domain.errors import StoreError, StudioError
from spatialstudio.domain.library import (
    Environment,
    Fault,
    Reproduction,
    RunRecord,
)
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    is_regular,
    read_regular,
)

OTHER_CHECKS = ("verdicts", "hashes")
"""Fields that are compared with their own files instead."""

_TEXTS = {PARAMETERS: "parameters", XMP: "XMP"}
_NO_PICTURE = np.zeros((1, 1, 3), np.uint8)


def differing_fields(
    picture_record: PictureRecord,
    texts: Mapping[str, str],
    record: RunRecord,
    size: tuple[int, int],
) -> tuple[str, ...]:
    """Return the fields in which a picture's record differs from its run, as "environment.device".

    For a record of an earlier version, only the request is compared.

    Args:
        picture_record: The picture's record.
        texts: All texts of the picture's file, by name.
        record: The run.
        size: Height and width of the picture, pixels.

    Raises:
        StoreError: The recorded environment is damaged.
    """
    if picture_record.plain.get("version") != VERSION:
        return tuple(
            _unlike(encode(picture_record.request, {}), encode(record.request, {}), "request")
        )
    verdicts = picture_record.verdicts if isinstance(picture_record.verdicts, dict) else {}
    due = record_texts(record, verdicts, size, is_marked=record.is_marked)
    due_texts = read_texts(picture_bytes(_NO_PICTURE, "PNG", due))
    return (
        *_unlike(_comparable(picture_record), _comparable(read_picture_record(due.record)), ""),
        *(name for key, name in _TEXTS.items() if texts.get(key) != due_texts[key]),
    )


def _comparable(picture_record: PictureRecord) -> Json:
    """Return the fields to compare; fields missing in older records get their default."""
    environment = decode(Environment, picture_record.plain.get("environment"), {})
    whole = {
        **picture_record.plain,
        "request": encode(picture_record.request, {}),
        "environment": encode(environment, {}),
    }
    return {name: value for name, value in whole.items() if name not in OTHER_CHECKS}


def _unlike(picture_record: Json, due: Json, path: str) -> Iterator[str]:
    """Yield the paths of all leaves that differ."""
    ours, theirs = dict(_leaves(picture_record, path)), dict(_leaves(due, path))
    for place in {**theirs, **ours}:
        if place not in ours or place not in theirs or ours[place] != theirs[place]:
            yield place


def _leaves(plain: Json, path: str) -> Iterator[tuple[str, Json]]:
    if not plain or not isinstance(plain, dict | list):
        yield path, plain
    elif isinstance(plain, dict):
        for name, value in plain.items():
            yield from _leaves(value, f"{path}.{name}" if path else name)
    else:
        for number, value in enumerate(plain):
            yield from _leaves(value, f"{path}.{number}")


T = TypeVar("T")

TRACE = "trace"
"""Part whose hash is in the picture's record, besides those of the sidecar."""

MAX_PICTURE_BYTES = 128 * MEBIBYTE
MAX_PART_BYTES = {TRACE_ENDING: 64 * MEBIBYTE, SIDECAR_ENDING: MAX_SIDECAR_BYTES}
"""Size limits for the files of a run by extension; ``MAX_PICTURE_BYTES`` for others."""


def read_trace(picture: Path) -> tuple[RunRecord, TraceContent]:
    """Read the trace of a picture and check every member.

    Raises:
        StoreError: It is missing or damaged.
    """
    record, members = _read_members(picture)
    return record, unpack_trace_arrays(members, picture.with_suffix(TRACE_ENDING).name)


def read_record(picture: Path) -> RunRecord:
    """Read only the record, without its evaluation.

    Raises:
        StoreError: The trace is missing or damaged.
    """
    record, _ = _read_members(picture)
    return record


def read_part(path: Path, max_bytes: int | None = None) -> bytes:
    """Read a file of a run.

    Args:
        path: The file.
        max_bytes: The largest size that is read; None for the default of its extension.

    Raises:
        StoreError: It is missing, cannot be read, or is too large.
    """
    if max_bytes is None:
        max_bytes = MAX_PART_BYTES.get(path.suffix, MAX_PICTURE_BYTES)
    try:
        return read_regular(path, max_bytes)
    except FileTooLarge as error:
        raise StoreError(
            f'The file "{path}" is too large to open safely.', hint=RESTORE_HINT
        ) from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise StoreError(
            f'The run is incomplete: "{path}" is missing.',
            hint=(
                "Choose a picture in the same folder as its trace, or a folder that "
                "contains a complete run."
            ),
        ) from error
    except OSError as error:
        raise StoreError(
            f'The file "{path}" cannot be read: {error.strerror or error}.',
            hint="Check your read permission and that the drive is connected.",
        ) from error


def verify_run(picture: Path) -> tuple[Fault, ...]:
    """Check picture, trace, evaluation and metadata of a run; empty if all match.

    An unreadable part is reported once; the others are compared with the parts that can be read.
    """
    parts = _Parts(picture)
    checks = {
        "picture": parts.check_picture,
        "trace": parts.check_trace,
        "evaluation": parts.check_evaluation,
        "metadata": parts.check_metadata,
    }
    return (*parts.faults, *faults_of(checks))


def faults_of(checks: Mapping[str, Callable[[], object]]) -> Iterator[Fault]:
    """Run every check and yield the faults."""
    for part, check in checks.items():
        try:
            check()
        except StudioError as error:
            yield Fault(part=part, message=error.message)


class _Parts:
    """The parts of a run, each read once; None if missing or damaged."""

    def __init__(self, picture: Path) -> None:
        self.faults: list[Fault] = []
        self._picture = picture
        self._sidecar_path = picture.with_suffix(SIDECAR_ENDING)
        self._record = self._read("trace", lambda: read_trace(picture)[0])
        self._image = self._read("picture", lambda: PillowImages().read(picture))
        self._content = self._read("evaluation", self._read_sidecar)
        self._sidecar = self._read("evaluation", self._parsed)
        self._picture_record = None
        if self._image is not None:
            self._picture_record = self._read("metadata", lambda: picture_record_of(picture))

    def check_picture(self) -> None:
        """Check that the pixels match the hash of the generated picture."""
        if self._record is None or self._image is None:
            return
        hashes = {artifact.sha256 for artifact in self._record.artifacts}
        _require(
            not hashes or hash_of_picture(self._image) in hashes,
            f'The picture "{self._picture.name}" has been modified or replaced.',
        )

    def check_trace(self) -> None:
        """Check that an undamaged trace is the one of this picture."""
        if self._record is None or self._picture_record is None:
            return
        digest = trace_hash(self._picture)
        _require(
            self._picture_record.hashes.get(TRACE, digest) == digest,
            f'The trace of "{self._picture.name}" has been modified.',
        )

    def check_evaluation(self) -> None:
        """Check that the evaluation belongs to this picture and matches its hash."""
        if self._content is None or self._sidecar is None:
            return
        name, evaluation = self._sidecar_path.name, self._sidecar.evaluation
        if evaluation is not None and self._image is not None:
            _require(
                evaluation.perception.image_sha256 == hash_of_picture(self._image),
                f'The evaluation "{name}" belongs to another picture.',
            )
        if self._picture_record is not None:
            digest = evaluation_hash(self._content, name)
            is_same = self._picture_record.hashes.get(EVALUATION, digest) == digest
            _require(
                is_same and self._picture_record.verdicts == recorded_verdicts(evaluation),
                f'The evaluation "{name}" does not match the hash in the picture\'s metadata.',
            )
            _require(
                is_stated(self._picture_record, self._sidecar.repetition),
                (f'The comparison in "{name}" does not match the hash in the picture\'s metadata.'),
            )
        self._check_summary(self._sidecar)

    def check_metadata(self) -> None:
        """Check that the picture's metadata matches its trace."""
        if self._record is None or self._picture_record is None or self._image is None:
            return
        height, width, _ = self._image.shape
        texts = read_texts(read_part(self._picture))
        fields = differing_fields(self._picture_record, texts, self._record, (height, width))
        _require(
            not fields,
            f'The metadata of the picture "{self._picture.name}" differs from its trace: '
            f"{', '.join(fields)}.",
        )

    def _check_summary(self, sidecar: Sidecar) -> None:
        """Check that the summary, by which the run is listed and found, matches the run."""
        if self._record is None or self._image is None:
            return
        height, width, _ = self._image.shape
        due = summarise(self._record, sidecar.evaluation, (height, width))
        _require(
            encode(sidecar.summary, {}) == encode(due, {}),
            f'The summary in "{self._sidecar_path.name}" does not match the run.',
        )

    def _read_sidecar(self) -> bytes:
        if not lexists(self._sidecar_path):
            raise StoreError(f'The evaluation "{self._sidecar_path.name}" is missing.')
        return read_part(self._sidecar_path)

    def _parsed(self) -> Sidecar | None:
        return (
            None if self._content is None else read_sidecar(self._content, self._sidecar_path.name)
        )

    def _read(self, part: str, read: Callable[[], T]) -> T | None:
        try:
            return read()
        except StudioError as error:
            self.faults.append(Fault(part=part, message=error.message))
            return None


def trace_hash(picture: Path) -> str:
    """Return the hash of a picture's trace file.

    Raises:
        StoreError: It is missing or cannot be read.
    """
    return sha256(read_part(picture.with_suffix(TRACE_ENDING))).hexdigest()


def is_stated(picture_record: PictureRecord, repetition: Reproduction | None) -> bool:
    """Return True if a picture confirms a comparison; older records have no hash of it."""
    digest = repetition_hash(repetition)
    return picture_record.hashes.get(REPETITION, digest) == digest


def proven_repetition(picture: Path, repetition: Reproduction | None) -> Reproduction | None:
    """Return the comparison from a sidecar if the picture confirms it."""
    if repetition is None:
        return None
    try:
        return repetition if is_stated(picture_record_of(picture), repetition) else None
    except StudioError:
        return None


def _require(is_so: bool, complaint: str) -> None:
    if not is_so:
        raise StoreError(complaint)


def picture_record_of(picture: Path) -> PictureRecord:
    """Read the record in a picture.

    Raises:
        StoreError: It is missing, has no record, or its record is damaged.
        ImageError: It is not a picture.
    """
    settings = settings_in(read_part(picture))
    if settings is None or not settings.record:
        raise StoreError(f'The picture "{picture.name}" contains no generation metadata.')
    return read_picture_record(settings.record)


def _read_members(picture: Path) -> tuple[RunRecord, Mapping[str, bytes]]:
    path = picture.with_suffix(TRACE_ENDING)
    if not is_regular(picture) and not is_regular(path):
        raise StoreError(
            f'There is no file "{picture}".', hint=("Choose the picture file of a run.")
        )
    members = read_members(read_part(path), path.name)
    record = decode(RunRecord, parse_json(members.get(RECORD, b""), RECORD), {})
    steps = (ref for step in record.trace for ref in (step.attention, step.preview))
    for name, digest in {(ref.path, ref.sha256) for ref in steps if ref is not None}:
        if sha256(members.get(name, b"")).hexdigest() != digest:
            raise StoreError(f'"{name}" in the trace "{path.name}" is damaged.', hint=RESTORE_HINT)
    return record, members
