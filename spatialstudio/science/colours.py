"""Basic colour terms of an object's pixels, by the nearest focal colour in CIELAB.

The eleven terms are those of Berlin and Kay 1969; the focal colours are ours, several for each term
with its shades.
"""

from collections.abc import Collection, Mapping

import numpy as np

from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.science.arrays import FloatArray

FOCAL_COLOURS: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "black": ((5, 0, 0), (15, 2, -2)),
    "white": ((98, 0, 0), (94, 0, 2)),
    "grey": ((35, 0, 0), (50, 0, 0), (65, 0, -2), (80, 0, 0)),
    "red": ((53, 80, 67), (45, 65, 40), (32, 52, 35), (52, 68, 35), (62, 58, 46)),
    "orange": ((67, 43, 74), (75, 24, 79), (62, 56, 62), (64, 34, 52)),
    "yellow": ((97, -21, 94), (88, -2, 86), (84, 2, 70), (90, -8, 50)),
    "green": (
        (88, -86, 83),
        (46, -52, 50),
        (60, -45, 35),
        (30, -25, 22),
        (76, -38, 40),
        (50, -8, 30),
    ),
    "blue": (
        (32, 79, -108),
        (45, 15, -55),
        (60, -8, -35),
        (78, -18, -22),
        (22, 20, -42),
        (13, 48, -65),
        (88, -35, -8),
    ),
    "purple": ((30, 58, -37), (45, 45, -45), (60, 40, -35), (40, 30, -25), (40, 76, -70)),
    "pink": ((76, 40, 2), (65, 62, -6), (84, 24, 4), (60, 75, 5), (60, 98, -61)),
    "brown": ((37, 26, 36), (45, 20, 30), (30, 15, 20), (55, 14, 26), (24, 12, 14)),
}
"""CIELAB (L*, a*, b*) of each colour term's focal colours."""

MOST_PIXELS = 20_000
"""Pixels of an object that are looked up; of a larger object a regular sample."""

_NAMES = tuple(name for name, shades in FOCAL_COLOURS.items() for _ in shades)
_SHADES = np.array([shade for shades in FOCAL_COLOURS.values() for shade in shades], np.float64)

_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE_XYZ = np.array([0.95047, 1.0, 1.08883])
_SRGB_KNEE = 0.04045
_LAB_KNEE = (6 / 29) ** 3


def colour_chance(shares: Mapping[str, float], terms: Collection[str]) -> float:
    """Return the predominance of accepted colour terms in an object.

    Args:
        shares: Share of the object's pixels by term, as from ``colour_shares``.
        terms: The accepted terms, of the eleven.

    Returns:
        [0, 1]: the share of the accepted terms over the sum with the largest share of another term.
    """
    own = sum(shares[term] for term in terms if term in shares)
    strongest_other = max((shares[term] for term in shares if term not in terms), default=0.0)
    return own / (own + strongest_other) if own > 0 else 0.0


def colour_shares(image: RgbImage, mask: BoolMask) -> dict[str, float]:
    """Return each term's share of an object's pixels.

    Args:
        image: (H, W, 3) uint8.
        mask: (H, W) bool, not empty.

    Returns:
        Shares in [0, 1] by term; they sum to 1.
    """
    pixels = image[mask]
    sample = pixels[:: max(len(pixels) // MOST_PIXELS, 1)]
    shades, counts = np.unique(sample, axis=0, return_counts=True)
    lab = lab_of(shades.astype(np.float64) / 255)
    distances = np.linalg.norm(lab[:, None] - _SHADES, axis=-1)
    weights = np.bincount(distances.argmin(1), counts, len(_NAMES)) / counts.sum()
    shares = dict.fromkeys(FOCAL_COLOURS, 0.0)
    for name, weight in zip(_NAMES, weights, strict=True):
        shares[name] += float(weight)
    return shares


def lab_of(srgb: FloatArray) -> FloatArray:
    """Convert sRGB, (..., 3) in [0, 1], to CIELAB, (..., 3) L* a* b*, white point D65."""
    linear = np.where(srgb <= _SRGB_KNEE, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    ratios = linear @ _TO_XYZ.T / _WHITE_XYZ
    curved = np.where(ratios > _LAB_KNEE, np.cbrt(ratios), ratios * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = np.moveaxis(curved, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)
