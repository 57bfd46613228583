from PySide6.QtWidgets import QLabel

from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    AssertionScore,
    DaScore,
    YesNoChances,
)
from spatialstudio.ui.evaluate.widgets.mention_card import AssertionScores


def scored(name, chances=None):
    assertion = Assertion(
        id=AssertionId(name),
        text=f"there is a {name}",
        question=f"Is there a {name}?",
    )
    return AssertionScore(assertion=assertion, probability_yes=0.75, chances=chances)


def test_an_answered_probability_states_its_logarithms_and_a_measured_one_none(qtbot, theme):
    answered = scored("dog", YesNoChances(log_yes=-0.3, log_no=-1.4))
    score = DaScore(value=0.75, scores=(answered, scored("car")), source_id="fake")
    shown = AssertionScores(theme, score)
    qtbot.addWidget(shown)
    shown.show()
    tips = [each.toolTip() for each in shown.findChildren(QLabel) if each.text() == "0.75"]
    assert "Log-probability of yes -0.30, of no -1.40" in tips[0]
    assert tips[1] == ""
