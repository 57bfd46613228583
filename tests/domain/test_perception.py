import numpy as np
import pytest

from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import GenerationFinished, StepEvent
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Detection,
    Mask,
    Perception,
)

BOX = Box(left=2, top=4, right=8, bottom=7)


def detection(mention, score):
    return Detection(mention_id=mention, label=mention, score=score, box=BOX, detector_id="fake")


def mask(mention, score):
    pixels = np.ones((2, 2), dtype=bool)
    return Mask(mention_id=mention, pixels=pixels, score=score, source_id="fake")


@pytest.fixture
def perception():
    return Perception(
        image_sha256="",
        height=8,
        width=8,
        detections=(detection("cat", 0.3), detection("dog", 0.9), detection("cat", 0.7)),
        masks=(mask("cat", 0.3), mask("dog", 0.9), mask("cat", 0.7)),
    )


def test_a_box_knows_its_sides_and_middle():
    assert (BOX.width, BOX.height, BOX.area, BOX.center_xy) == (6, 3, 18, (5, 5.5))


def test_an_inverted_box_is_empty():
    assert Box(left=8, top=4, right=2, bottom=7).area == 0


def test_the_best_detection_of_a_mention_comes_first(perception):
    assert [found.score for found in perception.detections_of("cat")] == [0.7, 0.3]


def test_the_best_mask_of_a_mention_comes_first(perception):
    assert [found.score for found in perception.masks_of("cat")] == [0.7, 0.3]


def test_detections_of_equal_score_keep_their_order():
    first, second = detection("cat", 0.5), detection("cat", 0.5)
    perception = Perception(
        image_sha256="", height=8, width=8, detections=(first, second), masks=()
    )
    assert perception.detections_of("cat")[0] is first


@pytest.mark.parametrize(
    "hold",
    [
        lambda array: Mask(mention_id="cat", pixels=array > 0, score=1, source_id="fake").pixels,
        lambda array: DepthMap(values=array, estimator_id="fake").values,
        lambda array: AttentionSnapshot(maps={"cat": array}, layers=()).maps["cat"],
        lambda array: (
            StepEvent(
                request_id="r", step=0, total_steps=1, timestep=1, pos={}, preview=array
            ).preview
        ),
        lambda array: (
            GenerationFinished(request_id="r", image=array, seconds=1, peak_memory_bytes=1).image
        ),
    ],
    ids=["mask", "depth", "attention", "preview", "image"],
)
def test_a_shared_array_is_read_only(hold):
    held = hold(np.ones((2, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 0
