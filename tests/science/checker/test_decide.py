from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BETWEEN,
    BUILT_IN_TYPES,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    AbstentionReason,
    CheckerSettings,
    DepthMap,
    Evaluation,
    Looks,
    Outcome,
)
from spatialstudio.science.checker.decide import (
    decide,
    decide_again,
    decide_relation,
)
from tests.science.seen_things import SIDE, masked, perception, relation, seen

SETTINGS = CheckerSettings()


def judged(relation_type, *detections, settings=SETTINGS, **more):
    return decide_relation(relation(relation_type), perception(*detections, **more), settings)


@pytest.fixture
def farther_right():
    values = np.tile(np.arange(SIDE, dtype=np.float32), (SIDE, 1))
    return DepthMap(values=values, estimator_id="slope")


@pytest.mark.parametrize(
    ("relation_type", "outcome"),
    [
        (LEFT_OF, Outcome.PASS),
        (RIGHT_OF, Outcome.FAIL),
        (ABOVE, Outcome.UNDECIDABLE),
        (ABOVE_LEFT_OF, Outcome.UNDECIDABLE),
        (FAR_FROM, Outcome.PASS),
        (NEAR, Outcome.FAIL),
    ],
    ids=lambda value: getattr(value, "id", None),
)
def test_a_picture_is_judged_by_its_boxes(relation_type, outcome):
    verdict = judged(relation_type, seen("dog", 10, 50), seen("car", 80, 52))
    assert verdict.outcome is outcome


def test_a_diagonal_fails_by_one_failing_claim():
    verdict = judged(ABOVE_LEFT_OF, seen("dog", 20, 80), seen("car", 80, 30))
    assert verdict.outcome is Outcome.FAIL


def test_a_diagonal_passes_when_both_claims_hold():
    verdict = judged(ABOVE_LEFT_OF, seen("dog", 20, 20), seen("car", 80, 60))
    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("x", "outcome"),
    [(50, Outcome.PASS), (14, Outcome.UNDECIDABLE), (90, Outcome.FAIL)],
    ids=["in the middle", "level with a flank", "outside"],
)
def test_between_is_judged_on_three_boxes(x, outcome):
    verdict = judged(BETWEEN, seen("dog", x, 50), seen("car", 10, 50), seen("cup", 70, 50))
    assert verdict.outcome is outcome


def test_the_overlap_is_with_the_most_covered_flank():
    flanks = seen("car", 10, 50), seen("cup", 60, 50)
    verdict = judged(BETWEEN, seen("dog", 50, 50), *flanks)
    assert verdict.measurement.overlap == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("found", "about"),
    [
        ((), ("dog", "car")),
        ((seen("car", 80, 50),), ("dog",)),
        ((seen("dog", 20, 50), seen("car", 80, 50, score=0.19)), ("car",)),
        ((seen("dog", 20, 50, size=7), seen("car", 80, 50)), ("dog",)),
    ],
    ids=["none", "one", "below threshold", "too small"],
)
def test_an_undetected_object_is_missing(found, about):
    verdict = judged(LEFT_OF, *found)
    assert verdict.reason is AbstentionReason.MISSING_OBJECT
    assert verdict.about == about
    assert verdict.measurement is None
    assert verdict.confidence == 0


@pytest.mark.parametrize(
    ("second_score", "outcome"), [(0.81, Outcome.UNDECIDABLE), (0.79, Outcome.PASS)]
)
def test_two_instances_of_equal_score_are_ambiguous(second_score, outcome):
    verdict = judged(
        LEFT_OF, seen("dog", 20, 50), seen("dog", 40, 50, second_score), seen("car", 80, 50)
    )
    assert verdict.outcome is outcome


def test_a_lead_equal_to_the_ambiguity_threshold_is_enough():
    settings = CheckerSettings(ambiguity_delta=0.25)
    dogs = seen("dog", 20, 50, 0.75), seen("dog", 40, 50, 0.5)
    assert judged(LEFT_OF, *dogs, seen("car", 80, 50), settings=settings).outcome is Outcome.PASS


def test_an_object_of_exactly_the_minimum_area_counts():
    settings = CheckerSettings(min_area_fraction=0.04)
    boxes = seen("dog", 20, 50, size=20), seen("car", 80, 50, size=20)
    assert judged(LEFT_OF, *boxes, settings=settings).outcome is Outcome.PASS


def test_an_ambiguous_object_is_named():
    cars = seen("car", 80, 50), seen("car", 80, 20)
    verdict = judged(LEFT_OF, seen("dog", 20, 50), *cars)
    assert verdict.reason is AbstentionReason.AMBIGUOUS_OBJECT
    assert verdict.about == ("car",)


