"""Which pixels of a repaired picture are redrawn, and the picture composed of both."""

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.repair import ROUNDING, LocalRepair


def redrawn_share(repair: LocalRepair, height: int, width: int) -> FloatMap:
    """Return the share of the new picture in each pixel of a repaired picture.

    Args:
        repair: The repair.
        height: Of the picture, pixels.
        width: Of the picture, pixels.

    Returns:
        (H, W), in [0, 1]: 0 outside the regions, 1 inside beyond the feather.
    """
    feather = max(repair.feather * min(height, width), 1.0)
    shares = [
        np.minimum(
            _ramp(region.y, region.bottom, height, feather)[:, None],
            _ramp(region.x, region.right, width, feather)[None],
        )
        for region in repair.regions
    ]
    return np.max(shares, axis=0).astype(np.float32)


def _ramp(start: float, stop: float, side: int, feather: float) -> npt.NDArray[np.float64]:
    """Return (side,) shares along one axis: distance from the nearest inner edge, over feather."""
    centres = np.arange(side) + 0.5
    endless = np.full(side, np.inf)
    before = endless if start <= ROUNDING else centres - start * side
    after = endless if stop >= 1 - ROUNDING else stop * side - centres
    distance = np.minimum(before, after)
    return np.where(distance > 0, np.clip((distance + 0.5) / feather, 0, 1), 0.0)


def composed(start: RgbImage, redrawn: RgbImage, share: FloatMap) -> RgbImage:
    """Return the repaired picture, equal to the start where the share is 0.

    Args:
        start: (H, W, 3) uint8.
        redrawn: (H, W, 3) uint8.
        share: (H, W) of the redrawn picture, [0, 1].
    """
    weight = share[..., None]
    mixed: RgbImage = np.rint(start * (1 - weight) + redrawn * weight).astype(np.uint8)
    return mixed
