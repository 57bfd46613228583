import pytest

from spatialstudio.domain.perception import Perception
from spatialstudio.domain.verdict import (
    AbstentionReason,
    CheckerSettings,
    ConfidenceComponents,
    Evaluation,
    Measurement,
    Outcome,
    Verdict,
)

COMPONENTS = ConfidenceComponents(detection=1, geometry=1, stability=1, agreement=1)


def verdict(outcome=Outcome.PASS, reason=None, pse=None):
    measurement = Measurement(delta=-0.3, margin=0.1, overlap=0, pos=1, pse=pse)
    return Verdict(
        relation_id="r",
        outcome=outcome,
        confidence=0.5,
        components=COMPONENTS,
        measurement=None if pse is None else measurement,
        reason=reason,
    )


def evaluation(*verdicts):
    perception = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    return Evaluation(perception=perception, verdicts=verdicts)


def test_an_undecidable_verdict_must_say_why():
    with pytest.raises(ValueError, match="reason"):
        verdict(Outcome.UNDECIDABLE)


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.FAIL])
def test_a_decided_verdict_has_no_reason(outcome):
    with pytest.raises(ValueError, match="reason"):
        verdict(outcome, AbstentionReason.NEAR_BOUNDARY)


@pytest.mark.parametrize("reason", list(AbstentionReason), ids=lambda reason: reason.value)
def test_every_reason_makes_undecidable(reason):
    assert verdict(Outcome.UNDECIDABLE, reason).reason is reason


def test_missing_objects_count_as_nothing_in_the_mean_pse():
    missing = verdict(Outcome.UNDECIDABLE, AbstentionReason.MISSING_OBJECT)
    assert evaluation(verdict(pse=0.8), missing).mean_pse == pytest.approx(0.4)


def test_without_relations_there_is_no_mean_pse():
    assert evaluation().mean_pse is None


def test_the_weights_of_confidence_add_up_to_one():
    assert sum(CheckerSettings().weights) == pytest.approx(1)