def test_even_a_tiny_second_instance_is_ambiguous():
    verdict = judged(LEFT_OF, seen("dog", 20, 50), seen("dog", 40, 50, size=2), seen("car", 80, 50))
    assert verdict.reason is AbstentionReason.AMBIGUOUS_OBJECT


def test_overlapping_boxes_do_not_decide_left_and_right():
    verdict = judged(LEFT_OF, seen("dog", 40, 50, size=60), seen("car", 55, 50, size=60))
    assert verdict.reason is AbstentionReason.HIGH_OVERLAP
    assert verdict.measurement.overlap == pytest.approx(45 / 75)
    assert verdict.measurement.delta == pytest.approx(-0.15)
    assert verdict.confidence == 0


def test_overlapping_boxes_may_decide_above_and_below():
    verdict = judged(ABOVE, seen("dog", 50, 40, size=60), seen("car", 50, 55, size=60))
    assert verdict.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("x", "reason"), [(60, AbstentionReason.NEAR_BOUNDARY), (61, None)], ids=["on", "beyond"]
)
def test_a_delta_equal_to_the_margin_is_undecidable(x, reason):
    assert judged(ABOVE, seen("dog", 50, 50), seen("car", 50, x)).reason is reason


def test_a_wider_margin_decides_less():
    boxes = seen("dog", 20, 50), seen("car", 50, 50)
    assert judged(LEFT_OF, *boxes).outcome is Outcome.PASS
    strict = CheckerSettings(margin=0.4)
    assert judged(LEFT_OF, *boxes, settings=strict).reason is AbstentionReason.NEAR_BOUNDARY


@pytest.mark.parametrize(
    ("relation_type", "outcome"), [(IN_FRONT_OF, Outcome.PASS), (BEHIND, Outcome.FAIL)]
)
def test_depth_is_judged_on_the_masks(relation_type, outcome, farther_right):
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    masks = masked("dog", 20, 50), masked("car", 80, 50)
    verdict = judged(relation_type, *boxes, masks=masks, depth=farther_right)
    assert verdict.outcome is outcome
    assert verdict.measurement.delta == pytest.approx(-60 / 99)


def test_nearly_equal_depths_are_near_the_boundary(farther_right):
    boxes = seen("dog", 20, 20), seen("car", 21, 80)
    masks = masked("dog", 20, 20), masked("car", 21, 80)
    verdict = judged(IN_FRONT_OF, *boxes, masks=masks, depth=farther_right)
    assert verdict.reason is AbstentionReason.NEAR_BOUNDARY


def test_the_recommended_preset_abstains_where_depths_overlap(farther_right):
    boxes = seen("dog", 45, 20), seen("car", 50, 80)
    seen_twice = {"masks": (masked("dog", 45, 20), masked("car", 50, 80)), "depth": farther_right}
    assert judged(IN_FRONT_OF, *boxes, **seen_twice).outcome is Outcome.PASS
    recommended = judged(IN_FRONT_OF, *boxes, settings=RECOMMENDED, **seen_twice)
    assert recommended.reason is AbstentionReason.NEAR_BOUNDARY


@pytest.mark.parametrize(
    ("share_in_front", "outcome"),
    [(0.5, Outcome.UNDECIDABLE), (0.7, Outcome.UNDECIDABLE), (0.8, Outcome.PASS)],
)
def test_depths_on_both_sides_decide_by_their_share(share_in_front, outcome):
    depth = np.full((SIDE, SIDE), 5, np.float32)
    dog = masked("dog", 20, 50)
    rows = np.flatnonzero(dog.pixels.any(1))
    front = rows[: round(share_in_front * len(rows))]
    depth[:, :30] = 9
    depth[front, :30] = 1
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    verdict = judged(
        IN_FRONT_OF,
        *boxes,
        masks=(dog, masked("car", 80, 50)),
        depth=DepthMap(values=depth, estimator_id="two walls"),
        settings=RECOMMENDED,
    )
    assert verdict.outcome is outcome
    assert verdict.measurement.pos == pytest.approx(share_in_front)


@pytest.mark.parametrize(
    ("dogs", "outcome"),
    [((20, 30), Outcome.PASS), ((20, 80), Outcome.UNDECIDABLE)],
    ids=["instances agree", "instances differ"],
)
def test_instances_must_agree_on_depth_too(dogs, outcome, farther_right):
    places = [("dog", dogs[0], 20), ("dog", dogs[1], 80), ("car", 60, 50)]
    verdict = judged(
        IN_FRONT_OF,
        *(seen(*place) for place in places),
        masks=tuple(masked(*place) for place in places),
        depth=farther_right,
        settings=RECOMMENDED,
    )
    assert verdict.outcome is outcome
    assert (verdict.reason is AbstentionReason.AMBIGUOUS_OBJECT) == (outcome is not Outcome.PASS)


