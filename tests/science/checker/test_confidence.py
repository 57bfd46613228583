import pytest

from spatialstudio.domain.verdict import CheckerSettings, ConfidenceComponents
from spatialstudio.science.checker.confidence import (
    confidence,
    detection_component,
    geometry_component,
)

WEIGHTS = CheckerSettings().weights


def components(detection=1.0, geometry=1.0, stability=1.0, agreement=1.0):
    return ConfidenceComponents(
        detection=detection, geometry=geometry, stability=stability, agreement=agreement
    )


def test_a_verdict_with_full_components_has_full_confidence():
    assert confidence(components(), WEIGHTS) == 1


def test_one_component_at_zero_removes_nearly_all_confidence():
    assert 0 < confidence(components(geometry=0), WEIGHTS) < 2e-3


@pytest.mark.parametrize("weak", ["detection", "geometry", "stability", "agreement"])
def test_each_component_counts_by_its_weight(weak):
    weight = dict(zip(ConfidenceComponents.__slots__, WEIGHTS, strict=True))[weak]
    assert confidence(components(**{weak: 0.5}), WEIGHTS) == pytest.approx(0.5**weight)


@pytest.mark.parametrize(
    ("scores", "expected"), [((0.4, 0.9), 0.6), ((0.5, 0.5), 0.5), ((1, 0.5, 0.25), 0.5)]
)
def test_detection_is_the_geometric_mean_of_the_scores(scores, expected):
    assert detection_component(scores) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("offset", "expected"),
    [(0.05, 0), (0.1, 0), (0.175, 0.5), (-0.175, 0.5), (0.25, 1), (0.9, 1)],
)
def test_geometry_grows_from_the_margin_to_the_slope(offset, expected):
    assert geometry_component(offset, margin=0.1, slope=0.15) == pytest.approx(expected)
