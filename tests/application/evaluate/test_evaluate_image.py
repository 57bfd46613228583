from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.inspect.inspection import judged_again
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import Cancelled, DetectorError
from spatialstudio.domain.ports import Seen
from spatialstudio.domain.scene import IN_FRONT_OF, LEFT_OF
from spatialstudio.domain.verdict import (
    REPRODUCE,
    AbstentionReason,
    Outcome,
)
from tests.fakes import CountingToken, FakeDepth, FakeDetector, counted_scene, scene_of

PICTURE = np.full((16, 16, 3), 100, np.uint8)
BROKEN = FakeDetector(error=DetectorError("The model is damaged."))


@dataclass
class CountingDetector(FakeDetector):
    """Sees what the fake sees, but only in pictures of their first brightness."""

    brightness: list[int] = field(default_factory=list)

    def detect(self, image, mentions):
        self.brightness.append(int(image.max()))
        return super().detect(image, mentions) if image.max() == 100 else Seen(detections=())


def judges(detector=None, **more):
    known = {"detector": detector or FakeDetector(), "depth": FakeDepth()}
    return JudgeSet(**known, perturber=PillowPerturber(), **more)


def evaluated(who, scene=None, settings=REPRODUCE):
    return evaluate_image(PICTURE, scene or scene_of(), who, CountingToken(), settings)


def test_a_verdict_is_tested_by_four_perturbations():
    detector = CountingDetector()
    evaluation = evaluated(judges(detector))
    assert detector.brightness == [100, 110, 90, 100, 100]
    assert evaluation.verdicts[0].components.stability == 0.5 * 0.5 + 0.5
    assert len(evaluation.looks.perturbed) == 4


def test_counts_and_colours_are_judged_beside_the_relation():
    evaluation = evaluated(judges(), counted_scene())
    assert [verdict.outcome for verdict in evaluation.verdicts] == [
        verdict.outcome for verdict in evaluated(judges()).verdicts
    ]
    count, colour = evaluation.mention_verdicts
    assert (count.words, count.outcome, count.count) == ("three", Outcome.FAIL, 1)
    assert (colour.words, colour.outcome) == ("blue", Outcome.FAIL)
    assert evaluation.outcome is Outcome.FAIL


def test_a_prompt_without_counts_and_colours_has_no_instances():
    evaluation = evaluated(judges())
    assert (evaluation.instances, evaluation.mention_verdicts) == ((), ())


def test_an_evaluation_of_an_earlier_version_is_judged_again_with_its_counts():
    scene = counted_scene()
    old = replace(evaluated(judges(), scene), instances=(), mention_verdicts=())
    run = OpenRun(id="old", scene=scene, image=PICTURE, evaluation=old)
    again = judged_again(run, REPRODUCE).evaluation
    assert [each.words for each in again.mention_verdicts] == ["three", "blue"]
    assert again.verdicts == old.verdicts


def test_without_perturbations_stability_is_not_tested():
    evaluation = evaluated(judges(), settings=replace(REPRODUCE, perturbations=()))
    assert evaluation.looks.perturbed == ()
    assert evaluation.verdicts[0].components.stability == 1


def test_without_a_measurement_nothing_is_tested():
    detector = CountingDetector()
    evaluation = evaluate_image(PICTURE // 2, scene_of(), judges(detector), CountingToken())
    assert evaluation.verdicts[0].reason is AbstentionReason.MISSING_OBJECT
    assert detector.brightness == [50]


def test_a_second_detector_runs_once():
    second = CountingDetector()
    evaluation = evaluated(judges(second=second))
    assert second.brightness == [100]
    assert evaluation.verdicts[0].components.agreement == 1


def test_a_second_detector_that_fails_is_ignored():
    evaluation = evaluated(judges(second=BROKEN))
    assert evaluation.verdicts[0].outcome is Outcome.PASS
    assert evaluation.verdicts[0].components.agreement == 0.5


def test_a_first_detector_that_fails_is_reported():
    with pytest.raises(DetectorError):
        evaluated(judges(BROKEN))


def test_depth_is_estimated_for_depth_relations():
    evaluation = evaluated(judges(), scene_of(relation_type=IN_FRONT_OF))
    assert evaluation.verdicts[0].outcome is Outcome.PASS
    assert evaluated(judges()).perception.depth is None


@pytest.mark.parametrize(("kind", "count"), [(LEFT_OF, 0), (IN_FRONT_OF, 2)])
def test_perturbed_pictures_keep_their_masks_for_depth_only(kind, count):
    looks = evaluated(judges(second=FakeDetector()), scene_of(relation_type=kind)).looks
    assert {len(look.masks) for look in (*looks.perturbed, looks.second)} == {count}


def test_the_settings_are_recorded_and_assertions_scored():
    evaluation = evaluated(judges())
    assert evaluation.checker.preset == "reproduce"
    assert evaluation.da_score.value == pytest.approx((0.9 + 0.9 + 0.81) / 3)


@pytest.mark.parametrize("stop_at", [1, 2, 4], ids=["at once", "before depth", "while testing"])
def test_judging_can_be_cancelled(stop_at):
    with pytest.raises(Cancelled):
        evaluate_image(PICTURE, scene_of(), judges(), CountingToken(stop_at=stop_at))


def test_each_perception_is_reported():
    told = []
    evaluate_image(
        PICTURE, scene_of(), judges(), CountingToken(), looked=lambda *far: told.append(far)
    )
    assert told == [(0, 0), (0, 4), (1, 4), (2, 4), (3, 4)]
