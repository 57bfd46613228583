import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.widgets.fact_list import FactList


@pytest.fixture
def facts(qtbot):
    facts = FactList()
    qtbot.addWidget(facts)
    facts.show()
    return facts


def seen(facts):
    return [label.text() for label in facts.findChildren(QLabel) if label.isVisible()]


def test_other_facts_take_the_place_of_the_old(facts):
    facts.show_facts((("Seed", "7"), ("Steps", "16")))
    facts.show_facts((("Seed", "8"),))
    assert seen(facts) == ["Seed", "8"]


def test_lines_that_are_there_already_are_not_made_anew(facts):
    facts.show_facts((("Seed", "7"),))
    before = facts.findChildren(QLabel)
    facts.show_facts((("Seed", "8"), ("Steps", "16")))
    assert facts.findChildren(QLabel)[: len(before)] == before
    assert seen(facts) == ["Seed", "8", "Steps", "16"]