@pytest.mark.parametrize(
    ("second_dog", "reason"),
    [((32, 66), None), ((90, 50), AbstentionReason.AMBIGUOUS_OBJECT)],
    ids=["instances agree", "instances differ"],
)
@pytest.mark.parametrize("kind", [NEAR, BETWEEN], ids=lambda kind: kind.id)
def test_instances_must_agree_on_near_and_between_too(kind, second_dog, reason):
    dogs = seen("dog", 30, 50, size=8), seen("dog", *second_dog, size=8)
    flanks = seen("car", 10, 50), seen("cup", 50, 50)
    verdict = judged(kind, *dogs, *flanks, settings=RECOMMENDED)
    assert verdict.reason is reason
    assert (verdict.outcome is Outcome.PASS) == (reason is None)


def test_depth_is_unknown_without_a_depth_map():
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    masks = masked("dog", 20, 50), masked("car", 80, 50)
    assert judged(IN_FRONT_OF, *boxes, masks=masks).reason is AbstentionReason.NO_DEPTH


def test_depth_is_unknown_without_masks(farther_right):
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    assert judged(IN_FRONT_OF, *boxes, depth=farther_right).reason is AbstentionReason.NO_DEPTH


def test_pos_is_measured_on_the_masks():
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    verdict = judged(LEFT_OF, *boxes, masks=(masked("dog", 20, 50), masked("car", 80, 50)))
    assert (verdict.measurement.pos, verdict.measurement.pse) == (1, 1)


def test_all_sure_instances_of_a_mention_count_for_pos():
    boxes = seen("dog", 50, 50), seen("car", 80, 50)
    dogs = masked("dog", 20, 50), masked("dog", 80, 50, 0.6), masked("dog", 90, 20, 0.1)
    verdict = judged(LEFT_OF, *boxes, masks=(*dogs, masked("car", 50, 50)))
    assert verdict.measurement.pos == pytest.approx(0.5)


def test_without_masks_pos_is_missing_and_pse_is_zero():
    verdict = judged(LEFT_OF, seen("dog", 20, 50), seen("car", 80, 50))
    assert verdict.measurement.pos is None
    assert verdict.measurement.pse == 0


def test_untested_components_do_not_lower_confidence():
    components = judged(LEFT_OF, seen("dog", 20, 50), seen("car", 80, 50)).components
    assert (components.stability, components.agreement) == (1, 1)


def test_an_unstable_answer_is_withdrawn():
    boxes = perception(seen("dog", 20, 50), seen("car", 80, 50))
    verdict = decide_relation(relation(LEFT_OF), boxes, SETTINGS, Looks(stability=0.49))
    assert verdict.reason is AbstentionReason.UNSTABLE
    assert verdict.confidence > 0


def test_a_recorded_mix_withdraws_no_verdict_if_only_answers_count():
    boxes = perception(seen("dog", 20, 50), seen("car", 80, 50))
    verdict = decide_relation(relation(LEFT_OF), boxes, RECOMMENDED, Looks(stability=0.49))
    assert verdict.outcome is Outcome.PASS
    assert verdict.components.stability == 0.49


def test_an_abstention_cannot_be_unstable():
    boxes = perception(seen("dog", 50, 50), seen("car", 55, 20))
    verdict = decide_relation(relation(LEFT_OF), boxes, SETTINGS, Looks(stability=0.1))
    assert verdict.reason is AbstentionReason.NEAR_BOUNDARY
    assert verdict.components.stability == 1


@pytest.fixture
def scene():
    mentions = tuple(
        ObjectMention(id=name, phrase=name, head=name, span=TextSpan(start=0, stop=3))
        for name in ("dog", "car")
    )
    relations = (
        relation(LEFT_OF, relation_id="first"),
        relation(ABOVE, "car", "dog", relation_id="second"),
    )
    return SceneGraph(
        prompt=Prompt(text="dog car"), mentions=mentions, relations=relations, extractor_id="test"
    )


def test_every_relation_of_a_scene_is_judged_in_order(scene):
    picture = perception(seen("dog", 20, 50), seen("car", 80, 20))
    verdicts = decide(scene, picture, SETTINGS)
    assert [verdict.relation_id for verdict in verdicts] == ["first", "second"]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.PASS, Outcome.PASS]


