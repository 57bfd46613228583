"""Stored verdicts are compared with those that follow from the stored perception."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from spatialstudio.application.evaluate.recheck_run import recheck_run
from spatialstudio.application.storage.run_writer import environment_on
from spatialstudio.domain.generation import (
    GenerationRequest,
    ModelRef,
    ModelSetup,
)
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.verdict import (
    REPRODUCE,
    AbstentionReason,
    AdjustedVerdict,
    Adjustment,
    Box,
    Detection,
    Evaluation,
    Instance,
    Mask,
    Outcome,
    Perception,
)
from spatialstudio.science.checker.decide import decide
from spatialstudio.science.checker.decide_mentions import decide_mentions
from tests.fakes import counted_scene, scene_of

SCENE = scene_of()
SEEN = Perception(
    image_sha256="",
    height=100,
    width=100,
    detections=(
        Detection(
            mention_id="m1",
            label="dog",
            score=0.9,
            box=Box(left=5, top=40, right=25, bottom=60),
            detector_id="d",
        ),
        Detection(
            mention_id="m2",
            label="car",
            score=0.9,
            box=Box(left=70, top=40, right=95, bottom=60),
            detector_id="d",
        ),
    ),
    masks=(),
)
(TRUE,) = decide(SCENE, SEEN, REPRODUCE)
EVALUATION = Evaluation(perception=SEEN, verdicts=(TRUE,))


def record_of(evaluation):
    return RunRecord(
        id="name",
        created=datetime(2026, 11, 20, tzinfo=UTC),
        request=GenerationRequest(
            id="x", scene=SCENE, backend_id="b", model=ModelRef(id="stickers")
        ),
        token_spans=(),
        trace=(),
        evaluation=evaluation,
        artifacts=(),
        environment=environment_on("cpu", ModelSetup()),
        seconds=1.0,
        peak_memory_bytes=1,
    )


def messages(evaluation, scene=SCENE):
    record = record_of(evaluation)
    record = replace(record, request=replace(record.request, scene=scene))
    return [fault.message for fault in recheck_run(record)]


@pytest.mark.parametrize("evaluation", [None, EVALUATION], ids=["not judged", "judged"])
def test_an_unchanged_record_has_no_faults(evaluation):
    assert messages(evaluation) == []


def test_a_changed_verdict_is_named_with_both_outcomes():
    assert TRUE.outcome is Outcome.PASS
    changed = replace(TRUE, outcome=Outcome.FAIL)
    assert messages(replace(EVALUATION, verdicts=(changed,))) == [
        'The stored verdict on "dog to the left of car" is FAIL; judged again from the stored '
        "perception it is PASS."
    ]


def test_a_changed_count_is_found():
    found = Instance(mention_id="m1", box=SEEN.detections[0].box, score=0.9, area=0.04)
    scene = counted_scene()
    verdicts = decide_mentions(scene, (found,), REPRODUCE)
    judged = replace(
        EVALUATION,
        verdicts=decide(scene, SEEN, REPRODUCE),
        instances=(found,),
        mention_verdicts=verdicts,
    )
    assert messages(judged, scene) == []
    (count, *others) = verdicts
    assert count.outcome is Outcome.FAIL
    forged = replace(judged, mention_verdicts=(replace(count, outcome=Outcome.PASS), *others))
    (message,) = messages(forged, scene)
    assert "counts and colours differ" in message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            replace(TRUE, outcome=Outcome.UNDECIDABLE, reason=AbstentionReason.UNSTABLE),
            "UNDECIDABLE (unstable)",
        ),
        (replace(TRUE, confidence=0.123), "values of the stored verdict"),
        (
            replace(TRUE, measurement=replace(TRUE.measurement, pse=0.5)),
            "values of the stored verdict",
        ),
        (replace(TRUE, measurement=None), "values of the stored verdict"),
    ],
    ids=["reason", "confidence", "PSE", "no measurement"],
)
def test_every_part_of_a_verdict_counts(changed, said):
    (message,) = messages(replace(EVALUATION, verdicts=(changed,)))
    assert said in message


def test_numbers_may_differ_in_their_last_digits():
    close = replace(TRUE, confidence=TRUE.confidence + 1e-9)
    assert messages(replace(EVALUATION, verdicts=(close,))) == []


@pytest.mark.parametrize(
    "verdicts",
    [(), (TRUE, TRUE), (replace(TRUE, relation_id="r9"),)],
    ids=["missing", "twice", "on another relation"],
)
def test_there_is_one_verdict_for_each_relation(verdicts):
    (message,) = messages(replace(EVALUATION, verdicts=verdicts))
    assert message == "The stored verdicts do not match the relations one to one."


def test_an_adjusted_verdict_is_judged_again_with_its_adjustment():
    adjustment = Adjustment(checker=replace(REPRODUCE, margin=0.9))
    kept = AdjustedVerdict(verdict=replace(TRUE, outcome=Outcome.FAIL), adjustment=adjustment)
    (message,) = messages(replace(EVALUATION, adjusted=(kept,)))
    assert message.startswith('The adjusted verdict on "dog to the left of car" is FAIL; ')
    assert message.endswith("it is UNDECIDABLE (near boundary).")


def test_a_damaged_perception_is_named():
    mask = Mask(mention_id="m1", pixels=np.ones((3, 3), bool), score=0.9, source_id="s")
    other = replace(mask, mention_id="m2", pixels=np.ones((5, 7, 2), bool))
    seen = replace(SEEN, masks=(mask, other))
    (message,) = messages(replace(EVALUATION, perception=seen))
    assert message == "The stored perception is damaged and cannot be judged again."
