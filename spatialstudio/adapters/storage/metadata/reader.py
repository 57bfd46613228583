"""Reader of generation metadata in pictures, in all supported dialects."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from spatialstudio.adapters.images import open_picture_file
from spatialstudio.adapters.storage.metadata.dialects import own
from spatialstudio.adapters.storage.metadata.parse_values import Dialect
from spatialstudio.adapters.storage.metadata.picture_texts import (
    XMP,
    picture_bytes,
    read_texts,
    says_generated,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.picture_settings import PictureSettings
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.registrations import constants_in
from spatialstudio.domain.scene import MOST_CHARACTERS

DIALECTS = "spatialstudio.adapters.storage.metadata.dialects"

MOST_EXTRAS = 200
_UNBOUNDED = frozenset({"record", "left_out"})


def build(_: Surroundings) -> "PictureMetadata":
    """Create the reader and writer of metadata."""
    return PictureMetadata()


class PictureMetadata:
    """Reads and writes metadata in PNG, JPEG and WebP; implements ``MetadataFiles``."""

    id = "embedded"

    def read(self, path: Path) -> PictureSettings | None:
        """Read the generation settings of a picture; None if it has none.

        Raises:
            ImageError: The file cannot be read.
        """
        with open_picture_file(path) as file:
            return settings_in(file)

    def encode(self, image: RgbImage, model_id: str) -> bytes:
        """Encode an image as PNG; see ``MetadataFiles``."""
        return picture_bytes(image, "PNG", own.texts_naming(model_id) if model_id else None)


def settings_in(source: bytes | BinaryIO) -> PictureSettings | None:
    """Read the generation settings from a file or its content; None if there are none.

    Never raises, whatever the bytes are.
    """
    texts = read_texts(source)
    marked = says_generated(texts.get(XMP, ""))
    for dialect in dialects():
        if (settings := dialect.read(texts)) is not None:
            return replace(_bounded(settings), is_marked_as_generated=marked)
    return None


@cache
def dialects() -> tuple[Dialect, ...]:
    """Return the dialects of all modules in their folder, in the order they are tried."""
    found: Iterator[tuple[Dialect, ...]] = constants_in(DIALECTS, "DIALECTS", tuple)
    return tuple(sorted(chain.from_iterable(found), key=attrgetter("order")))


def _bounded(settings: PictureSettings) -> PictureSettings:
    """Drop values longer than any prompt may be; ``record`` has its own limits."""
    empty = PictureSettings(dialect=settings.dialect)
    names = [each.name for each in fields(settings) if each.name not in _UNBOUNDED]
    long = [name for name in names if _length(getattr(settings, name)) > MOST_CHARACTERS]
    if len(settings.extras) > MOST_EXTRAS:
        long.append("extras")
    left = {name: getattr(empty, name) for name in long}
    return replace(settings, **left, left_out=tuple(dict.fromkeys(long)))


def _length(value: object) -> int:
    """Count the characters of a text, or of all texts in a sequence or mapping."""
    match value:
        case str():
            return len(value)
        case tuple():
            return sum(len(str(each)) + 1 for each in value)
        case Mapping():
            return max((len(name) + len(str(each)) for name, each in value.items()), default=0)
    return 0
