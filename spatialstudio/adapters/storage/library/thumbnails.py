"""Thumbnails of runs in the user's cache; they can be deleted at any time."""

from hashlib import sha256
from pathlib import Path

import numpy as np

from spatialstudio.adapters.images import FORMATS, UNREADABLE, bounded_image, open_picture_file
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.safe_files import is_regular

SIDE = 256
"""Longest side, pixels."""

QUALITY = 85


class Thumbnails:
    """Cached thumbnails; a picture that changed gets a new one.

    Args:
        folder: The cache folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, picture: Path) -> RgbImage | None:
        """Return a thumbnail, (h, w, 3) uint8; None if the file cannot be read."""
        try:
            stat = picture.stat()
        except (OSError, ValueError):
            return None
        mark = f"{picture}\n{stat.st_mtime_ns}\n{stat.st_size}"
        key = sha256(mark.encode("utf-8", "surrogatepass")).hexdigest()
        kept = self._folder / key[:2] / f"{key}.webp"
        small = _read(kept) if is_regular(kept) else None
        return self._make(picture, kept) if small is None else small

    def _make(self, picture: Path, kept: Path) -> RgbImage | None:
        try:
            with (
                open_picture_file(picture) as file,
                bounded_image(file, picture.name, FORMATS) as image,
            ):
                image.thumbnail((SIDE, SIDE))
                small = image.convert("RGB")
        except (*UNREADABLE, ImageError):
            return None
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            draft = kept.with_suffix(".part")
            draft.unlink(missing_ok=True)
            with draft.open("xb") as file:
                small.save(file, "WEBP", quality=QUALITY)
            draft.replace(kept)
        except OSError:  # the cache is optional
            pass
        return np.array(small)


def _read(path: Path) -> RgbImage | None:
    try:
        with open_picture_file(path) as file, bounded_image(file, path.name, ("WEBP",)) as image:
            pixels: RgbImage = np.array(image.convert("RGB"))
            return pixels
    except (*UNREADABLE, ImageError):
        return None
