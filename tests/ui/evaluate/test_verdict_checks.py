import pytest

from spatialstudio.application.inspect.inspection import evidence_of
from spatialstudio.domain.scene import ABOVE, BEHIND, BELOW, LEFT_OF, NEAR, RIGHT_OF
from spatialstudio.domain.verdict import RECOMMENDED, Measurement, Outcome
from spatialstudio.domain.verdict import AbstentionReason as Reason
from spatialstudio.ui.evaluate.verdict_checks import checks_of, lower_threshold, offset_in_words
from spatialstudio.ui.evaluate.widgets.verdict_card import CheckState
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

ELSEWHERE, LEFT_CAR = seen("m1", 90, 9), seen("m2", 30, 90)


def told(run):
    (verdict,) = run.evaluation.verdicts
    evidence = evidence_of(verdict, run.scene, run.evaluation)
    return checks_of(run.scene.relations[0], verdict, evidence, run.scene)


def texts(run):
    return [check.text for check in told(run)]


def test_a_decided_verdict_tells_what_it_passed():
    checks = told(judged_run(DOG, CAR))
    assert [check.text for check in checks] == [
        "found 0.81 · 0.90",
        "one instance of each",
        "overlap 0.00",
        "0.50 to the left; 0.10 left needed",
    ]
    assert {check.state for check in checks} == {CheckState.HELD}


def test_the_criterion_of_a_failed_verdict_is_not_met():
    run = judged_run(DOG, CAR, relation_type=RIGHT_OF)
    *others, last = told(run)
    assert run.evaluation.verdicts[0].outcome is Outcome.FAIL
    assert (last.text, last.state) == ("0.50 to the left; 0.10 right needed", CheckState.FAILED)
    assert {check.state for check in others} == {CheckState.HELD}


def test_a_count_that_is_asked_for_is_not_called_one_of_each():
    assert texts(judged_run(DOG, CAR, scene=counted_scene()))[1] == "count not checked"


@pytest.mark.parametrize(
    ("dogs", "text", "state"),
    [
        ([DOG], "counted 1", CheckState.NOT_CHECKED),
        ([DOG, SECOND_DOG, NEAR_DOG], "counted 3", CheckState.HELD),
    ],
)
def test_a_wrong_count_is_not_called_one_of_each(dogs, text, state):
    instances = tuple(instance(each) for each in (*dogs, CAR))
    run = judged_run(DOG, CAR, scene=counted_scene(), instances=instances)
    (verdict,) = run.evaluation.verdicts
    evidence = evidence_of(verdict, run.scene, run.evaluation)
    mentions = run.evaluation.mention_verdicts
    check = checks_of(run.scene.relations[0], verdict, evidence, run.scene, mentions)[1]
    assert (check.text, check.state) == (text, state)


def test_only_what_was_checked_has_held():
    states = [check.state for check in told(judged_run(DOG, CAR, scene=counted_scene()))]
    assert states == [
        CheckState.HELD,
        CheckState.NOT_CHECKED,
        CheckState.HELD,
        CheckState.HELD,
    ]


def test_where_others_are_passed_over_the_surest_of_each_is_taken():
    weak_dog = seen("m1", 90, 20, 0.4)
    assert texts(judged_run(DOG, weak_dog, CAR))[1] == "highest-scoring instance of each"


@pytest.mark.parametrize(
    ("run", "reason", "text"),
    [
        (judged_run(CAR), Reason.MISSING_OBJECT, "not found: dog"),
        (judged_run(DOG, SECOND_DOG, CAR), Reason.AMBIGUOUS_OBJECT, "dog 0.81 or 0.78"),
        (judged_run(seen("m1", 70, 50), CAR), Reason.HIGH_OVERLAP, "overlap 1.00"),
        (judged_run(NEAR_DOG, CAR), Reason.NEAR_BOUNDARY, "0.06 to the left; 0.10 left needed"),
        (judged_run(DOG, CAR, relation_type=BEHIND), Reason.NO_DEPTH, "no depth estimate"),
        (
            judged_run(DOG, CAR, perturbed=(perception(), perception())),
            Reason.UNSTABLE,
            "stability 0.00",
        ),
        (
            judged_run(DOG, CAR, settings=RECOMMENDED, second=perception(ELSEWHERE, LEFT_CAR)),
            Reason.DETECTORS_DISAGREE,
            "agreement 0.00",
        ),
    ],
    ids=lambda value: value.value if isinstance(value, Reason) else "",
)
def test_the_reason_comes_last_and_is_marked(run, reason, text):
    last = told(run)[-1]
    assert (last.reason, last.text, last.state) == (reason, text, CheckState.BROKEN)


def test_of_near_things_the_gap_is_told():
    assert "gap 0.21" in texts(judged_run(DOG, CAR, relation_type=NEAR))


def test_what_was_tested_by_small_changes_is_told():
    same = perception(DOG, CAR)
    assert texts(judged_run(DOG, CAR, perturbed=(same,)))[-1] == "stability 1.00"


@pytest.mark.parametrize(
    ("run", "score"),
    [(judged_run(UNSURE_DOG, CAR), 0.15), (judged_run(CAR), None), (judged_run(DOG, CAR), None)],
    ids=["a ghost", "nothing at all", "nothing missing"],
)
def test_a_threshold_is_offered_where_it_helps(run, score):
    (verdict,) = run.evaluation.verdicts
    assert lower_threshold(verdict, evidence_of(verdict, run.scene, run.evaluation)) == score


@pytest.mark.parametrize(
    ("relation", "delta", "words"),
    [
        (LEFT_OF, 0.29, "0.29 to the right; 0.10 left needed"),
        (RIGHT_OF, 0.29, "0.29 to the right; 0.10 right needed"),
        (ABOVE, 0.2, "0.20 below; 0.10 above needed"),
        (BELOW, -0.2, "0.20 above; 0.10 below needed"),
        (LEFT_OF, None, ""),
    ],
    ids=["fail", "pass", "vertical", "vertical, inverse", "not measured"],
)
def test_the_offset_and_what_is_needed_name_their_sides(relation, delta, words):
    measured = Measurement(delta=delta, margin=0.1, overlap=0, pos=None, pse=0)
    assert offset_in_words(relation, measured) == words
