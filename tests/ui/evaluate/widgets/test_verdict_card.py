import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from spatialstudio.domain.scene import RelationId
from spatialstudio.domain.verdict import (
    AbstentionReason,
    ConfidenceComponents,
    Measurement,
    Outcome,
    Verdict,
)
from spatialstudio.ui.evaluate.widgets.verdict_card import (
    CheckChip,
    CheckState,
    JudgedRelation,
    VerdictCard,
    VerdictCheck,
)
from spatialstudio.ui.widgets.disclosure import Disclosure
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark

TOO_NEAR = VerdictCheck(
    AbstentionReason.NEAR_BOUNDARY,
    "0.06 to the left; 0.10 left needed",
    "How far it is.",
    CheckState.BROKEN,
)
REASONS = {Outcome.UNDECIDABLE: AbstentionReason.NEAR_BOUNDARY}


def verdict_of(outcome):
    return Verdict(
        relation_id=RelationId("r1"),
        outcome=outcome,
        confidence=0.87,
        components=ConfidenceComponents(
            detection=0.91, geometry=0.82, stability=1.0, agreement=0.73
        ),
        measurement=Measurement(delta=-0.4, margin=0.1, overlap=0.0, pos=0.97, pse=0.94),
        reason=REASONS.get(outcome),
    )


@pytest.fixture
def card_of(qtbot, theme):
    def make(outcome, *, brief=False):
        verdict = verdict_of(outcome)
        card = VerdictCard(
            theme,
            JudgedRelation(
                "dog to the left of car",
                verdict,
                "It is so.",
                checks=(TOO_NEAR,) if verdict.reason else (),
                threshold="Lower the threshold to 0.31" if verdict.reason else "",
                adjusted="Human-adjusted: PASS" if verdict.reason else "",
            ),
            brief=brief,
        )
        qtbot.addWidget(card)
        return card

    return make


def texts(card):
    return [label.text() for label in card.findChildren(QLabel)]


@pytest.mark.parametrize("outcome", list(Outcome), ids=lambda outcome: outcome.value)
def test_the_outcome_is_shown_as_a_word_and_a_mark(card_of, outcome):
    card = card_of(outcome)
    assert outcome.value in texts(card)
    assert card.findChild(OutcomeMark).accessibleName() == outcome.value


def opened(qtbot, card):
    """Return the card, shown, with its numbers in sight."""
    card.show()
    qtbot.keyClick(card.findChild(Disclosure).findChild(QToolButton), Qt.Key.Key_Space)
    return card


def test_the_card_says_relation_sentence_confidence_and_pse(qtbot, card_of):
    card = opened(qtbot, card_of(Outcome.PASS))
    said = texts(card)
    assert card.findChild(Disclosure).findChild(QToolButton).text() == "Confidence 0.87"
    assert {"dog to the left of car", "It is so.", "0.94"} <= set(said)


def test_the_confidence_shows_its_components(qtbot, card_of):
    card = opened(qtbot, card_of(Outcome.FAIL))
    assert {"0.91", "0.82", "1.00", "0.73"} <= set(texts(card))


def test_the_numbers_are_shown_when_asked_for_and_put_away_again(qtbot, card_of):
    card = opened(qtbot, card_of(Outcome.FAIL))
    (number,) = (label for label in card.findChildren(QLabel) if label.text() == "0.91")
    qtbot.waitUntil(number.isVisible)
    for _ in range(2):
        qtbot.keyClick(card.findChild(Disclosure).findChild(QToolButton), Qt.Key.Key_Space)
    assert [label for label in card.findChildren(QLabel) if label.text() == "0.91"] == [number]


def test_a_brief_card_leaves_the_numbers_out(card_of):
    assert card_of(Outcome.FAIL, brief=True).findChildren(Disclosure) == []


def test_pressing_a_ground_asks_for_its_evidence_and_again_for_none(qtbot, card_of):
    card = card_of(Outcome.UNDECIDABLE)
    (chip,) = card.findChildren(CheckChip)
    with qtbot.waitSignal(card.ground_picked) as lit:
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert lit.args == [AbstentionReason.NEAR_BOUNDARY]
    with qtbot.waitSignal(card.ground_picked) as lit:
        qtbot.keyClick(chip, Qt.Key.Key_Space)
    assert lit.args == [None]


def test_grounds_are_one_stop_of_tab_and_arrows_lead_along(qtbot, theme):
    overlap = VerdictCheck(AbstentionReason.HIGH_OVERLAP, "overlap 0.0", "Both.", CheckState.HELD)
    verdict = verdict_of(Outcome.UNDECIDABLE)
    card = VerdictCard(theme, JudgedRelation("it", verdict, "So.", checks=(TOO_NEAR, overlap)))
    qtbot.addWidget(card)
    card.show()
    first, second = card.findChildren(CheckChip)
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    assert card.focusWidget() is second
    assert not first.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_showing_what_is_lit_asks_for_nothing(qtbot, card_of):
    card = card_of(Outcome.UNDECIDABLE)
    with qtbot.assertNotEmitted(card.ground_picked):
        card.show_lit(AbstentionReason.NEAR_BOUNDARY)
    assert card.findChild(CheckChip).isChecked()


def test_the_ground_that_decided_says_so(card_of):
    chip = card_of(Outcome.UNDECIDABLE).findChild(CheckChip)
    assert chip.accessibleName() == "0.06 to the left; 0.10 left needed: decided the verdict"


def test_the_lever_can_be_pulled(qtbot, card_of):
    card = card_of(Outcome.UNDECIDABLE)
    with qtbot.waitSignals([card.picked, card.threshold_requested]):
        qtbot.keyClick(card.findChild(QPushButton), Qt.Key.Key_Space)


def test_the_adjusted_verdict_is_shown(card_of):
    assert "Human-adjusted: PASS" in texts(card_of(Outcome.UNDECIDABLE))


def test_it_can_be_heard(card_of):
    assert card_of(Outcome.FAIL).accessibleName() == "verdict on dog to the left of car: FAIL"
