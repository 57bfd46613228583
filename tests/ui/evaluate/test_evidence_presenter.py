import pytest

from spatialstudio.domain.scene import ABOVE, NEAR
from spatialstudio.domain.verdict import AbstentionReason as Reason
from spatialstudio.ui.evaluate.evidence_presenter import (
    VerdictSelection,
    best_unsure,
    candidates,
    detection_of,
    evidence_scene,
    instances_scene,
    picked_relation,
)
from spatialstudio.ui.evaluate.widgets.evidence_overlay import NOTHING, BoxStyle
from spatialstudio.ui.widgets.picture_layers import Layer, LayerLook
from tests.fakes import counted_scene
from tests.science.seen_things import perception, seen
from tests.ui.judged_runs import (
    CAR,
    DOG,
    NEAR_DOG,
    SECOND_DOG,
    UNSURE_DOG,
    instance,
    judged_run,
)


@pytest.fixture
def look_at(context):
    """Opens a run and says what is looked at then."""

    def look(run):
        context.studio.session.open(run)
        return VerdictSelection(context).now()

    return look


def lit(selected_verdict, reason):
    return evidence_scene(selected_verdict, reason, frozenset(), {})


def styles(scene):
    return [(mark.label, mark.style) for mark in scene.boxes]


def test_the_band_says_how_far_off_the_centre_is(look_at):
    scene = evidence_scene(look_at(judged_run(NEAR_DOG, CAR)), None, {Layer.BAND}, {})
    (band,) = scene.bands
    assert (band.band.start, band.band.stop) == (60, 80)
    assert (band.centre_xy, band.glows) == ((64, 20), False)
    assert band.label == "0.06 to the left; 0.10 left needed"
    assert "too close to call" in scene.words.lower()


def test_the_instances_of_a_count_are_numbered_with_their_colours():
    instances = tuple(map(instance, (DOG, SECOND_DOG, CAR)))
    run = judged_run(DOG, SECOND_DOG, CAR, scene=counted_scene(), instances=instances)
    count, *_ = run.evaluation.mention_verdicts
    scene = instances_scene(run, count)
    assert [(mark.label, mark.box) for mark in scene.boxes] == [
        ("1 brown", DOG.box),
        ("2 brown", SECOND_DOG.box),
    ]
    assert scene.is_lit
    assert "2 instances" in scene.words
    assert instances_scene(judged_run(DOG, CAR), count) == NOTHING


def test_layers_that_are_out_of_sight_draw_nothing(look_at):
    scene = evidence_scene(look_at(judged_run(DOG, SECOND_DOG, CAR)), None, frozenset(), {})
    assert (scene.boxes, scene.bands, scene.is_lit) == ((), (), False)


def test_a_look_reaches_the_marks(look_at):
    looks = {
        Layer.BAND: LayerLook(opacity=0.5, hue=4),
        Layer.CANDIDATES: LayerLook(opacity=0.3, hue=5),
    }
    selected_verdict = look_at(judged_run(NEAR_DOG, UNSURE_DOG, CAR))
    scene = evidence_scene(selected_verdict, None, {Layer.BAND, Layer.CANDIDATES}, looks)
    assert [(mark.opacity, mark.tint) for mark in scene.bands] == [(0.5, 4)]
    assert [(mark.opacity, mark.hue) for mark in scene.boxes] == [(0.3, 5)]


def test_near_the_boundary_the_band_glows(look_at):
    scene = lit(look_at(judged_run(NEAR_DOG, CAR)), Reason.NEAR_BOUNDARY)
    assert scene.is_lit
    assert [mark.glows for mark in scene.bands] == [True]
    assert styles(scene) == [("dog 0.81", BoxStyle.CHOSEN), ("car 0.90", BoxStyle.CHOSEN)]


def test_of_near_and_far_the_gap_is_measured(look_at):
    selected_verdict = look_at(judged_run(DOG, CAR, relation_type=NEAR))
    scene = lit(selected_verdict, Reason.NEAR_BOUNDARY)
    assert scene.gap.label == "gap 0.21 of the diagonal"
    assert scene.bands == ()


def test_both_candidates_of_an_ambiguous_verdict_are_labelled(look_at):
    scene = lit(look_at(judged_run(DOG, SECOND_DOG, CAR)), Reason.AMBIGUOUS_OBJECT)
    labels = {label for label, _ in styles(scene)}
    assert labels == {"dog 0.81", "dog 0.78", "car 0.90"}


