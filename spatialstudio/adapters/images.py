"""Safe reading of pictures in common formats as upright sRGB, and PNG encoding.

Untrusted files have limits on memory and time: a few bytes can declare a picture of gigabytes, or
repeat a decoding step a hundred thousand times. Both are rejected from the header, before any pixel
is decoded.
"""

import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO

import numpy as np
from PIL import ExifTags, Image, ImageCms, JpegImagePlugin, UnidentifiedImageError

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    NotARegularFile,
    open_regular,
)

MAX_FILE_BYTES = 256 * MEBIBYTE
MAX_DECODING_BYTES = 224 * MEBIBYTE
"""Peak memory while a picture is decoded, its array included."""
MAX_HEADER_BYTES = 16 * MEBIBYTE
"""Limit for everything that a format's parser reads before the pixels."""
MAX_WEBP_BYTES = 64 * MEBIBYTE
"""Limit for a WebP file, which is read as a whole."""
MAX_READS = 100_000
"""Limit per file: more reads mean that the parser reads pieces of a few bytes."""
BYTES_PER_READ = 256
"""A larger file may be read once more per this many bytes."""
MAX_CHUNKS = 10_000
"""Limit for a PNG."""
BYTES_PER_CHUNK = 1024
"""A larger PNG may have one more chunk per this many bytes."""
MAX_SCANS = 1000
MAX_SCANNED_PIXELS = 1_000_000_000
"""Limit for a JPEG, each of whose scans covers the whole picture; about a second."""
MAX_RUN_LENGTH_PIXELS = 1_000_000
"""Limit for a run-length encoded BMP, which Pillow decodes in Python."""

BYTES_PER_PIXEL = 7
"""Four in Pillow, three in the array."""
WEBP_BYTES_PER_PIXEL = 20
TIFF_BYTES_PER_PIXEL = 14
MULTISCAN_BYTES_PER_PIXEL = 13
"""For a JPEG whose coefficients are kept until the last scan."""

PNG_MAGIC = b"\x89PNG\r\n\x1a\n"
PNG_PIXELS = b"IDAT"

_MILLION = 1_000_000
_PNG_END = b"IEND"
_CHUNK_HEADER = struct.Struct(">I4s")
_CHECKSUM_BYTES = 4
_RIFF, _WEBP = slice(0, 4), slice(8, 12)
_MAGIC_BYTES = 12
_SCAN = b"\xff\xda"
_SCAN_HEADER_BYTES = 3


class BoundedFile:
    """A picture file with limits on the bytes and reads of its parser.

    Args:
        file: Open for reading; the caller closes it.

    Raises:
        OSError: From ``read``, if a limit is exceeded.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.size = file.seek(0, 2)
        file.seek(0)
        magic = file.read(_MAGIC_BYTES)
        file.seek(0)
        is_webp = magic[_RIFF] == b"RIFF" and magic[_WEBP] == b"WEBP"
        self._bytes_left: int | None = MAX_WEBP_BYTES if is_webp else MAX_HEADER_BYTES
        self._reads_left = MAX_READS + self.size // BYTES_PER_READ

    def begin_pixels(self) -> None:
        """Lift the limit on bytes once the header is read and the picture's size is known."""
        self._bytes_left = None

    def read(self, count: int = -1) -> bytes:
        """Read bytes; see ``io.RawIOBase.read``."""
        self._reads_left -= 1
        left = self._bytes_left
        if left is not None:
            count = left + 1 if count < 0 else min(count, left + 1)
        content = self._file.read(count)
        if left is not None:
            self._bytes_left = left - len(content)
        if self._reads_left < 0 or (self._bytes_left is not None and self._bytes_left < 0):
            raise OSError("The header of the picture is too large.")
        return content

    def seek(self, place: int, origin: int = 0) -> int:
        """Change the position; see ``io.IOBase.seek``."""
        return self._file.seek(place, origin)

    def tell(self) -> int:
        """Return the position."""
        return self._file.tell()

    def fileno(self) -> int:
        """Return the file descriptor, which libtiff reads from."""
        return self._file.fileno()

    def count(self, mark: bytes, most: int) -> int:
        """Count a byte sequence in the whole file, stopping soon after ``most``."""
        place, found, rest = self._file.tell(), 0, b""
        self._file.seek(0)
        while found <= most and (block := self._file.read(MEBIBYTE)):
            found += (rest + block).count(mark)
            rest = block[1 - len(mark) :]
        self._file.seek(place)
        return found


