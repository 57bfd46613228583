import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolButton, QWidget
from shiboken6 import isValid

from spatialstudio.domain.scene import relation_types
from spatialstudio.ui.compose.widgets.relation_chip import ChipClaim, RelationChip
from spatialstudio.ui.compose.widgets.relation_wheel import Choice, RelationWheel
from spatialstudio.ui.compose.widgets.word_handle import ThingWord, WordHandle

CHOICES = tuple(Choice(kind.id, kind.phrase) for kind in relation_types)
DOG, CAR = ThingWord("m1", "dog", 0), ThingWord("m2", "car", 1)


@pytest.fixture
def make(qtbot, theme):
    """Show a chip, "dog to the left of car" unless told otherwise."""

    def make(ends=(DOG, CAR), chosen=CHOICES[0], **more):
        claim = ChipClaim(ends=ends, chosen=chosen, inverse=CHOICES[1], **more)
        chip = RelationChip(theme, claim, CHOICES, (DOG, CAR))
        qtbot.addWidget(chip)
        chip.show()
        return chip

    return make


@pytest.fixture
def chip(make):
    return make()


def button(chip, name):
    buttons = chip.findChildren(QToolButton)
    return next(each for each in buttons if each.accessibleName().startswith(name))


@pytest.fixture
def middle(chip):
    return button(chip, "Relation type")


@pytest.fixture
def menu_of(qtbot):
    """Open a chip's menu as a right click does, and close it afterwards."""
    opened = []

    def menu_of(chip):
        place = chip.rect().center()
        kind = QContextMenuEvent.Reason.Mouse
        QApplication.sendEvent(chip, QContextMenuEvent(kind, place, chip.mapToGlobal(place)))
        menu = next(each for each in chip.findChildren(QMenu) if each.isVisible())
        opened.append(menu)
        return menu

    yield menu_of
    for menu in opened:
        if isValid(menu):
            menu.close()


def entry(menu, words):
    return next(action for action in menu.actions() if action.text().startswith(words))


def test_the_chip_reads_as_a_sentence(chip):
    assert chip.accessibleName() == f"Relation: dog {CHOICES[0].phrase} car"


def test_the_middle_opens_the_wheel(qtbot, chip, middle):
    qtbot.mouseClick(middle, Qt.MouseButton.LeftButton)
    wheel = chip.findChild(RelationWheel)
    assert wheel.isVisible()
    with qtbot.waitSignal(chip.type_picked) as picked:
        button(wheel, "below").click()
    assert picked.args == ["below"]


def test_no_relation_on_the_wheel_asks_for_removal(qtbot, chip):
    chip.open_wheel()
    with qtbot.waitSignal(chip.removal_asked):
        button(chip.findChild(RelationWheel), "no relation").click()


def test_delete_on_the_middle_asks_for_removal(qtbot, chip, middle):
    with qtbot.waitSignal(chip.removal_asked):
        qtbot.keyClick(middle, Qt.Key.Key_Delete)


