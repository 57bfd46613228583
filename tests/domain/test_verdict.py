import pytest

from spatialstudio.domain.verdict import (
    AbstentionReason,
    CheckerSettings,
    ConfidenceComponents,
    Outcome,
    Verdict,
)

COMPONENTS = ConfidenceComponents(detection=1, geometry=1, stability=1, agreement=1)


def verdict(outcome=Outcome.PASS, reason=None):
    return Verdict(
        relation_id="r",
        outcome=outcome,
        confidence=0.5,
        components=COMPONENTS,
        reason=reason,
    )


def test_an_undecidable_verdict_needs_a_reason():
    with pytest.raises(ValueError, match="reason"):
        verdict(Outcome.UNDECIDABLE)


@pytest.mark.parametrize("outcome", [Outcome.PASS, Outcome.FAIL])
def test_a_decided_verdict_has_no_reason(outcome):
    with pytest.raises(ValueError, match="reason"):
        verdict(outcome, AbstentionReason.NEAR_BOUNDARY)


@pytest.mark.parametrize("reason", list(AbstentionReason), ids=lambda reason: reason.value)
def test_every_reason_makes_a_verdict_undecidable(reason):
    assert verdict(Outcome.UNDECIDABLE, reason).reason is reason


def test_the_weights_of_confidence_add_up_to_one():
    assert sum(CheckerSettings().weights) == pytest.approx(1)
