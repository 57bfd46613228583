"""What attention maps say: their isolines, their scale, one place of them, all of it in words."""

from collections.abc import Iterable, Mapping

import numpy as np

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import MapScale
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId
from spatialstudio.science.isolines import Segments, isolines, mass_level

MASS_SHARES = (0.5, 0.8)
"""Shares of a map's mass that its isolines enclose."""

PERCENT = 100

Maps = Mapping[MentionId, FloatMap]
"""Word to (h, w), not negative."""


@frozen(eq=False)
class Isoline:
    """The line around the strongest positions that hold a share of a map's mass.

    Attributes:
        share: Of the mass, (0, 1].
        pieces: (n, 2, 2) from and to, x and y as shares of the picture's sides.
    """

    share: float
    pieces: Segments


@frozen
class PlaceReading:
    """One position of a map.

    Attributes:
        value: As it is, not negative.
        share: Of the map's mass, [0, 1].
    """

    value: float
    share: float


def isolines_of(weights: FloatMap) -> tuple[Isoline, ...]:
    """Return the lines that enclose ``MASS_SHARES`` of a map, (h, w); none of an empty one."""
    levels = ((share, mass_level(weights, share)) for share in MASS_SHARES)
    return tuple(
        Isoline(share=share, pieces=isolines(weights, level))
        for share, level in levels
        if level > 0
    )


def top_of(weights: FloatMap, scale: MapScale, peak: float) -> float:
    """Return the value of a map that is drawn in full colour.

    Args:
        weights: (h, w), not negative.
        scale: How it is chosen.
        peak: Of all maps that share one scale; see ``peak_of``.
    """
    match scale:
        case MapScale.PER_MAP:
            return float(weights.max(initial=0.0))
        case MapScale.SHARED:
            return peak
        case MapScale.ABSOLUTE:
            return 1.0


def difference_of(first: Maps, second: Maps) -> Maps:
    """Return how far some maps are above others; those of one side or of two sizes are left out.

    Args:
        first: Word to (h, w).
        second: Likewise, of another run.

    Returns:
        Word to (h, w), below zero where the second is higher.
    """
    return {
        word: weights - second[word]
        for word, weights in first.items()
        if word in second and second[word].shape == weights.shape
    }


def peak_of(runs: Iterable[OpenRun]) -> float:
    """Return the highest value of all maps of all readings of some runs; 0 without any."""
    maps = (
        weights
        for run in runs
        for event in run.steps
        for attention in (event.attention, event.attention_after)
        if attention is not None
        for weights in attention.maps.values()
    )
    return max((float(weights.max(initial=0.0)) for weights in maps), default=0.0)


def reading_at(weights: FloatMap, x: float, y: float) -> PlaceReading:
    """Read a map where a picture is pointed at.

    Args:
        weights: (h, w), not negative.
        x: Share of the width, [0, 1].
        y: Share of the height, [0, 1].
    """
    height, width = weights.shape
    value = float(weights[min(int(y * height), height - 1), min(int(x * width), width - 1)])
    mass = float(weights.sum())
    return PlaceReading(value=value, share=value / mass if mass > 0 else 0.0)


def map_in_words(phrase: str, weights: FloatMap) -> str:
    """Say what a map shows: its peak, where that is, and how small half of its mass is.

    Args:
        phrase: The word.
        weights: (h, w), not negative.
    """
    peak = float(weights.max(initial=0.0))
    if peak <= 0:
        return f"The map of {phrase} is empty."
    row, column = np.unravel_index(int(weights.argmax()), weights.shape)
    height, width = weights.shape
    across, down = (column + 0.5) / width * PERCENT, (row + 0.5) / height * PERCENT
    half = float((weights >= mass_level(weights, MASS_SHARES[0])).mean()) * PERCENT
    return (
        f"The map of {phrase} peaks at {peak:.3f}, {across:.0f} % from the left and {down:.0f} % "
        f"from the top; half of its mass lies on {half:.0f} % of the picture."
    )
