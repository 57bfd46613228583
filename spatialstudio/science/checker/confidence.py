"""Confidence of a verdict: a weighted geometric mean of four components.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code. It is the confidence in the
outcome, FAIL included, not a probability.
"""

from collections.abc import Sequence
from math import prod
from statistics import mean

import numpy as np

from spatialstudio.domain.scene import Relation
from spatialstudio.domain.verdict import (
    CheckerSettings,
    ConfidenceComponents,
    Outcome,
    Perception,
    StabilityMeasure,
)
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.checker.measurement import (
    BoxMeasurement,
    intersection_over_union,
    measure_relation,
)

_EPSILON = 1e-10


def confidence(
    components: ConfidenceComponents, weights: tuple[float, float, float, float]
) -> float:
    """Combine the components into a confidence.

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
    """Combine the components of many verdicts into confidences.

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
    """Return the distance of an offset from the undecidable band over ``slope``, [0, 1]."""
    return min(max((abs(offset) - margin) / slope, 0.0), 1.0)


_HALF = 0.5
_NOT_SEEN = 0.5


def stability_of(
    relation: Relation,
    first: BoxMeasurement,
    perturbed: Sequence[Perception | None],
    settings: CheckerSettings,
) -> float:
    """Compute the stability of a decided relation under perturbations.

    Args:
        relation: The relation.
        first: The measurement on the unchanged image.
        perturbed: Perception of each perturbed image, at least one; None where it failed.
        settings: Thresholds and the stability measure.

    Returns:
        [0, 1]; a missing object counts as a changed answer.
    """
    measured_relations = [look and measure_relation(relation, look, settings) for look in perturbed]
    seen = [measured_relation for measured_relation in measured_relations if measured_relation]
    equal_answers = sum(
        measured_relation.outcome is first.outcome for measured_relation in seen
    ) / len(measured_relations)
    if settings.stability_measure is StabilityMeasure.ANSWERS:
        return equal_answers
    if not seen:
        return 0.0
    overlap = mean(mean(_overlaps(first, measured_relation)) for measured_relation in seen)
    return _HALF * equal_answers + _HALF * overlap


def agreement_of(outcome: Outcome, first: BoxMeasurement, second: BoxMeasurement | None) -> float:
    """Compute the agreement of a second detector.

    Args:
        outcome: The first detector's outcome, abstention included.
        first: The measurement from the first detector.
        second: The measurement from the second detector; None when it misses an object or failed.

    Returns:
        [0, 1]; one half without a measurement from the second detector.
    """
    if second is None:
        return _NOT_SEEN
    same_answer = second.outcome is outcome
    same_side = first.reading.offset * second.reading.offset >= 0
    agreement = _HALF * (_HALF * same_answer + _HALF * same_side)
    overlaps = _overlaps(first, second)
    for overlap in overlaps:  # NOTE: summation order of the source, for bit-exact results
        agreement += _HALF / len(overlaps) * overlap
    return agreement


def _overlaps(first: BoxMeasurement, second: BoxMeasurement) -> list[float]:
    pairs = zip(first.boxes, second.boxes, strict=True)
    return [intersection_over_union(*pair) for pair in pairs]
