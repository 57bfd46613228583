"""Comparison of a run with its repetition, and causes of their differences."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.library import (
    Environment,
    Reproduction,
    RunRecord,
    Sameness,
)

CLOSE_MEAN = 1.0
"""Largest mean difference per channel, of 255, that is invisible."""

FULL = 255
SHORT_HASH = 10
"""Length of an abbreviated weight hash."""
_NAMES = {
    "app": "version of Spatial Studio",
    "python": "version of Python",
    "device": "device",
    "platform": "system",
}


def compare_runs(
    first: RunRecord, first_image: RgbImage, again: RunRecord, again_image: RgbImage
) -> Reproduction:
    """Compare a run with its repetition.

    Args:
        first: Record of the run.
        first_image: (H, W, 3), its image.
        again: Record of the repetition.
        again_image: (H, W, 3), its image.
    """
    reasons = tuple(_reasons(first, again))
    if first_image.shape != again_image.shape:
        return Reproduction(
            sameness=Sameness.DIFFERENT,
            mean_difference=None,
            largest_difference=None,
            reasons=reasons,
        )
    differences = _differences(first_image, again_image)
    mean, largest = float(differences.mean()), int(differences.max(initial=0))
    near = Sameness.CLOSE if mean <= CLOSE_MEAN else Sameness.DIFFERENT
    return Reproduction(
        sameness=near if largest else Sameness.SAME,
        mean_difference=mean,
        largest_difference=largest,
        reasons=reasons,
    )


def difference_picture(first: RgbImage, second: RgbImage) -> tuple[RgbImage, int]:
    """Return the difference of two images of equal size, scaled to full brightness.

    Args:
        first: (H, W, 3) uint8.
        second: Likewise.

    Returns:
        (H, W, 3) uint8, black where they are equal; and the difference shown as 255.
    """
    differences = _differences(first, second)
    largest = int(differences.max(initial=0))
    scaled = differences * (FULL / max(largest, 1))
    return scaled.round().astype(np.uint8), largest


def _differences(first: RgbImage, second: RgbImage) -> npt.NDArray[np.int16]:
    return np.abs(first.astype(np.int16) - second.astype(np.int16))


def _reasons(first: RunRecord, again: RunRecord) -> Iterator[str]:
    old, new = first.environment, again.environment
    for field, name in _NAMES.items():
        yield from _change(name, getattr(old, field), getattr(new, field))
    for library in sorted(old.libraries.keys() | new.libraries.keys()):
        yield from _change(f"version of {library}", _version(old, library), _version(new, library))
    yield from _change("precision", old.setup.dtype, new.setup.dtype)
    yield from _change("attention", old.setup.attention, new.setup.attention)
    yield from _change("CPU threads", str(old.setup.threads or ""), str(new.setup.threads or ""))
    yield from _change(
        "weights", _short(old.setup.weights_sha256), _short(new.setup.weights_sha256)
    )
    loras, others = old.setup.loras or {}, new.setup.loras or {}
    for name in sorted(loras.keys() & others.keys()):
        yield from _change(f'LoRA "{name}"', _short(loras[name]), _short(others[name]))
    yield from _change("code of Spatial Studio", _short(old.code_sha256), _short(new.code_sha256))


def _version(environment: Environment, library: str) -> str:
    return environment.libraries.get(library, "")


def _change(name: str, old: str, new: str) -> Iterator[str]:
    """Yield a description of a changed value; a value missing in either run is not a change."""
    if old and new and old != new:
        yield f"{name} ({old} then, {new} now)"


def _short(sha256: str) -> str:
    return sha256[:SHORT_HASH]
