"""Tests of the colour detector."""

import numpy as np
import pytest
from colour_detector import ColourDetector

from spatialstudio.plugin_api import MentionId, ObjectMention, TextSpan

PICTURE = np.full((100, 100, 3), 128, np.uint8)
PICTURE[20:40, 10:30] = (220, 30, 30)
PICTURE[60:90, 60:90] = (20, 40, 230)


def thing(phrase):
    *attributes, head = phrase.split()
    span = TextSpan(start=0, stop=len(phrase))
    return ObjectMention(
        id=MentionId(phrase), phrase=phrase, head=head, attributes=tuple(attributes), span=span
    )


def test_each_colour_is_found_where_it_is():
    seen = ColourDetector().detect(PICTURE, [thing("red square"), thing("blue square")])
    red, blue = seen.detections
    assert red.box.center_xy == pytest.approx((20, 30), abs=1)
    assert blue.box.center_xy == pytest.approx((75, 75), abs=1)
    assert min(red.score, blue.score) > 0.9
    assert [mask.pixels.sum() for mask in seen.masks] == [400, 900]


def test_absent_objects_are_not_found():
    assert ColourDetector().detect(PICTURE, [thing("green square")]).detections == ()


def test_an_object_without_a_colour_is_unknown():
    seen = ColourDetector().detect(PICTURE, [thing("square")])
    assert (seen.detections, seen.unknown_heads) == ((), ("square",))


def test_scattered_pixels_do_not_count():
    picture = PICTURE.copy()
    picture[::9, ::9] = (30, 200, 30)
    (found,) = ColourDetector().detect(picture, [thing("green square")]).detections
    assert found.score < 0.5