def test_a_missing_thing_has_its_best_ghost(look_at):
    scene = lit(look_at(judged_run(UNSURE_DOG, CAR)), Reason.MISSING_OBJECT)
    assert styles(scene) == [("dog? 0.15", BoxStyle.GHOST), ("car 0.90", BoxStyle.CHOSEN)]


def test_a_thing_that_is_nowhere_has_an_empty_frame(look_at):
    scene = lit(look_at(judged_run(CAR)), Reason.MISSING_OBJECT)
    assert styles(scene)[0] == ("dog: not found", BoxStyle.EMPTY)


def test_what_is_missing_is_told_without_being_asked(look_at):
    selected_verdict = look_at(judged_run(UNSURE_DOG, CAR))
    scene = evidence_scene(selected_verdict, None, {Layer.BOXES}, {})
    assert styles(scene) == [("dog? 0.15", BoxStyle.GHOST)]
    assert not scene.is_lit


def test_what_a_change_lets_count_has_its_box(look_at, context):
    run = judged_run(UNSURE_DOG, CAR)
    look_at(run)
    context.judgement.try_setting(run, "detection_score", 0.1, "least score")
    scene = evidence_scene(VerdictSelection(context).now(), None, {Layer.BOXES}, {})
    assert styles(scene) == [("dog 0.15", BoxStyle.CHOSEN)]


def test_what_overlaps_is_hatched_with_its_iou(look_at):
    over = seen("m1", 72, 50)
    ((area, label),) = lit(look_at(judged_run(over, CAR)), Reason.HIGH_OVERLAP).hatched
    assert (area.left, area.right) == (62, 80)
    assert label == "IoU 0.82"


def test_small_changes_leave_traces(look_at):
    moved = perception(seen("m1", 24, 50), seen("m2", 70, 50))
    scene = lit(look_at(judged_run(DOG, CAR, perturbed=(moved, moved))), Reason.UNSTABLE)
    assert [mark.style for mark in scene.boxes].count(BoxStyle.TRACE) == 4


def test_boxes_of_the_second_detector_are_drawn_differently(look_at):
    second = perception(seen("m1", 30, 50, 0.7), seen("m2", 70, 50))
    scene = lit(look_at(judged_run(DOG, CAR, second=second)), Reason.DETECTORS_DISAGREE)
    assert ("2nd: dog 0.70", BoxStyle.SECOND) in styles(scene)
    assert [(one.left, other.left) for one, other in scene.differing] == [(10, 20), (60, 60)]


def test_candidates_are_those_that_were_not_chosen(look_at):
    run = judged_run(DOG, SECOND_DOG, UNSURE_DOG, CAR)
    marks = candidates(look_at(run))
    assert [mark.label for mark in marks] == ["dog 0.78", "dog 0.15"]
    assert detection_of(marks[0].key, run) is SECOND_DOG


def test_of_hundreds_of_unsure_ones_the_best_are_shown(look_at):
    unsure = [seen("m1", 30 + n, 40, 0.1 - n / 1000) for n in range(9)]
    selected_verdict = look_at(judged_run(DOG, *unsure, CAR))
    assert [mark.label for mark in candidates(selected_verdict)] == [
        "dog 0.10",
        "dog 0.10",
        "dog 0.10",
    ]
    assert best_unsure(selected_verdict, "m1").score == 0.1


def test_what_is_tried_moves_the_band_and_leaves_the_stored_verdict(look_at, context):
    run = judged_run(DOG, CAR)
    look_at(run)
    context.judgement.try_setting(run, "margin", 0.3, "margin")
    selected_verdict = VerdictSelection(context).now()
    (band,) = evidence_scene(selected_verdict, None, {Layer.BAND}, {}).bands
    assert (band.band.start, band.label) == (40, "0.50 to the left; 0.30 left needed")
    assert selected_verdict.run.evaluation.verdicts[0].measurement.margin == 0.1


def test_the_first_relation_is_looked_at_until_another_is_picked(look_at):
    run = judged_run(DOG, CAR, relation_type=ABOVE)
    assert picked_relation(run, None) is run.scene.relations[0]
    assert picked_relation(run, "of another run") is run.scene.relations[0]
    assert look_at(run).relation is run.scene.relations[0]
