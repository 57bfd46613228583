"""Conversion of the events of a finished run to its trace file and back.

The numbers of a step are in its summary, in the record, under the event's field names. Its maps are
arrays named "step/what", with a different "what" after the updates; its previews are keyed by step.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from io import BytesIO
from math import ceil, sqrt
from zipfile import ZipFile, ZipInfo

import numpy as np
from PIL import Image

from spatialstudio.adapters.images import UNREADABLE, bounded_image
from spatialstudio.adapters.storage.stores.json_codec import (
    COPY_HINT,
    AnyArray,
    Json,
    json_bytes,
    pack_arrays,
    parse_json,
    unpack_arrays,
)
from spatialstudio.adapters.zip_archive import (
    BROKEN,
    ArchiveLimits,
    ArchiveTooLarge,
    open_archive,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionFile, AttentionSnapshot
from spatialstudio.domain.errors import ImageError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationStarted,
    StepEvent,
)
from spatialstudio.domain.library import (
    ArtifactRef,
    RunRecord,
    StepSummary,
)
from spatialstudio.domain.safe_files import MEBIBYTE
from spatialstudio.domain.scene import MentionId

_MAP = "attention/"
_MAP_AFTER = "attention_after/"
_LAYERS = "layers"
_MAP_AXES = 2
_SUMMARY_NUMBERS = tuple(
    f.name for f in fields(StepSummary) if f.name not in {"attention", "preview"}
)


def maps_of(steps: Iterable[StepEvent]) -> dict[str, AnyArray]:
    """Return the attention maps of a run's steps, and the names of their layers."""
    arrays: dict[str, AnyArray] = {}
    for event in steps:
        if event.attention is not None:
            arrays[_layers(event.step)] = np.array(event.attention.layers, dtype=np.str_)
        for kind, snapshot in ((_MAP, event.attention), (_MAP_AFTER, event.attention_after)):
            for mention_id, weights in snapshot.maps.items() if snapshot is not None else ():
                arrays[f"{event.step}/{kind}{mention_id}"] = weights
    return arrays


def previews_of(steps: Iterable[StepEvent]) -> dict[int, RgbImage]:
    """Return the previews of a run's steps."""
    return {event.step: event.preview for event in steps if event.preview is not None}


def with_references(
    trace: Iterable[StepSummary],
    maps: Mapping[str, AnyArray],
    maps_file: ArtifactRef,
    preview_files: Mapping[int, ArtifactRef],
) -> tuple[StepSummary, ...]:
    """Return the step summaries with references to their stored arrays.

    Args:
        trace: The step summaries.
        maps: The result of ``maps_of``.
        maps_file: The artifact that holds the maps.
        preview_files: The artifacts that hold the previews, by step.
    """
    return tuple(
        replace(
            summary,
            attention=maps_file if _layers(summary.step) in maps else None,
            preview=preview_files.get(summary.step),
        )
        for summary in trace
    )


def events_of(
    record: RunRecord,
    maps: Mapping[str, AnyArray],
    previews: Mapping[int, RgbImage],
    image: RgbImage,
) -> tuple[GenerationEvent, ...]:
    """Reconstruct the events that the run emitted during generation.

    Args:
        record: The run.
        maps: The result of ``maps_of``.
        previews: (H, W, 3) by step.
        image: (H, W, 3) the finished picture.

    Raises:
        KeyError: A step names an array that does not exist.
        StoreError: An array is not a map, or the record of the layers is damaged.
    """
    request_id = record.request.id
    started = GenerationStarted(
        request_id=request_id,
        total_steps=len(record.trace),
        token_spans=record.token_spans,
        device=record.environment.device,
        attention_files=_each_once(record.attention_files),
        self_attention_files=_self_attention_files(record),
        memory=record.memory,
        text_layers=record.text_layers,
    )
    finished = GenerationFinished(
        request_id=request_id,
        image=image,
        seconds=record.seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        candidates=record.candidates,
        setup=record.environment.setup,
    )
    by_step = _grouped(maps)
    steps = (
        StepEvent(
            request_id=request_id,
            total_steps=len(record.trace),
            attention=_snapshot(by_step[summary.step], _MAP) if summary.attention else None,
            attention_after=_after(by_step[summary.step]) if summary.attention else None,
            preview=previews[summary.step] if summary.preview else None,
            **{name: getattr(summary, name) for name in _SUMMARY_NUMBERS},
        )
        for summary in record.trace
    )
    return (started, *steps, finished)


