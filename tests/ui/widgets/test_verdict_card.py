import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.domain.relation import RelationId
from spatialstudio.domain.verdict import (
    AbstentionReason,
    ConfidenceComponents,
    Measurement,
    Outcome,
    Verdict,
)
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark
from spatialstudio.ui.widgets.verdict_card import JudgedRelation, VerdictCard

REASONS = {Outcome.UNDECIDABLE: AbstentionReason.NEAR_BOUNDARY}


@pytest.fixture
def card_of(qtbot, theme):
    def make(outcome, *, brief=False):
        verdict = Verdict(
            relation_id=RelationId("r1"),
            outcome=outcome,
            confidence=0.87,
            components=ConfidenceComponents(
                detection=0.91, geometry=0.82, stability=1.0, agreement=0.73
            ),
            measurement=Measurement(delta=-0.4, margin=0.1, overlap=0.0, pos=0.97, pse=0.94),
            reason=REASONS.get(outcome),
        )
        card = VerdictCard(
            theme, JudgedRelation("dog to the left of car", verdict, "It is so."), brief=brief
        )
        qtbot.addWidget(card)
        return card

    return make


def texts(card):
    return [label.text() for label in card.findChildren(QLabel)]


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.value)
def test_the_outcome_stands_there_as_a_word_and_a_mark(card_of, outcome):
    card = card_of(outcome)
    assert outcome.value in texts(card)
    assert card.findChild(OutcomeMark).accessibleName() == outcome.value


def test_the_card_says_relation_sentence_confidence_and_pse(card_of):
    said = texts(card_of(Outcome.PASS))
    assert {"dog to the left of car", "It is so.", "0.87", "0.94"} <= set(said)


def test_the_confidence_shows_what_it_is_made_of(card_of):
    assert {"0.91", "0.82", "1.00", "0.73"} <= set(texts(card_of(Outcome.FAIL)))


def test_a_brief_card_leaves_the_numbers_out(card_of):
    assert "0.87" not in texts(card_of(Outcome.FAIL, brief=True))


def test_it_can_be_heard(card_of):
    assert card_of(Outcome.FAIL).accessibleName() == "verdict on dog to the left of car: FAIL"
