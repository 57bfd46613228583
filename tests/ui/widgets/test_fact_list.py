from PySide6.QtWidgets import QLabel

from spatialstudio.ui.widgets.fact_list import FactList


def test_other_facts_take_the_place_of_the_old(qtbot):
    facts = FactList()
    qtbot.addWidget(facts)
    facts.show()
    facts.show_facts((("Seed", "7"), ("Steps", "16")))
    facts.show_facts((("Seed", "8"),))
    seen = [label.text() for label in facts.findChildren(QLabel) if not label.isHidden()]
    assert seen == ["Seed", "8"]
