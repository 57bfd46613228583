import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QToolButton

from spatialstudio.domain.generation import MAX_SEED
from spatialstudio.domain.run_settings import SeedMode
from spatialstudio.ui.run.widgets.fields import SeedField, SeedModeField


@pytest.fixture
def field(qtbot, theme):
    field = SeedField(theme, MAX_SEED)
    qtbot.addWidget(field)
    field.show()
    return field


@pytest.fixture
def number(field):
    return field.findChild(QLineEdit)


def test_typing_picks_a_seed(qtbot, field, number):
    number.clear()
    qtbot.keyClicks(number, "42")
    assert field.seed == 42


def test_the_largest_seed_fits_though_it_needs_32_bits(qtbot, field, number):
    number.clear()
    qtbot.keyClicks(number, str(MAX_SEED))
    assert field.seed == MAX_SEED


def test_a_larger_seed_cannot_be_typed(qtbot, field, number):
    number.clear()
    qtbot.keyClicks(number, str(MAX_SEED + 1))
    assert field.seed < MAX_SEED


@pytest.mark.parametrize("keys", ["abc", "-5", "1.5"])
def test_only_digits_are_taken(qtbot, field, number, keys):
    number.clear()
    qtbot.keyClicks(number, keys)
    assert number.text().isdigit() or not number.text()


def test_the_dice_rolls_another_seed(qtbot, field):
    field.show_seed(5)
    with qtbot.waitSignal(field.seed_picked) as picked:
        qtbot.mouseClick(field.findChildren(QToolButton)[0], Qt.MouseButton.LeftButton)
    assert picked.args == [field.seed]
    assert 0 <= field.seed <= MAX_SEED


def test_showing_a_seed_does_not_echo_it(qtbot, field):
    with qtbot.assertNotEmitted(field.seed_picked):
        field.show_seed(9)
    assert field.seed == 9


@pytest.fixture
def modes(qtbot):
    modes = SeedModeField()
    qtbot.addWidget(modes)
    modes.show()
    return modes


@pytest.mark.parametrize("mode", SeedMode, ids=lambda mode: mode.value)
def test_showing_a_mode_does_not_echo_it(qtbot, modes, mode):
    with qtbot.assertNotEmitted(modes.mode_picked):
        modes.show_mode(mode)
    assert modes.mode is mode


def test_what_comes_next_is_chosen_by_key(qtbot, modes):
    modes.show_mode(SeedMode.RANDOM)
    with qtbot.waitSignal(modes.mode_picked) as picked:
        qtbot.keyClick(modes, Qt.Key.Key_Down)
    assert picked.args == [SeedMode.FIXED]
