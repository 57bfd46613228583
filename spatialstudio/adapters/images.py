"""Reads pictures of any common kind as upright sRGB, and makes PNG files."""

import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.ports import Surroundings

MAX_PIXELS = 64_000_000
"""A picture with more is refused before it is decoded: 64 megapixels take 192 MB."""

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF")
"""What Pillow may try; formats that start other programs are left out."""

PNG_ALONE = ("PNG",)

_MILLION = 1_000_000
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
    """Make the reader and writer of pictures."""
    return PillowImages()


class PillowImages:
    """Reads pictures with Pillow; implements ``ImageFiles``."""

    id = "pillow"

    def read(self, path: Path) -> RgbImage:
        """Read a picture upright, as sRGB, over white where it is transparent.

        Of an animation the first frame is read.

        Raises:
            ImageError: Not a picture, truncated, or too large to open safely.
        """
        with _explained_opening(path):
            return _pixels(path, str(path), FORMATS)


def decode(content: bytes, name: str, formats: tuple[str, ...] = FORMATS) -> RgbImage:
    """Read the content of a picture file, as ``PillowImages.read`` does.

    Args:
        content: Of the file.
        name: Of the file, for messages.
        formats: What it may be.

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


def _pixels(source: Path | BytesIO, name: str, formats: tuple[str, ...]) -> RgbImage:
    with _explained_decoding(name, formats), Image.open(source, formats=formats) as image:
        _refuse_too_large(image, name)
        return np.array(_as_srgb(ImageOps.exif_transpose(image)))


@contextmanager
def _explained_opening(path: Path) -> Iterator[None]:
    if path.is_dir():
        raise ImageError(f'"{path}" is a folder, not a picture.', hint="Choose a file in it.")
    try:
        yield
    except FileNotFoundError as error:
        raise ImageError(f'There is no file "{path}".', hint="Check its name.") from error
    except PermissionError as error:
        raise ImageError(
            f'The file "{path}" may not be read.', hint="Change its permissions or copy it."
        ) from error


@contextmanager
def _explained_decoding(name: str, formats: tuple[str, ...]) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about odd files; the size is checked here
            yield
    except (FileNotFoundError, PermissionError):
        raise  # nothing was there to be decoded
    except UnidentifiedImageError as error:
        raise ImageError(
            f'The file "{name}" is not a picture.',
            hint=f"Choose one of these kinds: {', '.join(formats)}.",
        ) from error
    except Image.DecompressionBombError as error:
        raise _too_large(name) from error
    except UNREADABLE as error:
        raise ImageError(
            f'The picture "{name}" is damaged or not complete.',
            hint="Save or download it again.",
        ) from error


def _refuse_too_large(image: Image.Image, name: str) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise _too_large(name)


def _too_large(name: str) -> ImageError:
    return ImageError(
        f'The picture "{name}" is too large to open safely.',
        hint=f"Make it smaller: at most {MAX_PIXELS // _MILLION} megapixels can be read.",
    )


def _as_srgb(image: Image.Image) -> Image.Image:
    """Return the picture in mode RGB, 8 bits, colours converted by its own profile."""
    image.load()
    if image.mode == "F":
        raise ImageError(
            "The picture holds decimal numbers instead of colours.",
            hint="Save it as an 8-bit PNG.",
        )
    profile = image.info.get("icc_profile")
    if image.mode.startswith("I"):
        return _from_sixteen_bits(image)
    if not image.has_transparency_data:
        return _by_profile(image, profile)
    with_alpha = image.convert("RGBA")
    white = Image.new("RGB", image.size, "white")
    colour = _by_profile(with_alpha.convert("RGB"), profile)
    return Image.composite(colour, white, with_alpha.getchannel("A"))


def _from_sixteen_bits(image: Image.Image) -> Image.Image:
    levels = np.asarray(image).clip(0, np.iinfo(np.uint16).max)
    return Image.fromarray((levels >> 8).astype(np.uint8)).convert("RGB")


def _by_profile(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert to sRGB; a picture without a profile, or with an unusable one, counts as sRGB."""
    if profile is None:
        return image.convert("RGB")
    try:
        source = ImageCms.ImageCmsProfile(BytesIO(profile))
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, source, target, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError):
        return image.convert("RGB")
    return converted or image.convert("RGB")
