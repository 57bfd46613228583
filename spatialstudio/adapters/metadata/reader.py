"""Reads how a picture says that it was made, in any of the dialects that are known."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from spatialstudio.adapters.metadata import a1111, comfyui, fooocus, invokeai, own, swarmui
from spatialstudio.adapters.metadata.picture_texts import XMP, picture_bytes, read_texts
from spatialstudio.adapters.metadata.provenance import says_generated
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.picture_settings import EmbeddedTexts, PictureSettings
from spatialstudio.domain.ports import Surroundings

Dialect = Callable[[Mapping[str, str]], PictureSettings | None]

DIALECTS: tuple[Dialect, ...] = (
    own.read,
    invokeai.read,
    swarmui.read,
    fooocus.read,
    comfyui.read,
    a1111.read,
)
"""The first that understands a picture is believed: the surest come first."""


def build(_: Surroundings) -> "PictureMetadata":
    """Make the reader and writer of metadata."""
    return PictureMetadata()


class PictureMetadata:
    """Reads and writes metadata in PNG, JPEG and WebP; implements ``MetadataFiles``."""

    id = "embedded"

    def read(self, path: Path) -> PictureSettings | None:
        """Read how a picture was made; None when it does not tell.

        Raises:
            ImageError: The file cannot be read.
        """
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ImageError(
                f'The file "{path}" cannot be read: {error.strerror or error}.',
                hint="Check its name and that you may read it.",
            ) from error
        return settings_in(content)

    def encode(self, image: RgbImage, kind: str, texts: EmbeddedTexts | None) -> bytes:
        """Return a picture file of a kind, with or without metadata; see ``picture_bytes``."""
        return picture_bytes(image, kind, texts)


def settings_in(content: bytes) -> PictureSettings | None:
    """Read how a picture was made from the bytes of its file; None when it does not tell.

    Never raises, whatever the bytes are.
    """
    texts = read_texts(content)
    marked = says_generated(texts.get(XMP, ""))
    for dialect in DIALECTS:
        if (settings := dialect(texts)) is not None:
            return replace(settings, is_marked_as_generated=marked)
    return None
