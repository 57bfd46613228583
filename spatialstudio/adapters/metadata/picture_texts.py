"""Texts in picture files: gathers those of PNG, JPEG and WebP by name, and writes ours."""

import codecs
import re
import struct
import warnings
from collections.abc import Iterator, Mapping
from io import BytesIO
from typing import Any

from PIL import ExifTags, Image, PngImagePlugin

from spatialstudio.adapters.images import UNREADABLE
from spatialstudio.adapters.metadata import provenance
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.picture_settings import EmbeddedTexts

PARAMETERS = "parameters"
OWN_RECORD = "spatial_studio"
USER_COMMENT = "UserComment"
XMP = "XML:com.adobe.xmp"
FORMATS = ("PNG", "JPEG", "WEBP")

JPEG_QUALITY = 95
WEBP_QUALITY = 90
LARGEST_SEGMENT_BYTES = 65_000
"""Of EXIF or XMP in a JPEG file, whose segments end at 64 KiB."""

_UNICODE = b"UNICODE\0"
_ASCII = b"ASCII\0\0\0"
_CHARSET_BYTES, _UNIT_BYTES = 8, 2
_EXIF_TEXTS = ("ImageDescription", "Make", "Model", "Software")
_SURROGATES = re.compile("[\ud800-\udfff]")


def read_texts(content: bytes) -> dict[str, str]:
    """Gather the texts of a picture file by name; of one that cannot be read, none.

    Names of PNG's text chunks, of EXIF's fields ("UserComment", "Make", ...), and
    "XML:com.adobe.xmp"; pixels are not decoded.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd files, of which there are many
            with Image.open(BytesIO(content), formats=FORMATS) as image:
                return dict(_texts_of(image))
    except (*UNREADABLE, RecursionError, AttributeError):
        return {}


def picture_bytes(image: RgbImage, kind: str, texts: EmbeddedTexts | None) -> bytes:
    """Return the bytes of a picture file.

    Args:
        image: (H, W, 3) uint8 sRGB.
        kind: "PNG", "JPEG" or "WEBP".
        texts: What to write into it; None for a clean copy that holds nothing but pixels.

    Raises:
        ExportError: The texts are too long for a JPEG file.
    """
    options: dict[str, Any] = {}
    if kind == "JPEG":
        options = {"quality": JPEG_QUALITY, "subsampling": 0}
    elif kind == "WEBP":
        options = {"quality": WEBP_QUALITY}
    if texts is not None:
        options |= _png_options(texts) if kind == "PNG" else _exif_options(texts, kind)
    buffer = BytesIO()
    Image.fromarray(image).save(buffer, kind, **options)
    return buffer.getvalue()


def _texts_of(image: Image.Image) -> Iterator[tuple[str, str]]:
    if isinstance(image, PngImagePlugin.PngImageFile):
        for name, text in image.text.items():
            is_unicode = isinstance(text, PngImagePlugin.iTXt)
            yield str(name), str(text) if is_unicode else _as_meant(str(text))
    packet = image.info.get("xmp")
    if isinstance(packet, bytes):
        yield XMP, packet.decode("utf-8", "replace")
    exif = image.getexif()
    for name in _EXIF_TEXTS:
        value = exif.get(ExifTags.Base[name])
        if isinstance(value, str):
            yield name, value
    details = exif.get_ifd(ExifTags.IFD.Exif)
    for name in (USER_COMMENT, "MakerNote"):
        tag = ExifTags.Base[name]
        value = details.get(tag, exif.get(tag))  # NOTE: Fooocus writes it among the outer fields
        if isinstance(value, bytes | str):
            yield name, _decoded(value)


def _as_meant(text: str) -> str:
    """Read a text of Latin letters again where its writer meant UTF-8, against the PNG standard."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _decoded(comment: bytes | str) -> str:
    """Read an EXIF comment: eight bytes that name its characters, then the text."""
    if isinstance(comment, str):
        return comment
    if comment.startswith(_UNICODE):
        text = comment[_CHARSET_BYTES:]
        text = text[: len(text) // _UNIT_BYTES * _UNIT_BYTES]
        if text.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
            return text.decode("utf-16", "replace").rstrip("\0")
        zeros_first = text[0::2].count(0) >= text[1::2].count(0)  # NOTE: writers disagree on order
        return text.decode("utf-16-be" if zeros_first else "utf-16-le", "replace").rstrip("\0")
    return comment.removeprefix(_ASCII).decode("utf-8", "replace").strip("\0")


def _png_options(texts: EmbeddedTexts) -> Mapping[str, Any]:
    chunks = PngImagePlugin.PngInfo()
    parameters = _written(texts.parameters)
    (chunks.add_text if parameters.isascii() else chunks.add_itxt)(PARAMETERS, parameters)
    chunks.add_itxt(OWN_RECORD, texts.record)
    packet = provenance.write_packet(
        _written(texts.creator), is_generated=texts.is_marked_as_generated
    )
    chunks.add_itxt(XMP, packet.decode("utf-8"))
    return {"pnginfo": chunks}


def _exif_options(texts: EmbeddedTexts, kind: str) -> Mapping[str, Any]:
    creator = _written(texts.creator)
    packet = provenance.write_packet(
        creator, is_generated=texts.is_marked_as_generated, record=texts.record
    )
    exif = Image.Exif()
    exif[ExifTags.Base.Software] = creator
    details = exif.get_ifd(ExifTags.IFD.Exif)
    details[ExifTags.Base.UserComment] = _UNICODE + _written(texts.parameters).encode("utf-16-be")
    try:
        packed = exif.tobytes()
    except struct.error as error:
        raise _too_long() from error
    if kind == "JPEG" and max(len(packed), len(packet)) > LARGEST_SEGMENT_BYTES:
        raise _too_long()
    return {"exif": packed, "xmp": packet}


def _too_long() -> ExportError:
    return ExportError(
        "The prompt is too long for a JPEG file.", hint="Choose PNG or WebP, or a clean copy."
    )


def _written(text: str) -> str:
    """Return what text files may hold: halves of characters, which are no text, become "?"."""
    return _SURROGATES.sub("?", text)
