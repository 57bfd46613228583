"""Text metadata of picture files: reading from PNG, JPEG and WebP, and writing."""

import codecs
import re
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from typing import IO, Any, BinaryIO

from PIL import ExifTags, Image, PngImagePlugin

from spatialstudio.adapters.images import UNREADABLE
from spatialstudio.adapters.picture_limits import (
    PNG_MAGIC,
    BoundedFile,
    png_chunks,
)
from spatialstudio.adapters.storage.metadata import provenance
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ExportError, ImageError
from spatialstudio.domain.picture_settings import EmbeddedTexts
from spatialstudio.domain.safe_files import MEBIBYTE

PARAMETERS = "parameters"
OWN_RECORD = "spatial_studio"
USER_COMMENT = "UserComment"
XMP = "XML:com.adobe.xmp"
FORMATS = ("PNG", "JPEG", "WEBP")

JPEG_QUALITY = 95
WEBP_QUALITY = 90
LARGEST_SEGMENT_BYTES = 65_000
"""Limit for EXIF or XMP in a JPEG file, whose segments end at 64 KiB."""
LONGEST_TEXT_BYTES = 4 * MEBIBYTE
MOST_TEXT_BYTES = 16 * MEBIBYTE
"""Limit for all texts in one file."""

_PNG_TEXT, _PNG_PACKED, _PNG_INTERNATIONAL, _PNG_EXIF = b"tEXt", b"zTXt", b"iTXt", b"eXIf"
_PNG_TEXTS = frozenset({_PNG_TEXT, _PNG_PACKED, _PNG_INTERNATIONAL, _PNG_EXIF})
_CHECKSUM = struct.Struct(">I")

_UNICODE = b"UNICODE\0"
_ASCII = b"ASCII\0\0\0"
_CHARSET_BYTES, _UNIT_BYTES = 8, 2
_EXIF_TEXTS = ("ImageDescription", "Make", "Model", "Software")
_SURROGATES = re.compile("[\ud800-\udfff]")


def read_texts(source: bytes | BinaryIO) -> dict[str, str]:
    """Read the texts of a picture file by name; empty if it cannot be read.

    The names are those of PNG text chunks, EXIF fields ("UserComment", "Make", ...), and
    "XML:com.adobe.xmp"; pixels are not decoded. Texts longer than ``LONGEST_TEXT_BYTES``, or beyond
    a total of ``MOST_TEXT_BYTES``, are left out.

    Args:
        source: The file, or its content.
    """
    file = BytesIO(source) if isinstance(source, bytes) else source
    texts: dict[str, str] = {}
    left = MOST_TEXT_BYTES
    try:
        for name, text in _all_texts(file):
            if len(text) <= min(left, LONGEST_TEXT_BYTES):
                texts[name] = text
                left -= len(text)
    except (*UNREADABLE, RecursionError, AttributeError, ImageError):
        return {}
    return texts


def picture_bytes(image: RgbImage, kind: str, texts: EmbeddedTexts | None) -> bytes:
    """Return the bytes of a picture file.

    Args:
        image: (H, W, 3) uint8 sRGB.
        kind: "PNG", "JPEG" or "WEBP".
        texts: Metadata to embed; None for a clean copy with pixels only.

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


def _all_texts(file: BinaryIO) -> Iterator[tuple[str, str]]:
    exif = None
    for kind, data in _png_data(file):
        if kind == _PNG_EXIF:
            exif = data
        else:
            yield from _png_text(kind, data)
    if file.seek(0) == 0 and file.read(len(PNG_MAGIC)) == PNG_MAGIC:
        if exif is not None:
            yield from _exif_texts(exif)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unusual files, which are common
        stand_in: IO[bytes] = BoundedFile(file)  # type: ignore[assignment]
        with Image.open(stand_in, formats=FORMATS) as image:
            packet, exif = image.info.get("xmp"), image.info.get("exif")
    if isinstance(packet, bytes) and len(packet) <= LONGEST_TEXT_BYTES:
        yield XMP, packet.decode("utf-8", "replace")
    if isinstance(exif, bytes):
        yield from _exif_texts(exif)


def _png_data(file: BinaryIO) -> Iterator[tuple[bytes, bytes]]:
    """Yield kind and content of the text chunks with a valid checksum.

    NOTE: Pillow reads chunks after the pixels only once it has decoded them.
    """
    left = MOST_TEXT_BYTES
    for kind, place, length in png_chunks(file):
        if kind in _PNG_TEXTS and length <= min(left, LONGEST_TEXT_BYTES):
            left -= length
            file.seek(place)
            data = file.read(length)
            if file.read(_CHECKSUM.size) == _CHECKSUM.pack(zlib.crc32(kind + data)):
                yield kind, data


def _png_text(kind: bytes, data: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and text of a PNG text chunk; nothing if it is damaged."""
    name, _, rest = data.partition(b"\0")
    if kind == _PNG_INTERNATIONAL:
        flags, (_language, _, rest) = rest[:2], rest[2:].partition(b"\0")
        _translated, _, text = rest.partition(b"\0")
        is_packed, method = (*flags, 0, 0)[:2]
        plain = _unpacked(text, method) if is_packed else text
        with suppress(UnicodeDecodeError):
            yield name.decode("latin-1"), plain.decode("utf-8")
    elif kind == _PNG_PACKED:
        text = _unpacked(rest[1:], rest[0]) if rest else b""
        yield name.decode("latin-1"), _as_meant(text.decode("latin-1"))
    else:
        yield name.decode("latin-1"), _as_meant(rest.decode("latin-1"))


def _unpacked(packed: bytes, method: int) -> bytes:
    """Decompress a text; empty if it is damaged or too long."""
    unpacker = zlib.decompressobj()
    try:
        plain = unpacker.decompress(packed, LONGEST_TEXT_BYTES + 1) if method == 0 else b""
    except zlib.error:
        return b""
    return plain if len(plain) <= LONGEST_TEXT_BYTES else b""


def _exif_texts(packed: bytes) -> Iterator[tuple[str, str]]:
    if len(packed) > LONGEST_TEXT_BYTES:
        return
    exif = Image.Exif()
    exif.load(packed)
    for name in _EXIF_TEXTS:
        value = exif.get(ExifTags.Base[name])
        if isinstance(value, str):
            yield name, value
    details = exif.get_ifd(ExifTags.IFD.Exif)
    for name in (USER_COMMENT, "MakerNote"):
        tag = ExifTags.Base[name]
        value = details.get(tag, exif.get(tag))  # NOTE: Fooocus writes it to the outer IFD
        if isinstance(value, bytes | str):
            yield name, _decoded(value)


def _as_meant(text: str) -> str:
    """Decode Latin-1 text again as UTF-8, which some programs write against the PNG standard."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return text


def _decoded(comment: bytes | str) -> str:
    """Decode an EXIF comment: eight bytes that name the encoding, then the text."""
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
    """Return a text that can be encoded; lone surrogates become "?"."""
    return _SURROGATES.sub("?", text)
