"""Mean attention over layers of different resolutions.

Unweighted means over layers, as over heads (``attention_maps``). Coarser maps are first upsampled
to the finest resolution by bilinear interpolation between cell centres, clamped at the borders.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Maps = npt.NDArray[np.float32]
"""(..., h, w), not negative."""


def mean_of_layers(layers: Sequence[Maps]) -> Maps:
    """Average maps of several layers.

    Args:
        layers: (..., h, w) each, equal except for h and w; at least one.

    Returns:
        (..., H, W) at the finest resolution.
    """
    height = max(layer.shape[-2] for layer in layers)
    width = max(layer.shape[-1] for layer in layers)
    total = sum(enlarged(layer, height, width) for layer in layers)
    return np.asarray(total / len(layers), np.float32)


def enlarged(maps: Maps, height: int, width: int) -> Maps:
    """Upsample maps, (..., h, w), to (..., height, width)."""
    if maps.shape[-2:] == (height, width):
        return maps
    down = _interpolation(maps.shape[-2], height)
    across = _interpolation(maps.shape[-1], width)
    return np.asarray(down @ maps @ across.T, np.float32)


def _interpolation(count: int, wanted: int) -> Maps:
    """Return (wanted, count) weights, each row summing to 1."""
    places = np.clip((np.arange(wanted) + 0.5) * count / wanted - 0.5, 0, count - 1)
    below = np.floor(places).astype(np.intp)
    above = np.minimum(below + 1, count - 1)
    weights = np.zeros((wanted, count), np.float32)
    rows = np.arange(wanted)
    np.add.at(weights, (rows, below), 1 - (places - below))
    np.add.at(weights, (rows, above), places - below)
    return weights