def _self_attention_files(record: RunRecord) -> tuple[AttentionFile, ...]:
    if not all(file.is_of_places for file in record.self_attention_files):
        raise StoreError("The self-attention of this run is damaged.", hint=COPY_HINT)
    return _each_once(record.self_attention_files)


def _each_once(files: tuple[AttentionFile, ...]) -> tuple[AttentionFile, ...]:
    """Return the files of recorded layers; a layer has at most one at each moment."""
    counts = Counter((file.layer, bool(file.steps_before)) for file in files)
    for (layer, _), count in counts.items():
        if count > 1:
            message = f'The record of this run lists the layer "{layer}" twice.'
            raise StoreError(message, hint=COPY_HINT)
    return files


def _grouped(maps: Mapping[str, AnyArray]) -> dict[int, dict[str, AnyArray]]:
    """Group the arrays by step."""
    by_step: dict[int, dict[str, AnyArray]] = {}
    for name, array in maps.items():
        step, _, rest = name.partition("/")
        if step.isdecimal():
            by_step.setdefault(int(step), {})[rest] = array
    return by_step


def _after(arrays: Mapping[str, AnyArray]) -> AttentionSnapshot | None:
    """Return a step's attention after its updates; None if not stored, as in version 2."""
    has_after = any(name.startswith(_MAP_AFTER) for name in arrays)
    return _snapshot(arrays, _MAP_AFTER) if has_after else None


def _snapshot(arrays: Mapping[str, AnyArray], kind: str) -> AttentionSnapshot:
    maps = {
        MentionId(name.removeprefix(kind)): weights
        for name, weights in arrays.items()
        if name.startswith(kind)
    }
    if any(weights.ndim != _MAP_AXES or weights.dtype.kind != "f" for weights in maps.values()):
        raise StoreError("A map in the trace is damaged.", hint=COPY_HINT)
    return AttentionSnapshot(maps=maps, layers=tuple(map(str, arrays[_LAYERS])))


def _layers(step: int) -> str:
    return f"{step}/{_LAYERS}"


FORMAT = "spatialstudio-trace"
VERSION = 3
BUDGET_BYTES = 2_000_000
MAPS_BYTES = 800_000
PREVIEWS_BYTES = 800_000
PICTURE_BYTES = 300_000

RECORD = "run.json"
MAPS = "maps.npz"
PICTURE = "picture.webp"
FORMAT_MEMBER = "format.json"
LARGEST_FILE_BYTES = 32 * MEBIBYTE
LARGEST_BYTES = 48 * MEBIBYTE
"""Limit for all members, unpacked."""
MOST_MEMBERS = 2000
LARGEST_MAPS_BYTES = 64 * MEBIBYTE
"""Limit for all maps, as float32."""
DECODED_PIXELS = 64_000_000
"""Limit for all previews of a trace; a trace with more is rejected."""
KEPT_PIXELS = 24_000_000
"""Limit for all previews in memory; beyond it all are downscaled by the same factor."""

LOSSLESS = 100
PREVIEW_QUALITIES = (LOSSLESS, 85, 60, 30)
EFFORT = 2
"""Effort level of the WebP encoder, 0 to 6."""

_PREVIEW_NAME = re.compile(r"previews/(\d{4,9})\.webp")
_PEAK = "/peak"
_LEVELS = 255
_FLOAT_BYTES = 4
_NUMBERS = frozenset("fiub")
"""Numeric dtype kinds of NumPy."""
_NUMBERS_AND_NAMES = _NUMBERS | {"U"}
_LIMITS = ArchiveLimits(
    members=MOST_MEMBERS, member_bytes=LARGEST_FILE_BYTES, total_bytes=LARGEST_BYTES
)
_EARLIEST = (1980, 1, 1, 0, 0, 0)


@frozen(eq=False)
class TraceContent:
    """The content of a trace file.

    Attributes:
        maps: Arrays by name: float32 maps, texts of the layers' names.
        previews: (H, W, 3) by step.
        picture: Decodes (H, W, 3) the finished picture; raises StoreError.
    """

    maps: Mapping[str, AnyArray]
    previews: Mapping[int, RgbImage]
    picture: Callable[[], RgbImage]


