import numpy as np
import pytest

from spatialstudio.domain.scene import MentionId, ObjectMention, Prompt, SceneGraph, TextSpan
from spatialstudio.domain.verdict import Box, Detection, Mask, Perception
from spatialstudio.science.checker.instances import (
    Region,
    measure_instances,
    merged_regions,
    separated,
    separated_regions,
    with_unsure_sizes,
)

SIDE = 96
GROUND = (90, 160, 90)


class Picture:
    """A picture of small houses, whose masks are what a detector of semantic regions sees."""

    def __init__(self):
        self.image = np.full((SIDE, SIDE, 3), GROUND, np.uint8)
        self.mask = np.zeros((SIDE, SIDE), bool)

    def add(self, top, left, wall=(200, 60, 50)):
        """Draw a house of 24 x 20 pixels with a roof, a door and a window."""
        rows, columns = np.mgrid[:24, :20]
        roof = (rows < 10) & (abs(columns - 9.5) <= rows + 0.5)
        walls = (rows >= 10) & (columns >= 2) & (columns < 18)
        area = self.image[top : top + 24, left : left + 20]
        area[roof] = (70, 60, 110)
        area[walls] = wall
        area[14:24, 4:8] = (240, 230, 200)
        area[13:17, 11:15] = (150, 200, 250)
        self.mask[top : top + 24, left : left + 20] |= roof | walls
        return self

    @property
    def region(self):
        return Region(pixels=self.mask, score=0.9, has_mask=True)


def block(top, left, bottom, right, score=0.9):
    pixels = np.zeros((SIDE, SIDE), bool)
    pixels[top:bottom, left:right] = True
    return Region(pixels=pixels, score=score, has_mask=True)


def test_one_object_stays_one():
    house = Picture().add(30, 30)
    assert [each.most for each in separated(house.region, house.image)] == [1]


@pytest.mark.parametrize("corner", [(30, 50), (54, 30), (42, 48)], ids=["side", "below", "corner"])
def test_touching_duplicates_are_separated(corner):
    houses = Picture().add(30, 30).add(*corner)
    parts = separated(houses.region, houses.image)
    assert len(parts) == 2
    assert all(abs(part.pixels.sum() - 320) < 60 for part in parts)


def test_overlapping_duplicates_are_separated():
    houses = Picture().add(30, 30).add(44, 44)
    assert len(separated(houses.region, houses.image)) == 2


def test_three_touching_duplicates_are_separated():
    houses = Picture().add(30, 10).add(30, 30).add(30, 50)
    assert len(separated(houses.region, houses.image)) == 3


def test_a_plain_rectangle_is_one_object():
    image = np.full((SIDE, SIDE, 3), GROUND, np.uint8)
    image[30:50, 20:60] = (200, 60, 50)
    book = block(30, 20, 50, 60)
    assert len(separated(book, image)) == 1


def test_parts_much_smaller_than_another_instance_are_not_instances():
    houses = Picture().add(10, 10).add(10, 30)
    whole = block(50, 10, 90, 60)
    assert len(separated_regions([houses.region, whole], houses.image)) == 2


def test_a_small_region_close_to_an_instance_may_be_a_part_of_it():
    shade, foot = block(10, 30, 50, 70), block(54, 46, 60, 54)
    (lamp,) = with_unsure_sizes([shade, foot], Picture().image)
    assert lamp.most == 2
    assert (lamp.pixels == (shade.pixels | foot.pixels)).all()


def test_two_close_regions_of_other_shapes_and_colours_may_be_one_object():
    canopy, sand = block(10, 20, 30, 60), block(36, 20, 50, 60)
    picture = Picture().image
    picture[canopy.pixels], picture[sand.pixels] = (200, 40, 40), (240, 200, 100)
    assert [each.most for each in with_unsure_sizes([canopy, sand], picture)] == [2]
    picture[sand.pixels] = (200, 40, 40)
    assert [each.most for each in with_unsure_sizes([canopy, sand], picture)] == [1, 1]


def test_a_larger_region_of_another_shape_may_be_several_objects():
    single, double, near = block(5, 5, 25, 15), block(40, 5, 60, 27), block(40, 50, 80, 70)
    picture = Picture().image
    marked = with_unsure_sizes([single, double, near], picture)
    assert sorted(each.most for each in marked) == [1, 1, 2]


def test_a_box_is_not_separated():
    houses = Picture().add(30, 30).add(30, 50)
    box = Region(pixels=houses.mask, score=0.9, has_mask=False)
    assert separated(box, houses.image) == [box]


def test_a_double_detection_is_merged():
    best, double = block(10, 10, 30, 30), block(12, 11, 31, 30, score=0.6)
    assert merged_regions([best, double]) == [best]


def test_a_detection_inside_another_is_a_part_of_it():
    body, head = block(10, 10, 50, 40), block(10, 10, 20, 20, score=0.8)
    assert merged_regions([body, head]) == [body]


def test_overlapping_instances_are_kept():
    near, far = block(10, 10, 30, 30), block(10, 22, 30, 42, score=0.8)
    assert merged_regions([near, far]) == [near, far]


def test_a_detection_of_a_group_is_dropped():
    flock = block(10, 10, 30, 70, score=0.95)
    birds = [block(10, left, 30, left + 20, score=0.8) for left in (10, 30, 50)]
    assert merged_regions([flock, *birds]) == birds


def test_only_mentions_with_a_count_or_colour_are_measured():
    houses = Picture().add(30, 20).add(30, 60)
    scene = SceneGraph(
        prompt=Prompt(text="two houses and a tree"),
        mentions=(
            ObjectMention(
                id=MentionId("m1"),
                phrase="two houses",
                head="house",
                is_plural=True,
                span=TextSpan(start=0, stop=10),
            ),
            ObjectMention(
                id=MentionId("m2"), phrase="tree", head="tree", span=TextSpan(start=17, stop=21)
            ),
        ),
        relations=(),
        extractor_id="test",
    )
    masks = [
        Mask(mention_id=name, pixels=houses.mask.copy(), score=0.9, source_id="fake")
        for name in ("m1", "m2")
    ]
    found = [
        Detection(
            mention_id=mask.mention_id,
            label="",
            score=0.9,
            box=Box(left=20, top=30, right=80, bottom=54),
            detector_id="fake",
        )
        for mask in masks
    ]
    seen = Perception(
        image_sha256="", height=SIDE, width=SIDE, detections=tuple(found), masks=tuple(masks)
    )
    instances = measure_instances(scene, seen, houses.image)
    assert [each.mention_id for each in instances] == ["m1", "m1"]
    assert [each.colours[0].term for each in instances] == ["red", "red"]
    assert measure_instances(scene, seen)[0].colours == ()
