from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from spatialstudio.adapters.perception.perception_cache import PerceptionFiles
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, perceive_image
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.scene import IN_FRONT_OF
from spatialstudio.domain.verdict import DepthMap, Mask
from tests.fakes import CountingToken, FakeDepth, FakeDetector, scene_of

PICTURE = np.full((16, 16, 3), 100, np.uint8)


@dataclass
class BoxDetector(FakeDetector):
    """Sees what the fake sees, draws no masks, and counts how often it looks."""

    id: str = "boxes"
    signature: str = "boxes 1"
    looks: int = 0

    def detect(self, image, mentions):
        self.looks += 1
        return replace(super().detect(image, mentions), masks=(), cut=0.4)


@dataclass
class FakeSegmenter:
    """Fills every box, or gives masks of a size of its own."""

    id: str = "filler"
    signature: str = "filler 1"
    size: tuple[int, int] = (16, 16)
    asked: int = 0

    def segment(self, image, detections):
        self.asked += 1
        return tuple(
            Mask(
                mention_id=found.mention_id,
                pixels=np.ones(self.size, bool),
                score=found.score,
                source_id=self.id,
            )
            for found in detections
        )


class CarelessDepth(FakeDepth):
    """Gives depth of another size than the picture."""

    def estimate(self, image):
        return DepthMap(values=np.zeros((3, 3), np.float32), estimator_id=self.id)


@dataclass
class FakeStore:
    kept: dict = field(default_factory=dict)

    def find(self, key):
        return self.kept.get(key)

    def keep(self, key, perception):
        self.kept[key] = perception


def judges(**changes):
    known = {"detector": BoxDetector(), "depth": FakeDepth(signature="d"), "store": FakeStore()}
    return JudgeSet(**{**known, **changes})


def perceived(who, picture=PICTURE, scene=None, **options):
    return perceive_image(picture, scene or scene_of(), who, CountingToken(), **options)


def test_a_segmenter_adds_masks_to_a_detector_without_them():
    segmenter = FakeSegmenter()
    perception = perceived(judges(segmenter=segmenter))
    assert segmenter.asked == 1
    assert [mask.source_id for mask in perception.masks] == ["filler", "filler"]


def test_a_detector_that_draws_masks_keeps_its_own():
    segmenter = FakeSegmenter()
    perception = perceived(judges(detector=FakeDetector(), segmenter=segmenter))
    assert segmenter.asked == 0
    assert {mask.source_id for mask in perception.masks} == {"fake-detector"}


def test_without_masks_the_segmenter_is_not_called():
    segmenter = FakeSegmenter()
    assert perceived(judges(segmenter=segmenter), draws_masks=False).masks == ()
    assert segmenter.asked == 0


@pytest.mark.parametrize(
    ("changes", "scene", "telling"),
    [
        ({"segmenter": FakeSegmenter(size=(3, 3))}, scene_of(), "filler"),
        ({"depth": CarelessDepth()}, scene_of(relation_type=IN_FRONT_OF), "fake-depth"),
    ],
    ids=["masks", "depth"],
)
def test_results_that_do_not_fit_the_picture_are_rejected_by_name(changes, scene, telling):
    with pytest.raises(DetectorError, match=telling):
        perceived(judges(**changes), scene=scene)


def test_a_picture_is_perceived_once():
    who = judges()
    first = perceived(who)
    assert perceived(who) is first
    assert who.detector.looks == 1


def coloured(scene, *colours):
    mentions = (
        replace(each, phrase=f"{colour} {each.head}", attributes=(colour,))
        for each, colour in zip(scene.mentions, colours, strict=True)
    )
    return replace(scene, mentions=tuple(mentions))


@pytest.mark.parametrize(
    "later",
    [
        {"picture": PICTURE + 1},
        {"picture": PICTURE.reshape(8, 32, 3)},
        {"scene": scene_of("cat")},
        {"scene": coloured(scene_of(), "red", "blue")},
        {"scene": scene_of(relation_type=IN_FRONT_OF)},
        {"draws_masks": False},
    ],
    ids=["another picture", "another shape", "another thing", "colours", "depth", "without masks"],
)
def test_a_cached_perception_is_not_used_for_another_picture(later):
    who = judges()
    perceived(who)
    perceived(who, **later)
    assert who.detector.looks == 2


@pytest.mark.parametrize(
    "changes",
    [{"segmenter": FakeSegmenter()}, {"detector": BoxDetector(signature="boxes 2")}],
    ids=["a segmenter", "another detector"],
)
def test_a_cached_perception_of_another_model_is_not_used(changes):
    who = judges()
    perceived(who)
    perceived(replace(who, **changes))
    assert len(who.store.kept) == 2


def test_a_cached_perception_names_its_detector(tmp_path):
    who = judges(store=PerceptionFiles(tmp_path))
    assert [perceived(who).detector_id for _ in range(2)] == ["boxes", "boxes"]
    assert who.detector.looks == 1


def test_a_model_without_a_cache_key_runs_each_time():
    who = judges(detector=BoxDetector(signature=""))
    perceived(who)
    perceived(who)
    assert who.detector.looks == 2


def test_the_threshold_changes_without_another_detection():
    who = judges()
    assert perceived(who).cut == 0.4
    strict = perceived(replace(who, cut=0.95))
    assert who.detector.looks == 1
    assert len(strict.detections) == 2
    assert strict.detections_of(strict.detections[0].mention_id) == ()


def test_the_second_detector_has_a_separate_threshold():
    who = judges(second=BoxDetector(id="second"), cut=0.95)
    assert perceived(who.with_second_detector).cut == 0.4
    assert judges().with_second_detector is None


def test_without_a_depth_estimator_the_depth_stays_unknown():
    scene = scene_of(relation_type=IN_FRONT_OF)
    assert perceived(judges(depth=None), scene=scene).depth is None
    assert perceived(judges(), scene=scene).depth is not None
