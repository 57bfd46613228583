"""Why a judged picture is not right."""

from dataclasses import replace

import pytest

from spatialstudio.domain.fix import FixReason
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.scene import (
    ABOVE,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    MentionId,
    RelationId,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Box,
    ConfidenceComponents,
    Detection,
    Evaluation,
    MentionDoubt,
    MentionVerdict,
    Outcome,
    Perception,
    Verdict,
)
from spatialstudio.science.refine.fix_reasons import reasons_of
from tests.fakes import scene_of

DOG, CAR = MentionId("m1"), MentionId("m2")
NOTHING = Perception(image_sha256="", height=100, width=100, detections=(), masks=(), cut=0.2)


def judged(outcome, reason=None, about=(), perception=NOTHING, mentions=()):
    verdict = Verdict(
        relation_id=RelationId("r1"),
        outcome=outcome,
        confidence=0,
        components=ConfidenceComponents(detection=0, geometry=0, stability=0, agreement=0),
        reason=reason,
        about=about,
    )
    return Evaluation(perception=perception, verdicts=(verdict,), mention_verdicts=mentions)


def on(mention_id, score, left):
    box = Box(left=left, top=10, right=left + 40, bottom=50)
    return Detection(mention_id=mention_id, label="", score=score, box=box, detector_id="fake")


@pytest.mark.parametrize(
    ("relation_type", "outcome", "doubt", "reason"),
    [
        (LEFT_OF, Outcome.FAIL, None, FixReason.PLACE),
        (ABOVE, Outcome.UNDECIDABLE, AbstentionReason.NEAR_BOUNDARY, FixReason.PLACE),
        (FAR_FROM, Outcome.UNDECIDABLE, AbstentionReason.NEAR_BOUNDARY, FixReason.DISTANCE),
        (NEAR, Outcome.FAIL, None, FixReason.DISTANCE),
        (IN_FRONT_OF, Outcome.FAIL, None, FixReason.DEPTH),
        (LEFT_OF, Outcome.UNDECIDABLE, AbstentionReason.HIGH_OVERLAP, FixReason.MERGED),
        (LEFT_OF, Outcome.UNDECIDABLE, AbstentionReason.AMBIGUOUS_OBJECT, FixReason.DUPLICATED),
        (LEFT_OF, Outcome.UNDECIDABLE, AbstentionReason.MISSING_OBJECT, FixReason.MISSING),
        (LEFT_OF, Outcome.UNDECIDABLE, AbstentionReason.UNSTABLE, FixReason.UNSURE),
    ],
)
def test_the_reason_follows_the_verdict(relation_type, outcome, doubt, reason):
    scene = scene_of(relation_type=relation_type)

    (found,) = reasons_of(scene, judged(outcome, doubt, (DOG,) if doubt else ()))

    assert found.reason is reason
    assert found.about == ((DOG,) if doubt else (DOG, CAR))


@pytest.mark.parametrize(
    ("car_at", "reason"), [(15, FixReason.MERGED), (55, FixReason.MISSING)], ids=["on", "apart"]
)
def test_a_missing_object_whose_candidate_lies_on_another_one_is_merged(car_at, reason):
    seen = replace(NOTHING, detections=(on(DOG, 0.9, 10), on(CAR, 0.1, car_at)))
    evaluation = judged(Outcome.UNDECIDABLE, AbstentionReason.MISSING_OBJECT, (CAR,), seen)

    (found,) = reasons_of(scene_of(), evaluation)

    assert found.reason is reason


def test_what_passes_or_needs_a_depth_model_has_no_reason():
    no_depth = judged(Outcome.UNDECIDABLE, AbstentionReason.NO_DEPTH)

    assert reasons_of(scene_of(), judged(Outcome.PASS)) == ()
    assert reasons_of(scene_of(relation_type=IN_FRONT_OF), no_depth) == ()


def test_a_missing_object_comes_before_its_place_and_counts_and_colours_are_reasons():
    mentions = tuple(
        MentionVerdict(
            mention_id=DOG, kind=kind, words="", outcome=outcome, confidence=0, count=0, doubt=doubt
        )
        for kind, outcome, doubt in (
            (RequirementKind.COLOUR, Outcome.FAIL, None),
            (RequirementKind.COUNT, Outcome.FAIL, None),
            (RequirementKind.COUNT, Outcome.UNDECIDABLE, MentionDoubt.MISSING_OBJECT),
            (RequirementKind.COUNT, Outcome.PASS, None),
        )
    )

    found = reasons_of(scene_of(), judged(Outcome.FAIL, mentions=mentions))

    assert [each.reason for each in found] == [
        FixReason.MISSING,
        FixReason.COUNT,
        FixReason.COLOUR,
        FixReason.PLACE,
    ]