def test_a_second_detector_is_compared_on_every_relation(scene):
    picture = perception(seen("dog", 20, 50), seen("car", 80, 20))
    second = perception(seen("dog", 20, 20), seen("car", 80, 50))
    first, other = decide(scene, picture, SETTINGS, Looks(second=second))
    assert first.components.agreement == pytest.approx(0.5)
    assert other.components.agreement == 0


@pytest.mark.parametrize("relation_type", BUILT_IN_TYPES, ids=lambda known: known.id)
def test_every_relation_type_is_judged(relation_type, farther_right):
    places = {"dog": (20, 20), "car": (80, 80), "cup": (50, 50)}
    boxes = [seen(name, *place) for name, place in places.items()]
    masks = tuple(masked(name, *place) for name, place in places.items())
    verdict = judged(relation_type, *boxes, masks=masks, depth=farther_right)
    assert verdict.outcome in {Outcome.PASS, Outcome.FAIL}
    assert 0 < verdict.confidence <= 1


RECOMMENDED_CASES = [
    pytest.param((seen("dog", 20, 50), seen("dog", 22, 50, 0.88, 18)), None, id="duplicate"),
    pytest.param((seen("dog", 20, 50), seen("dog", 40, 50, size=2)), None, id="tiny"),
    pytest.param((seen("dog", 20, 50), seen("dog", 45, 20)), None, id="instances agree"),
    pytest.param(
        (seen("dog", 20, 50), seen("dog", 90, 20)),
        AbstentionReason.AMBIGUOUS_OBJECT,
        id="instances differ",
    ),
    pytest.param(
        (seen("dog", 20, 50), seen("dog", 75, 20)),
        AbstentionReason.AMBIGUOUS_OBJECT,
        id="one is undecided",
    ),
]


@pytest.mark.parametrize(("dogs", "reason"), RECOMMENDED_CASES)
def test_the_recommended_preset_decides_if_all_instances_agree(dogs, reason):
    picture = (*dogs, seen("car", 80, 50))
    assert judged(LEFT_OF, *picture, settings=RECOMMENDED).reason is reason
    assert judged(LEFT_OF, *picture).reason is AbstentionReason.AMBIGUOUS_OBJECT


def test_overlap_prevents_above_and_below_if_enabled():
    boxes = seen("dog", 50, 40, size=60), seen("car", 50, 55, size=60)
    strict = replace(SETTINGS, overlap_bars_vertical=True)
    assert judged(ABOVE, *boxes, settings=strict).reason is AbstentionReason.HIGH_OVERLAP


def test_a_second_detector_can_withdraw_an_answer():
    picture = perception(seen("dog", 20, 50), seen("car", 80, 50))
    opposite = perception(seen("dog", 80, 50), seen("car", 20, 50))
    verdict = decide_relation(relation(LEFT_OF), picture, RECOMMENDED, Looks(second=opposite))
    assert verdict.reason is AbstentionReason.DETECTORS_DISAGREE


@pytest.mark.parametrize(("beyond", "reason"), [(0.01, "low_confidence"), (-0.01, None)])
def test_a_decision_needs_the_least_confidence(beyond, reason):
    boxes = seen("dog", 20, 50), seen("car", 80, 50)
    free = judged(LEFT_OF, *boxes)
    least = free.confidence + beyond
    verdict = judged(LEFT_OF, *boxes, settings=replace(SETTINGS, min_confidence=least))
    assert verdict.confidence == free.confidence
    assert (verdict.reason and verdict.reason.value) == reason


def test_an_unstable_answer_agrees_with_no_detector():
    picture = perception(seen("dog", 20, 50), seen("car", 80, 50))
    looks = Looks(second=picture, stability=0.1)
    verdict = decide_relation(relation(LEFT_OF), picture, SETTINGS, looks)
    assert verdict.components.agreement == pytest.approx(0.75)


def test_judging_again_reuses_the_perception(scene):
    picture = perception(seen("dog", 20, 50), seen("car", 80, 20))
    lost = perception()
    looks = Looks(perturbed=(picture, picture, lost, None))
    first = Evaluation(
        perception=picture, verdicts=decide(scene, picture, SETTINGS, looks), looks=looks
    )
    again = decide_again(first, scene, RECOMMENDED)
    assert [verdict.outcome for verdict in first.verdicts] == [Outcome.PASS, Outcome.PASS]
    assert [verdict.reason for verdict in again.verdicts] == [AbstentionReason.UNSTABLE] * 2
    assert again.checker is RECOMMENDED
