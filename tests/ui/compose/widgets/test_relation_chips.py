import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from spatialstudio.domain.scene import relation_types
from spatialstudio.ui.compose.widgets.relation_chip import ChipClaim
from spatialstudio.ui.compose.widgets.relation_chips import ChipRow, RelationChips
from spatialstudio.ui.compose.widgets.relation_wheel import Choice
from spatialstudio.ui.compose.widgets.word_handle import ThingWord

LEFT, RIGHT = (Choice(kind.id, kind.phrase) for kind in list(relation_types)[:2])
DOG, CAR, CAT = ThingWord("m1", "dog", 0), ThingWord("m2", "car", 1), ThingWord("m3", "cat", 2)
RIGHT_KEY, LEFT_KEY = Qt.Key.Key_Right, Qt.Key.Key_Left
UP, DOWN = Qt.Key.Key_Up, Qt.Key.Key_Down


def row(key, *ends, **more):
    return ChipRow(key, ChipClaim(ends=ends, chosen=LEFT, inverse=RIGHT, **more), (LEFT, RIGHT))


@pytest.fixture
def place(qtbot):
    place = QWidget()
    qtbot.addWidget(place)
    QVBoxLayout(place)
    return place


@pytest.fixture
def chips(qtbot, theme, place):
    """Two relations between a button above and one below, the keyboard on the first relation."""
    before, after = QPushButton("before"), QPushButton("after")
    chips = RelationChips(theme)
    for part in (before, chips, after):
        place.layout().addWidget(part)
    chips.show_rows((row("r1", DOG, CAR), row("r2", DOG, CAT)), (DOG, CAR, CAT))
    chips.follow_tabs(before)
    place.show()
    before.setFocus()
    qtbot.keyClick(before, Qt.Key.Key_Tab)
    return chips


def press(qtbot, chips, *keys):
    """Press keys where the keyboard is, and name what it comes to."""
    for key in keys:
        qtbot.keyClick(chips.window().focusWidget(), key)
    reached = chips.window().focusWidget()
    return reached.accessibleName() or reached.text()


def test_tab_comes_to_the_relation_first(qtbot, chips):
    assert press(qtbot, chips) == f"Relation type: {LEFT.phrase}"


def test_all_chips_are_one_stop_of_tab(qtbot, chips):
    assert press(qtbot, chips, Qt.Key.Key_Tab) == "after"


def test_tab_goes_round_the_window(qtbot, chips):
    reached = [press(qtbot, chips, Qt.Key.Key_Tab) for _ in range(3)]
    assert reached == ["after", "before", f"Relation type: {LEFT.phrase}"]


def test_tab_returns_to_the_last_focus(qtbot, chips):
    press(qtbot, chips, DOWN, RIGHT_KEY, Qt.Key.Key_Tab)
    assert press(qtbot, chips, Qt.Key.Key_Backtab) == "Object: cat"


@pytest.mark.parametrize(
    ("keys", "reached"),
    [
        ((LEFT_KEY,), "Subject: dog"),
        ((RIGHT_KEY,), "Object: car"),
        ((RIGHT_KEY, RIGHT_KEY), f"Remove relation: dog {LEFT.phrase} car"),
        ((RIGHT_KEY, DOWN), "Object: cat"),
        ((RIGHT_KEY, DOWN, UP), "Object: car"),
        ((DOWN, DOWN, RIGHT_KEY), "Object: cat"),
    ],
    ids=["left", "right", "to the cross", "down", "down and up", "no further down"],
)
def test_arrows_lead_along_a_chip_and_from_chip_to_chip(qtbot, chips, keys, reached):
    assert press(qtbot, chips, *keys) == reached


def test_the_way_to_mend_a_doubtful_relation_is_among_the_stops(qtbot, chips):
    doubtful = row("r1", DOG, CAR, doubt="It cannot hold.", fix="Remove it")
    chips.show_rows((doubtful, row("r2", DOG, CAT)), (DOG, CAR, CAT))
    assert press(qtbot, chips, RIGHT_KEY, RIGHT_KEY) == "Fix: Remove it"


def test_the_keyboard_stays_on_its_relation_when_others_come(qtbot, chips):
    press(qtbot, chips, DOWN)
    chips.show_rows((row("r2", DOG, CAT), row("r3", CAT, CAR)), (DOG, CAR, CAT))
    assert press(qtbot, chips, RIGHT_KEY) == "Object: cat"
