import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget
from shiboken6 import isValid

from spatialstudio.ui.compose.widgets.relation_wheel import Choice, RelationWheel
from spatialstudio.ui.compose.widgets.word_handle import ThingWord
from spatialstudio.ui.widgets.texts import TextLabel
from tests.ui.by_name import named

LEFT = Choice("left_of", "to the left of", (-1, 0))
CHOICES = (
    LEFT,
    Choice("right_of", "to the right of", (1, 0)),
    Choice("above", "above", (0, -1)),
    Choice("below", "below", (0, 1)),
    Choice("above_left_of", "above and to the left of", (-1, -1)),
    Choice("below_left_of", "below and to the left of", (-1, 1)),
    Choice("near", "near"),
    Choice("diagonally_above", "diagonally above", (0, -1)),
)


@pytest.fixture
def wheel(qtbot, theme):
    """The wheel of "dog to the left of car", open."""
    around = QWidget()
    qtbot.addWidget(around)
    around.show()
    ends = ThingWord("m1", "dog", 0), ThingWord("m2", "car", 1)
    wheel = RelationWheel(theme, ends, LEFT, CHOICES, around)
    wheel.around = around  # else nothing keeps it
    wheel.open_at(around.rect().center())
    return wheel


def button(wheel, name):
    return named(wheel, QToolButton, name)


def texts(wheel):
    return [label.text() for label in wheel.findChildren(TextLabel)]


def focused(wheel):
    return wheel.focusWidget().accessibleName()


def test_the_present_relation_is_looked_at_first(wheel):
    assert focused(wheel) == "to the left of"
    assert button(wheel, "to the left of").isChecked()
    assert "dog to the left of car" in texts(wheel)


def test_a_click_picks_a_place_and_closes(qtbot, wheel):
    with qtbot.waitSignal(wheel.type_picked) as picked:
        qtbot.mouseClick(button(wheel, "above"), Qt.MouseButton.LeftButton)
    assert picked.args == ["above"]


@pytest.mark.parametrize(
    ("key", "name"),
    [
        (Qt.Key.Key_Up, "above and to the left of"),
        (Qt.Key.Key_Down, "below and to the left of"),
        (Qt.Key.Key_Right, "to the right of"),
    ],
    ids=["up", "down", "right"],
)
def test_the_arrows_go_the_way_they_point(qtbot, wheel, key, name):
    qtbot.keyClick(wheel.focusWidget(), key)
    assert focused(wheel) == name


def test_what_is_looked_at_is_said(qtbot, wheel):
    qtbot.keyClick(wheel.focusWidget(), Qt.Key.Key_Up)
    assert "dog above and to the left of car" in texts(wheel)


def test_two_types_of_one_place_can_both_be_picked(qtbot, wheel):
    above, diagonally = button(wheel, "above"), button(wheel, "diagonally above")
    assert not above.geometry().intersects(diagonally.geometry())
    with qtbot.waitSignal(wheel.type_picked) as picked:
        qtbot.mouseClick(diagonally, Qt.MouseButton.LeftButton)
    assert picked.args == ["diagonally_above"]


def test_enter_picks_what_is_looked_at(qtbot, wheel):
    with qtbot.waitSignal(wheel.type_picked) as picked:
        qtbot.keyClick(wheel.focusWidget(), Qt.Key.Key_Return)
    assert picked.args == ["left_of"]


def test_no_relation_is_an_answer_too(qtbot, wheel):
    with qtbot.waitSignal(wheel.none_picked):
        qtbot.mouseClick(button(wheel, "no relation"), Qt.MouseButton.LeftButton)


def test_escape_leaves_all_as_it_was(qtbot, wheel):
    picked = []
    wheel.type_picked.connect(picked.append)
    qtbot.keyClick(wheel, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not isValid(wheel))
    assert picked == []
