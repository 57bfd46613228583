"""Claims are told one a line, with the mark of each verdict."""

import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.gallery.widgets.claim_list import Claim, ClaimList
from spatialstudio.ui.widgets.outcome_mark import OutcomeMark

JUDGED = Claim("dog to the left of car", "PoS 0.83", Outcome.PASS)
UNJUDGED = Claim("cat above car", "", None)


@pytest.fixture
def claims(qtbot, theme):
    claims = ClaimList(theme)
    qtbot.addWidget(claims)
    claims.show()
    claims.show_claims((JUDGED, UNJUDGED))
    return claims


def texts(claims):
    return [label.text() for label in claims.findChildren(QLabel) if not label.isHidden()]


def test_each_claim_has_its_words_and_figures(claims):
    assert texts(claims) == ["dog to the left of car", "PoS 0.83", "cat above car"]


def test_only_what_was_judged_has_a_mark(claims):
    (mark,) = claims.findChildren(OutcomeMark)
    assert mark.accessibleName() == "PASS"


def test_other_claims_take_the_place_of_the_first(qtbot, claims):
    claims.show_claims((UNJUDGED,))
    qtbot.waitUntil(lambda: texts(claims) == ["cat above car"])
