"""File cache of perceptions, one file each, with a size limit and checksums.

A file is a zip of NumPy arrays, whose checksums reveal truncation: ``facts`` is JSON as bytes,
``masks`` are bits packed along the last axis, ``depth`` is float32. It is written through a
temporary file without fsync, since a lost entry can be recomputed. The least recently used files
are deleted first.
"""

import io
import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from spatialstudio.adapters.zip_archive import (
    BROKEN,
    ArchiveLimits,
    open_archive,
    read_array,
)
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Detection,
    Mask,
    Perception,
)
from spatialstudio.domain.write_gate import FILE_GATE

log = logging.getLogger(__name__)

AnyArray: TypeAlias = npt.NDArray[Any]

FOLDER = "perceptions"
SUFFIX = ".npz"
DRAFT_SUFFIX = ".part"
MOST_BYTES = 1_000_000_000
LARGEST_BYTES = 128 * MEBIBYTE
"""Limit per file; masks take eight times their share of it in memory."""
MOST_MASKED_PIXELS = 128 * MEBIBYTE
"""Limit for all masks in a file."""
TORN = (*BROKEN, TypeError)

_BITS = 8
_LIMITS = ArchiveLimits(members=3, member_bytes=LARGEST_BYTES, total_bytes=LARGEST_BYTES)


def build(surroundings: Surroundings) -> "PerceptionFiles | NullPerceptionStore":
    """Create the store in the studio's cache, or a null store if there is no cache."""
    if surroundings.cache is None:
        return NullPerceptionStore()
    return PerceptionFiles(surroundings.cache / FOLDER)


class NullPerceptionStore:
    """A store that keeps nothing; implements ``PerceptionStore``."""

    id = "files"

    def find(self, _key: str) -> Perception | None:
        """Return None."""
        return None

    def keep(self, _key: str, _perception: Perception) -> None:
        """Do nothing."""


class PerceptionFiles:
    """A folder of perceptions; implements ``PerceptionStore``.

    Args:
        folder: Created on the first write.
        most_bytes: Limit on the total size of all files.
    """

    id = "files"

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder = folder
        self._most_bytes = most_bytes

    def find(self, key: str) -> Perception | None:
        """Return a stored perception; a truncated file is deleted."""
        path = self._path(key)
        try:
            perception = _read(read_regular(path, LARGEST_BYTES))
            os.utime(path)
        except FileNotFoundError:
            return None
        except TORN:
            log.info("A cached perception is damaged and was deleted: %s.", path.name)
            with suppress(OSError):
                path.unlink()
            return None
        return perception

    def keep(self, key: str, perception: Perception) -> None:
        """Write a perception, and delete the oldest ones beyond the size limit."""
        try:
            with FILE_GATE.passed():
                self._folder.mkdir(parents=True, exist_ok=True)
                draft = self._folder / f".{uuid4().hex}{DRAFT_SUFFIX}"
                draft.write_bytes(_written(perception))
                draft.replace(self._path(key))
            self._forget_oldest()
        except OSError:
            log.info("A perception could not be cached.", exc_info=True)

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"

    def _forget_oldest(self) -> None:
        with os.scandir(self._folder) as entries:
            files = [(entry.stat(), Path(entry.path)) for entry in entries if entry.is_file()]
        files.sort(key=lambda found: found[0].st_mtime_ns)
        excess = sum(facts.st_size for facts, _ in files) - self._most_bytes
        for facts, path in files:
            if excess <= 0:
                return
            path.unlink(missing_ok=True)
            excess -= facts.st_size


def _written(perception: Perception) -> bytes:
    facts = {
        "image_sha256": perception.image_sha256,
        "size": [perception.height, perception.width],
        "cut": perception.cut,
        "missing_classes": perception.missing_classes,
        "detections": [asdict(detection) for detection in perception.detections],
        "masks": [
            {"mention_id": mask.mention_id, "score": mask.score, "source_id": mask.source_id}
            for mask in perception.masks
        ],
        "depth": perception.depth.estimator_id if perception.depth else None,
    }
    arrays = {
        "facts": np.frombuffer(json.dumps(facts).encode(), np.uint8),
        "masks": np.array([np.packbits(mask.pixels, axis=-1) for mask in perception.masks]),
    }
    if perception.depth is not None:
        arrays["depth"] = perception.depth.values
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _read(content: bytes) -> Perception:
    with open_archive(content, _LIMITS) as archive:
        arrays = {
            name.removesuffix(".npy"): read_array(archive.read(name)) for name in archive.namelist()
        }
    facts = parse_limited(arrays["facts"].tobytes())
    return _perception(facts, _unpacked_masks(facts, arrays.get("masks")), arrays.get("depth"))


def _unpacked_masks(facts: Mapping[str, Any], packed: AnyArray | None) -> list[AnyArray]:
    """Return (H, W) masks, which take eight times their packed size.

    Raises:
        ValueError: Their size differs from the picture's, or they are too large.
    """
    (height, width), count = facts["size"], len(facts["masks"])
    if not count or packed is None:
        return []
    if packed.shape != (count, height, (width + _BITS - 1) // _BITS):
        raise ValueError("The masks and the picture differ in size.")
    if count * height * width > MOST_MASKED_PIXELS:
        raise ValueError("The masks are too large.")
    return [np.unpackbits(bits, axis=-1, count=width).astype(bool) for bits in packed]


def _perception(
    facts: Mapping[str, Any], masks: Sequence[AnyArray], depth: AnyArray | None
) -> Perception:
    height, width = facts["size"]
    estimator, estimated = facts["depth"], None
    if estimator:
        if depth is None:
            raise ValueError("The depth is missing.")
        estimated = DepthMap(values=depth, estimator_id=estimator)
    return Perception(
        image_sha256=facts["image_sha256"],
        height=height,
        width=width,
        cut=facts["cut"],
        missing_classes=tuple(facts["missing_classes"]),
        detections=tuple(
            Detection(**{**known, "box": Box(**known["box"])}) for known in facts["detections"]
        ),
        masks=tuple(
            Mask(
                mention_id=MentionId(known["mention_id"]),
                pixels=pixels,
                score=known["score"],
                source_id=known["source_id"],
            )
            for known, pixels in zip(facts["masks"], masks, strict=True)
        ),
        depth=estimated,
    )
