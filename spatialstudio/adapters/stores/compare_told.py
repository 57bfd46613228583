"""Names what a picture tells otherwise than the run beside it, field by field."""

from collections.abc import Iterator, Mapping

import numpy as np

from spatialstudio.adapters.metadata.picture_texts import (
    PARAMETERS,
    XMP,
    picture_bytes,
    read_texts,
)
from spatialstudio.adapters.stores.json_codec import Json, decode, encode
from spatialstudio.adapters.stores.picture_record import (
    VERSION,
    ToldRecord,
    read_told,
    texts_telling,
)
from spatialstudio.domain.record import Environment, RunRecord

OTHER_CHECKS = ("verdicts", "hashes")
"""Fields that are held to the files they are about."""

_TEXTS = {PARAMETERS: "parameters", XMP: "XMP"}
_NO_PICTURE = np.zeros((1, 1, 3), np.uint8)


def told_otherwise(
    told: ToldRecord, texts: Mapping[str, str], record: RunRecord, size: tuple[int, int]
) -> tuple[str, ...]:
    """Return the fields in which a picture tells otherwise than its run, as "environment.device".

    A record of an earlier version is held to the request alone.

    Args:
        told: What the picture's record says.
        texts: All texts of the picture's file, by name.
        record: The run.
        size: Height and width of the picture, pixels.

    Raises:
        StoreError: What is told of the environment is damaged.
    """
    if told.plain.get("version") != VERSION:
        return tuple(_unlike(encode(told.request, {}), encode(record.request, {}), "request"))
    verdicts = told.verdicts if isinstance(told.verdicts, dict) else {}
    due = texts_telling(record, verdicts, size, is_marked=record.is_marked)
    due_texts = read_texts(picture_bytes(_NO_PICTURE, "PNG", due))
    return (
        *_unlike(_comparable(told), _comparable(read_told(due.record)), ""),
        *(name for key, name in _TEXTS.items() if texts.get(key) != due_texts[key]),
    )


def _comparable(told: ToldRecord) -> Json:
    """Return the fields to compare; what an earlier program did not tell has its usual value."""
    environment = decode(Environment, told.plain.get("environment"), {})
    whole = {
        **told.plain,
        "request": encode(told.request, {}),
        "environment": encode(environment, {}),
    }
    return {name: value for name, value in whole.items() if name not in OTHER_CHECKS}


def _unlike(told: Json, due: Json, path: str) -> Iterator[str]:
    """Yield the paths of all leaves that are not the same in both."""
    ours, theirs = dict(_leaves(told, path)), dict(_leaves(due, path))
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
