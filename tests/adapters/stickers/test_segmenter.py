from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.stickers.segmenter import (
    StickerSegmenter,
    resolutions,
)
from spatialstudio.adapters.stickers.training.scenes import draw_scenes, paint
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from spatialstudio.domain.verdict import box_around
from tests.adapters.stickers.asking import mention_of, sure

SIDE = 128


@pytest.fixture(scope="module")
def segmenter():
    """The shipped segmenter."""
    return StickerSegmenter(WORLD_FOLDER.parent / "sticker-segmenter")


@pytest.fixture
def painted(cat_left_of_car):
    return paint(cat_left_of_car, SIDE)


def test_each_object_is_found_once_at_its_position(segmenter, painted):
    seen = segmenter.detect(painted.pixels, [mention_of("cat"), mention_of("car")])
    masks = sure(seen.masks)
    assert [mask.mention_id for mask in masks] == ["cat", "car"]
    overlaps = [
        (mask.pixels & truth).sum() / (mask.pixels | truth).sum()
        for mask, truth in zip(masks, painted.masks, strict=True)
    ]
    assert min(overlaps) > 0.7


def test_a_synonym_finds_the_same_object_under_its_own_name(segmenter, painted):
    (found,) = segmenter.detect(painted.pixels, [mention_of("kitten")]).detections
    assert found.label == "cat"


def test_absent_objects_are_not_found(segmenter, painted):
    seen = segmenter.detect(painted.pixels, [mention_of("zebra")])
    assert sure(seen.masks) == []


def test_an_unknown_word_is_reported(segmenter, painted):
    seen = segmenter.detect(painted.pixels, [mention_of("xylophone"), mention_of("cat")])
    assert seen.unknown_heads == ("xylophone",)
    assert {found.mention_id for found in seen.detections} == {"cat"}


def test_masks_have_the_size_of_the_picture(segmenter, painted):
    large = np.ascontiguousarray(painted.pixels.repeat(3, axis=0).repeat(2, axis=1))
    (mask,) = sure(segmenter.detect(large, [mention_of("car")]).masks)
    assert mask.pixels.shape == (3 * SIDE, 2 * SIDE)


def test_a_box_is_half_open():
    pixels = np.zeros((6, 8), dtype=bool)
    pixels[2:4, 3:7] = True
    box = box_around(pixels)
    assert (box.left, box.top, box.right, box.bottom) == (3, 2, 7, 4)


@pytest.mark.parametrize("side", [192, 256, 384])
def test_objects_drawn_in_the_trained_size_are_found_in_larger_pictures(
    segmenter, cat_left_of_car, side
):
    small = replace(
        cat_left_of_car,
        placements=tuple(
            replace(placement, size=placement.size * SIDE / side)
            for placement in cat_left_of_car.placements
        ),
    )
    painted = paint(small, side)
    seen = segmenter.detect(painted.pixels, [mention_of("cat"), mention_of("car")])
    masks = sure(seen.masks)
    assert [mask.mention_id for mask in masks] == ["cat", "car"]
    overlaps = [
        (mask.pixels & truth).sum() / (mask.pixels | truth).sum()
        for mask, truth in zip(masks, painted.masks, strict=True)
    ]
    assert min(overlaps) > 0.6


@pytest.mark.parametrize("side", [64, 96, 192, 256, 512])
def test_objects_that_grow_with_the_picture_are_found_once(segmenter, cat_left_of_car, side):
    painted = paint(cat_left_of_car, side)
    seen = segmenter.detect(painted.pixels, [mention_of("cat"), mention_of("car")])
    assert [mask.mention_id for mask in sure(seen.masks)] == ["cat", "car"]


@pytest.mark.parametrize(
    ("seed", "number"),
    [(90_001, 1), (90_001, 11), (777, 3)],
    ids=["bubbles in the sea", "snow", "edge of a large object"],
)
def test_an_enlarged_scene_has_no_additional_objects(segmenter, seed, number):
    scene = draw_scenes(number + 1, seed)[number]
    things = sticker_objects()
    asked = [mention_of(thing.name) for thing in things]
    seen = segmenter.detect(paint(scene, 512).pixels, asked)
    names = sorted(mask.mention_id for mask in sure(seen.masks))
    assert names == sorted(things[placement.number].name for placement in scene.placements)


@pytest.mark.parametrize(
    ("size", "sizes"),
    [
        ((64, 64), [(128, 128)]),
        ((128, 128), [(128, 128)]),
        ((192, 192), [(128, 128), (192, 192)]),
        ((256, 512), [(128, 256), (256, 512)]),
        ((4000, 4000), [(128, 128), (256, 256), (512, 512)]),
        ((10, 4000), [(128, 1024)]),
    ],
    ids=str,
)
def test_larger_pictures_are_segmented_in_finer_resolutions(size, sizes):
    assert resolutions(size, SIDE) == sizes
