import numpy as np
import pytest

from spatialstudio.domain.assertion import (
    Assertion,
    AssertionScore,
    DaScore,
)
from spatialstudio.domain.evidence import MarginBand, Role
from spatialstudio.domain.scene import (
    ABOVE_LEFT_OF,
    BETWEEN,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    Axis,
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import (
    REPRODUCE,
    Box,
    DepthMap,
    Evaluation,
    Looks,
    Outcome,
)
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.checker.evidence import DEPTH_SLICES, evidence_of
from tests.science.seen_things import SIDE, box_at, masked, perception, relation, seen

NAMES = "dog", "car", "cup"
PLAIN = seen("dog", 20, 50), seen("car", 80, 50)


def shown(*detections, kind=LEFT_OF, looks=None, da_score=None, **more):
    span = TextSpan(start=0, stop=1)
    scene = SceneGraph(
        prompt=Prompt(text="a test"),
        mentions=tuple(ObjectMention(id=name, phrase=name, head=name, span=span) for name in NAMES),
        relations=(relation(kind),),
        extractor_id="test",
    )
    picture = perception(*detections, **more)
    looks = looks or Looks()
    verdicts = decide(scene, picture, REPRODUCE, looks)
    evaluation = Evaluation(perception=picture, verdicts=verdicts, looks=looks, da_score=da_score)
    return evidence_of(verdicts[0], scene, evaluation)


def test_every_box_is_shown_with_its_role():
    dogs = seen("dog", 20, 50), seen("dog", 30, 50, 0.85), seen("dog", 40, 50, 0.5)
    evidence = shown(*dogs, seen("dog", 50, 50, 0.1), seen("car", 80, 50))
    assert [(found.mention_id, found.role) for found in evidence.boxes] == [
        ("dog", Role.CHOSEN),
        ("dog", Role.RIVAL),
        ("dog", Role.PASSED_OVER),
        ("dog", Role.TOO_UNSURE),
        ("car", Role.CHOSEN),
    ]


def test_the_second_detectors_choice_is_shown_last():
    second = perception(seen("dog", 22, 50), seen("dog", 90, 50, 0.3), seen("car", 78, 50))
    evidence = shown(*PLAIN, looks=Looks(second=second))
    opinions = [found.box for found in evidence.boxes if found.role is Role.SECOND_OPINION]
    assert opinions == [box_at(22, 50), box_at(78, 50)]


def test_the_margin_band_is_centred_on_the_landmark():
    (band,) = shown(*PLAIN).bands
    assert band == MarginBand(axis=Axis.X, start=70, stop=90, wanted_before=True)


@pytest.mark.parametrize(
    ("kind", "axes"),
    [(ABOVE_LEFT_OF, [Axis.X, Axis.Y]), (NEAR, []), (IN_FRONT_OF, [])],
    ids=lambda value: getattr(value, "id", None),
)
def test_there_is_a_band_for_each_axis_compared(kind, axes):
    assert [band.axis for band in shown(*PLAIN, kind=kind).bands] == axes


def test_between_has_a_band_around_each_flank():
    evidence = shown(seen("dog", 50, 50), seen("car", 80, 50), seen("cup", 15, 40), kind=BETWEEN)
    assert evidence.bands == (
        MarginBand(axis=Axis.X, start=5, stop=25, wanted_before=False),
        MarginBand(axis=Axis.X, start=70, stop=90, wanted_before=True),
    )


@pytest.mark.parametrize(
    ("dog", "start_xy", "stop_xy"),
    [
        ((20, 50), (30, 50), (70, 50)),
        ((20, 10), (30, 20), (70, 40)),
        ((75, 90), (77.5, 80), (77.5, 60)),
        ((80, 50), (80, 50), (80, 50)),
    ],
    ids=["beside", "across", "below", "upon"],
)
def test_near_and_far_show_the_shortest_line(dog, start_xy, stop_xy):
    gap = shown(seen("dog", *dog), PLAIN[1], kind=NEAR).gap
    assert (gap.start_xy, gap.stop_xy) == (start_xy, stop_xy)
    assert (gap.near, gap.far) == pytest.approx((14.1421, 42.4264), abs=1e-3)
    assert shown(*PLAIN).gap is None


def test_detections_below_the_threshold_are_marked_as_weak():
    evidence = shown(*PLAIN, seen("dog", 40, 50, 0.35), cut=0.4)
    assert [found.role for found in evidence.boxes] == [Role.CHOSEN, Role.TOO_UNSURE, Role.CHOSEN]


def test_the_answers_about_the_relation_and_its_ends_are_shown():
    asked = (
        ("dog", None),
        ("car", None),
        ("cup", None),
        ("dog", "r"),
        ("dog", "another"),
        (None, None),
    )
    scores = [
        AssertionScore(
            assertion=Assertion(id="a", text="", question="", mention_id=name, relation_id=stated),
            probability_yes=0.5,
        )
        for name, stated in asked
    ]
    shown_scores = shown(
        *PLAIN, da_score=DaScore(value=0.5, scores=scores, source_id="me")
    ).assertions
    assert [(one.assertion.mention_id, one.assertion.relation_id) for one in shown_scores] == [
        ("dog", None),
        ("car", None),
        ("dog", "r"),
    ]


def test_the_intersection_of_the_boxes_is_shown():
    touching = seen("dog", 20, 50, size=40), seen("car", 50, 50, size=40)
    assert shown(*touching).intersection == Box(left=30, top=30, right=40, bottom=70)
    assert shown(*PLAIN).intersection is None


def test_masks_are_projected_onto_the_compared_axis():
    evidence = shown(*PLAIN, masks=(masked("dog", 20, 50), masked("car", 80, 50)))
    dog, car = evidence.profiles
    assert (dog.axis, dog.weights.shape) == (Axis.X, (SIDE,))
    assert dog.weights.sum() == pytest.approx(1)
    assert dog.weights[10:30] == pytest.approx(0.05)
    assert np.flatnonzero(car.weights).tolist() == list(range(70, 90))
    assert len(evidence.masks) == 2


def test_depth_is_shown_as_slices_of_one_range():
    values = np.tile(np.arange(SIDE, dtype=np.float32), (SIDE, 1))
    evidence = shown(
        *PLAIN,
        kind=IN_FRONT_OF,
        masks=(masked("dog", 20, 50), masked("car", 80, 50)),
        depth=DepthMap(values=values, estimator_id="slope"),
    )
    dog, car = evidence.profiles
    assert dog.axis is car.axis is Axis.DEPTH
    assert (evidence.depth_edges[0], evidence.depth_edges[-1]) == (10, 89)
    assert len(evidence.depth_edges) == DEPTH_SLICES + 1
    assert dog.weights.sum() == pytest.approx(1)
    assert evidence.pos_band == (0.4, 0.6)
    assert np.flatnonzero(dog.weights).max() < np.flatnonzero(car.weights).min()


def test_every_perturbed_answer_is_shown_with_its_change():
    swapped = perception(seen("dog", 80, 50), seen("car", 20, 50))
    looks = Looks(perturbed=(perception(*PLAIN), swapped, perception(), None))
    answers = shown(*PLAIN, looks=looks).perturbed
    assert [answer.outcome for answer in answers] == [Outcome.PASS, Outcome.FAIL, None, None]
    assert [answer.perturbation for answer in answers] == list(REPRODUCE.perturbations)
    assert answers[1].boxes == (box_at(80, 50), box_at(20, 50))
    assert {answer.crop for answer in answers} == {Box(left=0, top=30, right=100, bottom=70)}


def test_the_crop_holds_the_chosen_boxes():
    assert shown(*PLAIN).crop == Box(left=0, top=30, right=100, bottom=70)


def test_without_detections_a_sentence_remains():
    evidence = shown()
    assert evidence.sentence == "Not found: the dog and the car."
    assert (evidence.boxes, evidence.bands, evidence.profiles) == ((), (), ())
    assert (evidence.crop, evidence.gap, evidence.pos_band) == (None, None, None)


def test_a_missing_object_outside_the_detectors_classes_is_named():
    said = "Not found: the dog and the car. The detector has no class for the car."
    assert shown(missing_classes=("car", "tree")).sentence == said
    assert "no class" not in shown(*PLAIN, missing_classes=("tree",)).sentence


def test_without_chosen_boxes_a_perturbed_picture_is_shown_whole():
    unsure = seen("dog", 20, 50, 0.1), seen("car", 80, 50, 0.1)
    evidence = shown(*unsure, looks=Looks(perturbed=(perception(),)))
    (answer,) = evidence.perturbed
    assert answer.crop == Box(left=0, top=0, right=SIDE, bottom=SIDE)
    assert evidence.crop is None
