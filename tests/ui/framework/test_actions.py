import pytest
from PySide6.QtGui import QKeySequence

from spatialstudio.ui.framework.actions import Actions
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.command import Menu
from spatialstudio.ui.framework.commands import (
    OPEN_RUN,
    PALETTE,
    QUIT,
    STAGE_ONLY,
)
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.gallery.commands import EXPORT
from spatialstudio.ui.run.commands import CANCEL
from spatialstudio.ui.window.command_table import TABLE


@pytest.fixture
def actions(theme, settings):
    return Actions(theme, settings, TABLE)


@pytest.fixture
def done():
    return []


@pytest.mark.parametrize("menu", list(Menu), ids=lambda menu: menu.name)
def test_every_menu_has_actions(actions, menu):
    assert actions.of_menu(menu)


def test_commands_without_a_handler_are_disabled(actions):
    assert not actions[QUIT].isEnabled()


def test_a_bound_command_is_carried_out(actions, done):
    actions.bind(QUIT, lambda: done.append("quit"))
    actions[QUIT].trigger()
    assert done == ["quit"]


def test_binding_anew_forgets_what_was_bound(actions, done):
    actions.bind(QUIT, lambda: done.append("first"))
    actions[QUIT].setEnabled(False)
    actions.bind(QUIT, lambda: done.append("second"))
    actions[QUIT].trigger()
    assert done == ["second"]


def test_a_switch_hears_its_new_state(actions, done):
    actions.bind_switch(STAGE_ONLY, done.append)
    actions[STAGE_ONLY].trigger()
    actions[STAGE_ONLY].trigger()
    assert done == [True, False]


def test_setting_a_switch_carries_nothing_out(actions, done):
    actions.bind_switch(STAGE_ONLY, done.append)
    actions[STAGE_ONLY].setChecked(True)
    assert done == []


def test_the_users_keys_hold_at_the_next_start(actions, theme, settings):
    actions.use_keys(QUIT, QKeySequence("Ctrl+Alt+Q"))
    again = Actions(theme, settings, TABLE)
    assert again[QUIT].shortcut() == QKeySequence("Ctrl+Alt+Q")


def test_keys_can_be_taken_away(actions, theme, settings):
    actions.use_keys(QUIT, QKeySequence())
    again = Actions(theme, settings, TABLE)
    assert again[QUIT].shortcut().isEmpty()


def test_the_usual_keys_come_back(actions):
    actions.use_keys(QUIT, QKeySequence("F9"))
    actions.use_usual_keys()
    assert actions[QUIT].shortcut() == QKeySequence(QUIT.keys)


def test_keys_that_belong_to_another_command_clash(actions):
    assert actions.clash(QUIT, QKeySequence(PALETTE.keys)) == PALETTE


def test_the_beginning_of_a_sequence_clashes_with_it(actions):
    assert actions.clash(QUIT, QKeySequence("Esc")) == CANCEL


def test_a_commands_own_keys_do_not_clash(actions):
    assert actions.clash(OPEN_RUN, QKeySequence(OPEN_RUN.keys)) is None


def test_the_tip_names_the_keys(actions):
    actions.use_keys(PALETTE, QKeySequence("F1"))
    assert "(F1)" in actions[PALETTE].toolTip()


def test_icons_take_the_ink_of_another_theme(actions, theme):
    before = actions[EXPORT].icon().cacheKey()
    theme.use(palette_of(ThemeChoice.DARK))
    assert not actions[EXPORT].icon().isNull()
    assert actions[EXPORT].icon().cacheKey() != before
