"""The boxes of grounded objects; two objects get those of SpatialBench-UC (arXiv:2601.13462)."""

from dataclasses import replace

import pytest

from spatialstudio.domain.generation import GuidanceSettings, PlaceTarget
from spatialstudio.domain.scene import ABOVE, BELOW, IN_FRONT_OF, LEFT_OF, RIGHT_OF
from spatialstudio.science.guidance.methods.gligen import grounded_boxes
from tests.fakes import scene_of

LEFT, RIGHT = (0.05, 0.25, 0.35, 0.75), (0.65, 0.25, 0.95, 0.75)
TOP, BOTTOM = (0.25, 0.05, 0.75, 0.35), (0.25, 0.65, 0.75, 0.95)
SETTINGS = GuidanceSettings(method_id="gligen", strength=0.3)


def sides_of(scene, settings=SETTINGS):
    boxes = grounded_boxes(scene, settings)
    return {
        mention: pytest.approx((box.left, box.top, box.right, box.bottom))
        for mention, box in boxes.items()
    }


@pytest.mark.parametrize(
    ("relation", "subject", "other"),
    [
        (LEFT_OF, LEFT, RIGHT),
        (RIGHT_OF, RIGHT, LEFT),
        (ABOVE, TOP, BOTTOM),
        (BELOW, BOTTOM, TOP),
    ],
)
def test_two_objects_get_the_published_boxes(relation, subject, other):
    assert sides_of(scene_of(relation_type=relation)) == {"m1": subject, "m2": other}


def test_depth_and_muted_relations_give_no_box():
    scene = scene_of()
    muted = tuple(replace(each, is_muted=True) for each in scene.relations)
    assert sides_of(scene_of(relation_type=IN_FRONT_OF)) == {}
    assert sides_of(replace(scene, relations=muted)) == {}


def test_a_sketched_place_replaces_the_box_of_the_relation():
    sketched = replace(
        SETTINGS,
        targets=(PlaceTarget(mention_id="m2", x=0.9, y=0.5, size=0.4),),
        target_weight=1.0,
    )
    assert sides_of(scene_of(), sketched) == {"m1": LEFT, "m2": (0.7, 0.3, 1.0, 0.7)}
