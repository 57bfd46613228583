from PySide6.QtWidgets import QLabel

from spatialstudio.ui.widgets.basic.fact_list import FactList


def seen(facts):
    return [label.text() for label in facts.findChildren(QLabel) if label.isVisible()]


def test_other_facts_take_the_place_of_the_old(qtbot):
    facts = FactList()
    qtbot.addWidget(facts)
    facts.show()
    facts.show_facts((("Seed", "7"), ("Steps", "16")))
    facts.show_facts((("Seed", "8"),))
    qtbot.waitUntil(lambda: seen(facts) == ["Seed", "8"])
