from dataclasses import replace

import pytest

from spatialstudio.domain.scene import (
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import (
    REPRODUCE,
    AbstentionReason,
    Adjustment,
    Evaluation,
    Looks,
    Outcome,
)
from spatialstudio.science.checker.decide import decide, decide_adjusted
from tests.science.seen_things import masked, perception, relation, seen

SURE, RIVAL = seen("dog", 20, 50, 0.81), seen("dog", 80, 50, 0.78)
UNSURE, TINY = seen("dog", 20, 50, 0.15), seen("dog", 20, 50, 0.9, size=4)
CAR = seen("car", 50, 50)


def scene():
    span = TextSpan(start=0, stop=1)
    mentions = tuple(
        ObjectMention(id=name, phrase=name, head=name, span=span) for name in ("dog", "car")
    )
    return SceneGraph(
        prompt=Prompt(text="dog left of car"),
        mentions=mentions,
        relations=(relation(),),
        extractor_id="fake",
    )


def judged(*detections, looks=None, **more):
    picture = perception(*detections, **more)
    looks = looks or Looks()
    return Evaluation(
        perception=picture, verdicts=decide(scene(), picture, REPRODUCE, looks), looks=looks
    )


def adjusted(evaluation, *choices, **settings):
    adjustment = Adjustment(checker=replace(REPRODUCE, **settings), choices=choices)
    return decide_adjusted(evaluation, scene(), adjustment)


def test_without_a_change_the_verdict_stays():
    evaluation = judged(SURE, CAR)
    assert adjusted(evaluation).verdicts == evaluation.verdicts


def test_a_wider_margin_makes_the_verdict_undecidable():
    (verdict,) = adjusted(judged(SURE, CAR), margin=0.35).verdicts
    assert verdict.reason is AbstentionReason.NEAR_BOUNDARY


@pytest.mark.parametrize(
    ("choice", "outcome"), [(SURE, Outcome.PASS), (RIVAL, Outcome.FAIL)], ids=["left", "right"]
)
def test_choosing_an_instance_resolves_the_ambiguity(choice, outcome):
    evaluation = judged(SURE, RIVAL, CAR)
    assert evaluation.verdicts[0].reason is AbstentionReason.AMBIGUOUS_OBJECT
    assert adjusted(evaluation, choice).verdicts[0].outcome is outcome


@pytest.mark.parametrize("choice", [UNSURE, TINY], ids=["unsure", "tiny"])
def test_a_chosen_instance_counts_whatever_its_score(choice):
    evaluation = judged(choice, CAR)
    assert evaluation.verdicts[0].reason is AbstentionReason.MISSING_OBJECT
    assert adjusted(evaluation, choice).verdicts[0].outcome is Outcome.PASS


def test_choosing_an_instance_adds_no_weak_instances_of_other_objects():
    unsure_car = seen("car", 5, 50, 0.16)
    result = adjusted(judged(UNSURE, CAR, unsure_car), UNSURE)
    assert result.perception.detections == (UNSURE, CAR)


def test_ambiguity_of_the_other_object_remains():
    second_car = seen("car", 70, 50, 0.85)
    (verdict,) = adjusted(judged(SURE, RIVAL, CAR, second_car), SURE).verdicts
    assert verdict.reason is AbstentionReason.AMBIGUOUS_OBJECT
    assert verdict.about == ("car",)


def test_a_lower_threshold_also_lowers_the_detection_threshold():
    evaluation = judged(UNSURE, CAR, cut=0.3)
    assert adjusted(evaluation, detection_score=0.1).verdicts[0].outcome is Outcome.PASS


def test_masks_follow_their_detections():
    masks = masked("dog", 20, 50), masked("dog", 80, 50), masked("car", 50, 50)
    result = adjusted(judged(SURE, RIVAL, CAR, masks=masks), RIVAL)
    assert result.perception.masks == masks[1:]
    assert result.verdicts[0].measurement.pse == 0


def test_stability_is_not_tested_for_a_chosen_instance():
    nothing_seen = Looks(perturbed=(perception(), perception()))
    evaluation = judged(SURE, seen("dog", 80, 50, 0.5), CAR, looks=nothing_seen)
    assert evaluation.verdicts[0].reason is AbstentionReason.UNSTABLE
    assert adjusted(evaluation, SURE).verdicts[0].outcome is Outcome.PASS


def test_a_choice_from_another_picture_is_ignored():
    evaluation = judged(SURE, CAR)
    assert adjusted(evaluation, RIVAL).verdicts == evaluation.verdicts