@frozen
class PackedArrays:
    """The members of a trace file that hold arrays.

    Attributes:
        members: Name to bytes.
        precision: Precision of the packed maps and previews.
    """

    members: Mapping[str, bytes]
    precision: Mapping[str, Json]


def preview_member(step: int) -> str:
    """Return the member name of a step's preview."""
    return f"previews/{step:04}.webp"


def pack_trace_arrays(content: TraceContent) -> PackedArrays:
    """Pack maps and previews at the highest precision that fits the budget."""
    maps, kind = _packed_maps(content.maps)
    previews, quality = _packed_previews(content.previews)
    picture = content.picture()
    packed_picture = next(
        data
        for allowed in PREVIEW_QUALITIES
        if len(data := _webp(picture, allowed)) <= PICTURE_BYTES or allowed == PREVIEW_QUALITIES[-1]
    )
    return PackedArrays(
        members={MAPS: maps, **previews, PICTURE: packed_picture},
        precision={"maps": kind, "preview_quality": quality},
    )


def write_trace(record: Json, packed: PackedArrays) -> bytes:
    """Return the bytes of a trace file; equal runs give equal bytes.

    Args:
        record: The run's record as plain JSON.
        packed: Its arrays.
    """
    head: Json = {"format": FORMAT, "version": VERSION, "precision": dict(packed.precision)}
    members = {FORMAT_MEMBER: json_bytes(head), RECORD: json_bytes(record), **packed.members}
    buffer = BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            compression = 8 if name.endswith(".json") else 0
            archive.writestr(ZipInfo(name, _EARLIEST), data, compress_type=compression)
    return buffer.getvalue()


def read_members(content: bytes, name: str) -> dict[str, bytes]:
    """Return all members of a trace file after checking their checksums.

    Args:
        content: Content of the file.
        name: File name for messages.

    Raises:
        StoreError: It is not a trace, damaged, or from a newer version.
    """
    if len(content) > LARGEST_FILE_BYTES:
        raise _too_large(name)
    try:
        with open_archive(content, _LIMITS) as archive:
            members = {member.filename: archive.read(member) for member in archive.infolist()}
    except ArchiveTooLarge as error:
        raise _too_large(name) from error
    except BROKEN as error:
        raise StoreError(f'The trace "{name}" is damaged.', hint=COPY_HINT) from error
    head = parse_json(members.get(FORMAT_MEMBER, b""), name)
    if not isinstance(head, dict) or head.get("format") != FORMAT:
        raise StoreError(f'The file "{name}" is not a trace.', hint="Choose another file.")
    version = head.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise StoreError(
            f'The trace "{name}" was written by a newer Spatial Studio.',
            hint="Update Spatial Studio to open it.",
        )
    return members


def unpack_trace_arrays(members: Mapping[str, bytes], name: str) -> TraceContent:
    """Unpack maps and previews from a trace file's members.

    Raises:
        StoreError: A member is damaged.
    """
    is_there = MAPS in members
    packed = unpack_arrays(members[MAPS], MAPS, LARGEST_MAPS_BYTES) if is_there else {}
    steps = {
        int(step[1]): data
        for member, data in sorted(members.items())
        if (step := _PREVIEW_NAME.fullmatch(member))
    }
    picture = members.get(PICTURE, b"")
    _check_header(picture, name)
    return TraceContent(
        maps=_unpacked_maps(packed, name),
        previews=_read_previews(steps, name),
        picture=partial(_read_webp, picture, name),
    )


def _packed_maps(maps: Mapping[str, AnyArray]) -> tuple[bytes, str]:
    coarsest = tuple(_COARSENINGS)[-1]
    for kind, coarsen in _COARSENINGS.items():
        packed = pack_arrays(dict(_coarse(maps, coarsen)))
        if len(packed) <= MAPS_BYTES or kind == coarsest:
            return packed, kind
    raise AssertionError("There is a coarsest way.")


def _coarse(
    maps: Mapping[str, AnyArray], coarsen: Callable[[AnyArray], AnyArray] | None
) -> Iterator[tuple[str, AnyArray]]:
    for name, array in maps.items():
        peak = array.max(initial=0) if array.dtype == np.float32 else 0
        if coarsen is None or not 0 < peak < np.inf:
            yield name, array
            continue
        yield name, coarsen(array / peak)
        yield name + _PEAK, np.array(peak, np.float32)


def _to_bytes(shares: AnyArray) -> AnyArray:
    levels: AnyArray = np.rint(np.sqrt(shares) * _LEVELS).astype(np.uint8)
    return levels


