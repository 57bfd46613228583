"""Reading of pictures in common formats as upright sRGB, and PNG encoding."""

import struct
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import ExifTags, Image, ImageCms, UnidentifiedImageError

from spatialstudio.adapters.picture_limits import (
    BYTES_PER_PIXEL,
    MAX_DECODING_BYTES,
    bounded_image,
    open_picture_file,
    too_large,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.ports import Surroundings

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


def png_bytes(image: RgbImage) -> bytes:
    """Return the bytes of a PNG file.

    Args:
        image: (H, W, 3) uint8 sRGB.
    """
    buffer = BytesIO()
    Image.fromarray(image).save(buffer, format="PNG")
    return buffer.getvalue()


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
            hint=f"Choose one of these kinds: {', '.join(formats)}.",
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
            "The picture holds decimal numbers instead of colours.",
            hint="Save it as an 8-bit PNG.",
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