def open_picture_file(path: Path) -> BinaryIO:
    """Open a picture file; only a regular file of limited size is accepted.

    Raises:
        ImageError: It is missing, something else, or cannot be read.
    """
    try:
        return open_regular(path, MAX_FILE_BYTES)
    except FileTooLarge as error:
        raise ImageError(
            f'The file "{path}" is too large to open safely.',
            hint=f"The maximum is {MAX_FILE_BYTES // MEBIBYTE} MB.",
        ) from error
    except NotARegularFile as error:
        if path.is_dir():
            message, hint = f'"{path}" is a folder, not a picture.', "Choose a file in it."
        else:
            message, hint = f'"{path}" is not a regular file.', "Copy the picture to a file."
        raise ImageError(message, hint=hint) from error
    except FileNotFoundError as error:
        raise ImageError(f'There is no file "{path}".', hint="Check the path.") from error
    except PermissionError as error:
        raise ImageError(
            f'You do not have permission to read the file "{path}".',
            hint="Change its permissions or copy it.",
        ) from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ImageError(
            f'The file "{path}" cannot be read: {reason}.',
            hint="Check the path and your read permission.",
        ) from error


def bounded_image(file: BinaryIO, name: str, formats: tuple[str, ...]) -> Image.Image:
    """Open a picture whose pixels can be decoded in bounded memory and time.

    Args:
        file: The picture file; it stays open while the picture is used.
        name: File name for messages.
        formats: Accepted formats.

    Raises:
        ImageError: It is too large to open safely.
        OSError, ValueError, ...: Raised by Pillow for a file that is not a picture.
    """
    _refuse_large_chunks(file, name)
    source = BoundedFile(file)
    stand_in: IO[bytes] = source  # type: ignore[assignment]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unusual files; the size is checked here
        image = Image.open(stand_in, formats=formats)
    pixels = image.width * image.height
    budget, cost = MAX_DECODING_BYTES, _bytes_per_pixel(image, source)
    if image.format == "WEBP" or isinstance(file, BytesIO):
        budget -= source.size
    if pixels * cost > budget:
        raise too_large(name, max(budget, 0) // cost)
    if image.format in ("JPEG", "MPO"):
        _refuse_many_scans(source, pixels, name)
    if image.format == "BMP" and any(tile[0] == "bmp_rle" for tile in image.tile):
        _refuse_run_lengths(pixels, name)
    source.begin_pixels()
    return image


def png_chunks(file: BinaryIO) -> Iterator[tuple[bytes, int, int]]:
    """Yield type, offset and length of a PNG's chunks, up to the last.

    Yields nothing for a file that is not a PNG.

    Raises:
        OSError: There are too many.
    """
    size = file.seek(0, 2)
    file.seek(0)
    place = len(PNG_MAGIC)
    if file.read(place) != PNG_MAGIC:
        return
    for _ in range(MAX_CHUNKS + size // BYTES_PER_CHUNK):
        file.seek(place)
        header = file.read(_CHUNK_HEADER.size)
        if len(header) < _CHUNK_HEADER.size:
            return
        length, kind = _CHUNK_HEADER.unpack(header)
        yield kind, place + _CHUNK_HEADER.size, min(length, size)
        if kind == _PNG_END:
            return
        place += _CHUNK_HEADER.size + length + _CHECKSUM_BYTES
    raise OSError("The picture has too many chunks.")


def too_large(name: str, pixels: int) -> ImageError:
    """Return an error for a picture that is too large, with the maximum pixel count."""
    return ImageError(
        f'The picture "{name}" is too large to open safely.',
        hint=f"Make it smaller: at most {pixels / _MILLION:.0f} megapixels of this kind.",
    )


def _refuse_large_chunks(file: BinaryIO, name: str) -> None:
    """Reject a PNG whose metadata, before or after the pixels, would fill memory."""
    besides = sum(length for kind, _, length in png_chunks(file) if kind != PNG_PIXELS)
    if besides > MAX_HEADER_BYTES:
        raise ImageError(
            f'The metadata of the picture "{name}" is too large to open safely.',
            hint="Save the picture without it.",
        )


def _bytes_per_pixel(image: Image.Image, source: BoundedFile) -> int:
    if image.format == "WEBP":
        return WEBP_BYTES_PER_PIXEL
    if image.format == "TIFF":
        return TIFF_BYTES_PER_PIXEL
    if isinstance(image, JpegImagePlugin.JpegImageFile) and _is_multiscan(image, source):
        return MULTISCAN_BYTES_PER_PIXEL
    return BYTES_PER_PIXEL


def _is_multiscan(image: JpegImagePlugin.JpegImageFile, source: BoundedFile) -> bool:
    """Return True if a JPEG has scans beyond the first, where Pillow's header parser stops."""
    place = source.tell()
    header = source.read(_SCAN_HEADER_BYTES)
    source.seek(place)
    return "progressive" in image.info or header[-1:] < bytes([len(image.getbands())])


def _refuse_many_scans(source: BoundedFile, pixels: int, name: str) -> None:
    most = min(MAX_SCANS, max(MAX_SCANNED_PIXELS // max(pixels, 1), 1))
    if source.count(_SCAN, most) > most:
        raise ImageError(
            f'The picture "{name}" would take too long to decode.',
            hint="Save it again with other settings, or as PNG.",
        )


def _refuse_run_lengths(pixels: int, name: str) -> None:
    if pixels > MAX_RUN_LENGTH_PIXELS:
        raise too_large(name, MAX_RUN_LENGTH_PIXELS)


FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""Formats that Pillow may open; formats that start other programs are excluded."""

PNG_ALONE = ("PNG",)

STRIP_PIXELS = 1_000_000
"""Pixels converted per strip."""

UNREADABLE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    LookupError,
    EOFError,
    OverflowError,
    MemoryError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)


def build(_: Surroundings) -> "PillowImages":
    """Create the reader and writer of pictures."""
    return PillowImages()


class PillowImages:
    """Reads pictures with Pillow; implements ``ImageFiles``."""

    id = "pillow"

    def read(self, path: Path) -> RgbImage:
        """Read a picture upright, as sRGB, with transparency over white.

        Only the first frame of an animation is read.

        Raises:
            ImageError: Not a picture, truncated, or too large to open safely.
        """
        with open_picture_file(path) as file:
            return _pixels(file, str(path), FORMATS)


def decode(content: bytes, name: str, formats: tuple[str, ...] = FORMATS) -> RgbImage:
    """Decode the content of a picture file, as ``PillowImages.read`` does.

    Args:
        content: Content of the file.
        name: File name for messages.
        formats: Accepted formats.

    Raises:
        ImageError: Not a picture, truncated, or too large to open safely.
    """
    return _pixels(BytesIO(content), name, formats)


def _pixels(source: BinaryIO, name: str, formats: tuple[str, ...]) -> RgbImage:
    with _explained_decoding(name, formats):
        with bounded_image(source, name, formats) as image:
            image.load()
            orientation = image.getexif().get(ExifTags.Base.Orientation)
            pixels = _as_srgb(image)
        return _upright(pixels, orientation)


@contextmanager
def _explained_decoding(name: str, formats: tuple[str, ...]) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about unusual files; the size is checked here
            yield
    except UnidentifiedImageError as error:
        raise ImageError(
            f'The file "{name}" is not a picture.',
            hint=f"Supported formats: {', '.join(formats)}.",
        ) from error
    except Image.DecompressionBombError as error:
        raise too_large(name, MAX_DECODING_BYTES // BYTES_PER_PIXEL) from error
    except UNREADABLE as error:
        raise ImageError(
            f'The picture "{name}" is damaged or not complete.',
            hint="Save or download it again.",
        ) from error


def _as_srgb(image: Image.Image) -> RgbImage:
    """Return the pixels, (H, W, 3) uint8, converted with the picture's colour profile.

    Rows are converted in strips, to avoid a second copy of the picture.
    """
    if image.mode == "F":
        raise ImageError(
            "Floating-point pictures are not supported.",
            hint="Convert it to an 8-bit PNG.",
        )
    convert = _conversion(image)
    pixels: RgbImage = np.empty((image.height, image.width, 3), np.uint8)
    rows = max(STRIP_PIXELS // image.width, 1)
    for top in range(0, image.height, rows):
        bottom = min(top + rows, image.height)
        pixels[top:bottom] = np.asarray(convert(image.crop((0, top, image.width, bottom))))
    return pixels


def _conversion(image: Image.Image) -> Callable[[Image.Image], Image.Image]:
    """Return the conversion of a picture's strips to sRGB."""
    if image.mode.startswith("I"):
        return _from_sixteen_bits
    is_transparent = image.has_transparency_data
    to_srgb = _profile_conversion(
        "RGB" if is_transparent else image.mode, image.info.get("icc_profile")
    )
    return partial(_over_white, to_srgb) if is_transparent else to_srgb


def _over_white(to_srgb: Callable[[Image.Image], Image.Image], strip: Image.Image) -> Image.Image:
    with_alpha = strip.convert("RGBA")
    white = Image.new("RGB", strip.size, "white")
    colour = to_srgb(with_alpha.convert("RGB"))
    return Image.composite(colour, white, with_alpha.getchannel("A"))


def _from_sixteen_bits(strip: Image.Image) -> Image.Image:
    levels = np.asarray(strip).clip(0, np.iinfo(np.uint16).max)
    return Image.fromarray((levels >> 8).astype(np.uint8)).convert("RGB")


def _profile_conversion(mode: str, profile: bytes | None) -> Callable[[Image.Image], Image.Image]:
    """Return a conversion to sRGB; without a usable profile, sRGB is assumed."""
    if profile is None:
        return _plain
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        transform = ImageCms.buildTransform(source, target, mode, "RGB")
    except (ImageCms.PyCMSError, OSError):
        return _plain

    def convert(strip: Image.Image) -> Image.Image:
        try:
            return ImageCms.applyTransform(strip, transform) or _plain(strip)
        except (ImageCms.PyCMSError, OSError, ValueError):
            return _plain(strip)

    return convert


def _plain(strip: Image.Image) -> Image.Image:
    return strip.convert("RGB")


def _upright(pixels: RgbImage, orientation: object) -> RgbImage:
    """Rotate (H, W, 3) pixels according to their EXIF orientation, 1 to 8."""
    turn = _TURNS.get(orientation) if isinstance(orientation, int) else None
    return pixels if turn is None else np.ascontiguousarray(turn(pixels))


_TURNS: Mapping[int, Callable[[RgbImage], RgbImage]] = {
    2: lambda pixels: pixels[:, ::-1],
    3: lambda pixels: pixels[::-1, ::-1],
    4: lambda pixels: pixels[::-1],
    5: lambda pixels: pixels.swapaxes(0, 1),
    6: lambda pixels: np.rot90(pixels, -1),
    7: lambda pixels: pixels[::-1, ::-1].swapaxes(0, 1),
    8: lambda pixels: np.rot90(pixels),
}
