"""What is in sight of a picture stays within it, and under the pointer when it is zoomed."""

import pytest
from PySide6.QtCore import QPointF, QRectF

from spatialstudio.ui.widgets.picture_region import (
    CLOSEST,
    NOTCH,
    WHOLE,
    dragged,
    zoomed,
)

FRAME = QRectF(100, 50, 200, 100)


def share_under(region, place):
    """Return which place of the picture lies at a place of the frame, across."""
    return region.left() + region.width() * (place.x() - FRAME.left()) / FRAME.width()


def test_the_point_under_the_pointer_stays_in_place():
    place = QPointF(150, 75)
    nearer = zoomed(WHOLE, NOTCH, place, FRAME)
    assert nearer.width() == pytest.approx(0.8)
    assert share_under(nearer, place) == pytest.approx(share_under(WHOLE, place))


def test_there_is_a_nearest_and_a_farthest():
    centre = FRAME.center()
    assert zoomed(WHOLE, 100 * NOTCH, centre, FRAME).width() == CLOSEST
    assert zoomed(QRectF(0.2, 0.2, 0.5, 0.5), -100 * NOTCH, centre, FRAME) == WHOLE


@pytest.mark.parametrize(("by", "left"), [(-100, 0.625), (100, 0.375), (-2000, 0.75), (2000, 0.0)])
def test_it_is_dragged_as_far_as_its_edges(by, left):
    region = QRectF(0.5, 0.5, 0.25, 0.25)
    moved = dragged(region, QPointF(by, 0), FRAME)
    assert moved.left() == pytest.approx(left)
    assert moved.size() == region.size()
