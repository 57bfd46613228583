import numpy as np
import pytest

from spatialstudio.adapters.stickers.scenes import paint
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter, box_around
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER
from tests.adapters.stickers.asking import mention_of, sure

SIDE = 128


@pytest.fixture(scope="module")
def segmenter():
    """The shipped segmenter."""
    return StickerSegmenter(WORLD_FOLDER.parent / "sticker-segmenter")


@pytest.fixture
def painted(cat_left_of_car):
    return paint(cat_left_of_car, SIDE)


def test_each_object_is_found_once_where_it_is(segmenter, painted):
    seen = segmenter.detect(painted.pixels, [mention_of("cat"), mention_of("car")])
    masks = sure(seen.masks)
    assert [mask.mention_id for mask in masks] == ["cat", "car"]
    overlaps = [
        (mask.pixels & truth).sum() / (mask.pixels | truth).sum()
        for mask, truth in zip(masks, painted.masks, strict=True)
    ]
    assert min(overlaps) > 0.7


def test_a_synonym_finds_the_same_and_is_told_by_its_own_name(segmenter, painted):
    (found,) = segmenter.detect(painted.pixels, [mention_of("kitten")]).detections
    assert found.label == "cat"


def test_what_is_not_there_is_not_found(segmenter, painted):
    seen = segmenter.detect(painted.pixels, [mention_of("zebra")])
    assert sure(seen.masks) == []


def test_a_strange_word_is_told(segmenter, painted):
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
