import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from spatialstudio.domain.relation import relation_types
from spatialstudio.ui.widgets.relation_chip import ChipEnd, Choice, RelationChip

CHOICES = tuple(Choice(kind.id, kind.phrase) for kind in relation_types)


@pytest.fixture
def chip(qtbot, theme):
    chip = RelationChip(theme, ChipEnd("dog", 0), (ChipEnd("car", 1),), CHOICES[0], CHOICES)
    qtbot.addWidget(chip)
    chip.show()
    return chip


def button(chip, name):
    buttons = chip.findChildren(QToolButton)
    return next(each for each in buttons if each.accessibleName().startswith(name))


@pytest.fixture
def middle(chip):
    return button(chip, "Relation type")


def test_the_chip_reads_as_a_sentence(chip):
    assert chip.accessibleName() == f"Relation: dog {CHOICES[0].phrase} car"


def test_the_middle_offers_every_type(middle):
    texts = [action.text() for action in middle.menu().actions()]
    assert texts[: len(CHOICES)] == [choice.phrase for choice in CHOICES]


def test_picking_a_type_tells_its_id(qtbot, chip, middle):
    with qtbot.waitSignal(chip.type_picked) as picked:
        middle.menu().actions()[2].trigger()
    assert picked.args == [CHOICES[2].type_id]


def test_delete_on_the_middle_asks_for_removal(qtbot, chip, middle):
    with qtbot.waitSignal(chip.removal_asked):
        qtbot.keyClick(middle, Qt.Key.Key_Delete)


def test_the_cross_asks_for_removal(qtbot, chip):
    with qtbot.waitSignal(chip.removal_asked):
        qtbot.mouseClick(button(chip, "Remove"), Qt.MouseButton.LeftButton)


def test_turning_round_is_in_the_menu(qtbot, chip, middle):
    turn = next(action for action in middle.menu().actions() if action.text() == "Turn round")
    with qtbot.waitSignal(chip.swap_asked):
        turn.trigger()


def test_long_words_stand_in_two_lines(qtbot, theme, chip):
    long = next(choice for choice in CHOICES if "and" in choice.phrase)
    ends = ChipEnd("potted plant", 0), (ChipEnd("motorcycle", 1),)
    tall = RelationChip(theme, *ends, long, CHOICES)
    qtbot.addWidget(tall)
    assert tall.sizeHint().height() > 1.5 * chip.sizeHint().height()