_COARSENINGS: Mapping[str, Callable[[AnyArray], AnyArray] | None] = {
    "float32": None,
    "float16": lambda shares: shares.astype(np.float16),
    "byte": _to_bytes,
}


def _unpacked_maps(packed: Mapping[str, AnyArray], name: str) -> dict[str, AnyArray]:
    """Return maps as float32.

    Raises:
        StoreError: They are not maps, or too large to open safely.
    """
    maps = {key: array for key, array in packed.items() if not key.endswith(_PEAK)}
    if sum(array.size for array in maps.values()) * _FLOAT_BYTES > LARGEST_MAPS_BYTES:
        raise _too_large(name)
    return {key: _unpacked_map(array, packed.get(key + _PEAK)) for key, array in maps.items()}


def _unpacked_map(array: AnyArray, peak: AnyArray | None) -> AnyArray:
    if array.dtype.kind not in (_NUMBERS if peak is not None else _NUMBERS_AND_NAMES):
        raise StoreError("A map in the trace is damaged.", hint=COPY_HINT)
    if peak is None:
        return array
    if peak.shape or peak.dtype.kind not in _NUMBERS:
        raise StoreError("A map in the trace is damaged.", hint=COPY_HINT)
    shares = array.astype(np.float32)
    if array.dtype == np.uint8:
        shares /= np.float32(_LEVELS)
        np.square(shares, out=shares)
    shares *= np.float32(peak)
    return shares


def _read_previews(steps: Mapping[int, bytes], name: str) -> dict[int, RgbImage]:
    """Decode the previews of a trace, downscaled if they would take too much memory together."""
    pixels = sum(_pixels_of(data, name) for data in steps.values())
    if pixels > DECODED_PIXELS:
        raise _too_large(name)
    factor = ceil(sqrt(pixels / KEPT_PIXELS)) if pixels > KEPT_PIXELS else 1
    return {step: _read_webp(data, name, factor) for step, data in steps.items()}


def _packed_previews(previews: Mapping[int, RgbImage]) -> tuple[dict[str, bytes], int]:
    lowest = PREVIEW_QUALITIES[-1]
    for quality in PREVIEW_QUALITIES:
        members: dict[str, bytes] = {}
        left = PREVIEWS_BYTES
        for step, preview in previews.items():
            members[preview_member(step)] = _webp(preview, quality)
            left -= len(members[preview_member(step)])
            if left < 0 and quality != lowest:
                break
        else:
            return members, quality
    raise AssertionError("There is a lowest quality.")


def _webp(image: RgbImage, quality: int) -> bytes:
    buffer = BytesIO()
    lossless = quality == LOSSLESS
    Image.fromarray(image).save(
        buffer, "WEBP", lossless=lossless, quality=0 if lossless else quality, method=EFFORT
    )
    return buffer.getvalue()


def _read_webp(data: bytes, name: str, factor: int = 1) -> RgbImage:
    """Decode a picture, reduced by a whole factor."""
    with _open_webp(data, name) as image:
        smaller = image if factor == 1 else image.reduce(factor)
        pixels: RgbImage = np.array(smaller.convert("RGB"))
        return pixels


def _pixels_of(data: bytes, name: str) -> int:
    """Return the number of pixels of a picture from its header."""
    with _open_webp(data, name) as image:
        return image.width * image.height


@contextmanager
def _open_webp(data: bytes, name: str) -> Iterator[Image.Image]:
    """Open a picture of the trace, with its faults as ``StoreError``."""
    try:
        with bounded_image(BytesIO(data), name, ("WEBP",)) as image:
            yield image
    except ImageError as error:
        raise _too_large(name) from error
    except UNREADABLE as error:
        raise _damaged_picture(name) from error


def _check_header(data: bytes, name: str) -> None:
    """Check a picture's header early, before its pixels are needed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about its size, which is checked when it is decoded
            Image.open(BytesIO(data), formats=("WEBP",)).close()
    except UNREADABLE as error:
        raise _damaged_picture(name) from error


def _damaged_picture(name: str) -> StoreError:
    return StoreError(f'A picture in the trace "{name}" is damaged.', hint=COPY_HINT)


def _too_large(name: str) -> StoreError:
    return StoreError(f'The trace "{name}" is too large to open safely.', hint=COPY_HINT)