def test_the_cross_asks_for_removal(qtbot, chip):
    with qtbot.waitSignal(chip.removal_asked):
        qtbot.mouseClick(button(chip, "Remove"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(("key", "ranks"), [(Qt.Key.Key_Up, -1), (Qt.Key.Key_Down, 1)])
def test_alt_and_an_arrow_ask_for_another_rank(qtbot, chip, middle, key, ranks):
    with qtbot.waitSignal(chip.move_asked) as asked:
        qtbot.keyClick(middle, key, Qt.KeyboardModifier.AltModifier)
    assert asked.args == [ranks]


@pytest.mark.parametrize(("name", "ranks"), [("Move up", -1), ("Move down", 1)])
def test_the_menu_moves_it_by_a_rank(qtbot, chip, menu_of, name, ranks):
    with qtbot.waitSignal(chip.move_asked) as asked:
        entry(menu_of(chip), name).trigger()
    assert asked.args == [ranks]


@pytest.mark.parametrize(
    ("end", "can_move"), [("is_first", [False, True]), ("is_last", [True, False])]
)
def test_the_first_cannot_rise_and_the_last_cannot_sink(make, menu_of, end, can_move):
    menu = menu_of(make(**{end: True}))
    assert [entry(menu, name).isEnabled() for name in ("Move up", "Move down")] == can_move


def test_turning_round_is_in_the_menu(qtbot, chip, menu_of):
    with qtbot.waitSignal(chip.type_picked) as picked:
        entry(menu_of(chip), "Reverse").trigger()
    assert picked.args == [CHOICES[1].type_id]


def test_swapping_is_in_the_menu_and_says_what_it_makes(qtbot, chip, menu_of):
    swap = entry(menu_of(chip), "Swap")
    assert swap.text() == "Swap: car to the left of dog"
    with qtbot.waitSignal(chip.swap_asked):
        swap.trigger()


def test_muting_is_in_the_menu(qtbot, chip, menu_of):
    with qtbot.waitSignal(chip.mute_picked) as picked:
        entry(menu_of(chip), "Mute").trigger()
    assert picked.args == [True]


def test_a_muted_relation_says_so(make, menu_of):
    chip = make(is_muted=True)
    assert "Muted" in chip.accessibleDescription()
    assert entry(menu_of(chip), "Mute").isChecked()


def test_a_weight_is_picked_from_the_menu(qtbot, chip, menu_of):
    menu = menu_of(chip)
    weights = next(each for each in menu.findChildren(QMenu) if each.title() == "Weight")
    with qtbot.waitSignal(chip.weight_picked) as picked:
        weights.actions()[1].trigger()
    assert picked.args == [2.0]


def test_an_unusual_weight_is_shown(make):
    chip = make(weight=2.0)
    assert "Weight 2." in chip.accessibleDescription()


def test_the_reason_is_shown_on_the_chip_on_request(make, menu_of):
    chip = make(why="The grammar read it.")
    before = chip.sizeHint().height()
    entry(menu_of(chip), "Why").trigger()
    assert chip.sizeHint().height() > before


def test_a_doubtful_relation_is_mended_in_one_step(qtbot, make, menu_of):
    chip = make(doubt="It contradicts another.", fix="Leave out it")
    with qtbot.waitSignal(chip.fix_asked):
        qtbot.mouseClick(button(chip, "Fix"), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(chip.fix_asked):
        entry(menu_of(chip), "Leave out it").trigger()


def test_a_relation_without_doubt_has_nothing_to_mend(chip):
    assert button(chip, "Fix").isHidden()


def test_a_word_opens_the_list_of_things(qtbot, chip):
    handle = chip.findChildren(WordHandle)[0]
    qtbot.mouseClick(handle, Qt.MouseButton.LeftButton)
    menu = next(each for each in handle.findChildren(QMenu) if each.isVisible())
    with qtbot.waitSignal(chip.end_picked) as picked:
        menu.actions()[1].trigger()
    menu.close()
    assert picked.args == [0, "m2"]


def drag(qtbot, widget, to):
    qtbot.mousePress(widget, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    qtbot.mouseMove(widget, to)
    qtbot.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=to)


def test_a_word_that_is_dragged_tells_where_it_was_dropped(qtbot, chip):
    handle, to = chip.findChildren(WordHandle)[1], QPoint(40, 60)
    with (
        qtbot.waitSignals([chip.end_dragged, chip.end_dropped]),
        qtbot.assertNotEmitted(handle.clicked),
    ):
        drag(qtbot, handle, to)


def test_a_chip_that_is_dragged_tells_where_it_was_dropped(qtbot, chip):
    to = QPoint(4, 90)
    with qtbot.waitSignal(chip.chip_dropped) as dropped:
        drag(qtbot, chip, to)
    assert dropped.args == [chip.mapToGlobal(to)]


def test_a_click_looks_at_the_relation(qtbot, chip):
    with qtbot.waitSignal(chip.picked):
        qtbot.mouseClick(chip, Qt.MouseButton.LeftButton, pos=QPoint(3, 3))


def test_long_words_stand_in_three_lines(qtbot, make):
    long = next(choice for choice in CHOICES if "and" in choice.phrase)
    chip = make((ThingWord("m1", "potted plant", 0), ThingWord("m2", "motorcycle", 1)), long)
    dock = QWidget()
    qtbot.addWidget(dock)
    chip.setParent(dock)
    low = chip.sizeHint()
    chip.resize(low)
    dock.show()
    chip.resize(chip.minimumSizeHint().width(), low.height())
    qtbot.waitUntil(lambda: chip.sizeHint().height() > 1.5 * low.height())
    assert chip.minimumSizeHint().width() < low.width()
