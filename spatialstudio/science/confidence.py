"""Confidence of a verdict: a weighted geometric mean of four components.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code. It is confidence in the
answer given, FAIL included, not a probability.
"""

from collections.abc import Sequence
from math import prod

import numpy as np

from spatialstudio.domain.verdict import ConfidenceComponents
from spatialstudio.science.arrays import FloatArray

_EPSILON = 1e-10


def confidence(
    components: ConfidenceComponents, weights: tuple[float, float, float, float]
) -> float:
    """Combine the components.

    Args:
        components: Each in [0, 1].
        weights: Exponents of detection, geometry, stability, agreement.

    Returns:
        [0, 1].
    """
    values = (
        components.detection,
        components.geometry,
        components.stability,
        components.agreement,
    )
    weighted = ((value + _EPSILON) ** weight for value, weight in zip(values, weights, strict=True))
    return min(prod(weighted), 1.0)


def confidences(
    components: Sequence[FloatArray], weights: tuple[float, float, float, float]
) -> FloatArray:
    """Combine the components of many verdicts.

    Args:
        components: (records,) each, in [0, 1]: detection, geometry, stability, agreement.
        weights: As for ``confidence``.

    Returns:
        (records,) [0, 1].
    """
    stacked = np.stack(components, -1)
    return ((stacked + _EPSILON) ** np.array(weights)).prod(-1).clip(None, 1.0)


def detection_component(scores: Sequence[float]) -> float:
    """Return the geometric mean of the detection scores."""
    return prod(scores) ** (1 / len(scores))


def geometry_component(offset: float, margin: float, slope: float) -> float:
    """Return how far an offset clears the undecidable band, 1 at ``slope`` beyond it."""
    return min(max((abs(offset) - margin) / slope, 0.0), 1.0)
