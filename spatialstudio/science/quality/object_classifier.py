"""A small convolutional classifier of single objects, in numpy.

It sees a square around a box with some of its surroundings. Four blocks of 3 x 3 convolution, batch
normalisation, ReLU and 2 x 2 maximum, then a linear layer and softmax.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Box

SIDE = 32
"""Width and height of a crop, pixels."""
MARGIN = 0.08
"""Room around the box, as a share of its longer side."""
EPSILON = 1e-5
"""Added to the variance by batch normalisation."""
BLOCK = 4
"""Number of layers of a block, in the names of the weights."""
BLOCKS = 4

Floats = npt.NDArray[np.float32]


@frozen(eq=False)
class ObjectClassifier:
    """Weights and classes of the classifier.

    Attributes:
        weights: By the names of the trained network: "0.weight", "1.running_mean", ...
        names: Class names, in the order of the outputs.
    """

    weights: Mapping[str, Floats]
    names: tuple[str, ...]

    def chances(self, image: RgbImage, box: Box) -> Floats:
        """Return the probability of each class for the object in a box, (classes,)."""
        values = (crop(image, box).transpose(2, 0, 1) / 127.5 - 1).astype(np.float32)
        for block in range(BLOCKS):
            values = _pooled(np.maximum(self._normalised(values, block * BLOCK), 0))
        scores = self._of(f"{BLOCKS * BLOCK + 1}.weight") @ values.ravel()
        scores = scores + self._of(f"{BLOCKS * BLOCK + 1}.bias")
        raised = np.exp(scores - scores.max())
        shares: Floats = raised / raised.sum()
        return shares

    def _normalised(self, values: Floats, layer: int) -> Floats:
        """Return values (channels, h, w) after convolution and batch normalisation."""
        padded = np.pad(values, ((0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
        found = np.einsum("chwij,ocij->ohw", windows, self._of(f"{layer}.weight"), optimize=True)
        mean, variance, scale, shift = (
            self._of(f"{layer + 1}.{name}")[:, None, None]
            for name in ("running_mean", "running_var", "weight", "bias")
        )
        normalised: Floats = (found - mean) / np.sqrt(variance + EPSILON) * scale + shift
        return normalised

    def _of(self, name: str) -> Floats:
        return self.weights[name].astype(np.float32)


def crop(image: RgbImage, box: Box) -> npt.NDArray[np.float64]:
    """Return a square around a box, (SIDE, SIDE, 3) in [0, 255]; the picture's edges are extended.

    Args:
        image: (H, W, 3) uint8.
        box: Pixels; its longer side sets the size of the square.
    """
    half = max(box.width, box.height) * (0.5 + MARGIN)
    x, y = box.center_xy
    height, width, _ = image.shape
    rows, columns = (_resampling(middle, half, size) for middle, size in ((y, height), (x, width)))
    found: npt.NDArray[np.float64] = np.einsum(
        "rh,hwc,sw->rsc", rows, image.astype(np.float64), columns, optimize=True
    )
    return found


def _resampling(middle: float, half: float, size: int) -> npt.NDArray[np.float64]:
    """Return (SIDE, size) weights of a triangular filter; positions outside count to the edge."""
    scale = 2 * half / SIDE
    reach = max(scale, 1.0)
    centres = middle - half + (np.arange(SIDE) + 0.5) * scale
    pad = int(half + reach) + 2
    positions = np.arange(-pad, size + pad) + 0.5
    weights = np.clip(1 - np.abs(positions - centres[:, None]) / reach, 0, None)
    weights /= weights.sum(1, keepdims=True)
    inside = weights[:, pad : pad + size].copy()
    inside[:, 0] += weights[:, :pad].sum(1)
    inside[:, -1] += weights[:, pad + size :].sum(1)
    return inside


def _pooled(values: Floats) -> Floats:
    """Return the maxima of 2 x 2 positions of (channels, h, w)."""
    channels, height, width = values.shape
    pooled: Floats = values.reshape(channels, height // 2, 2, width // 2, 2).max((2, 4))
    return pooled
