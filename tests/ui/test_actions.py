from collections import Counter

import pytest

from spatialstudio.ui.actions import ACTIONS, LAYER_COMMANDS, Actions, Command, Menu
from spatialstudio.ui.widgets.picture_layers import Layer


def test_every_command_has_a_text():
    assert set(ACTIONS) == set(Command)


def test_no_two_actions_share_keys():
    counted = Counter(text.keys for text in ACTIONS.values() if text.keys)
    assert [keys for keys, count in counted.items() if count > 1] == []


def test_every_layer_has_a_key():
    assert set(LAYER_COMMANDS.values()) == set(Layer)


def test_the_layer_keys_follow_the_list():
    keys = {layer: ACTIONS[command].keys for command, layer in LAYER_COMMANDS.items()}
    assert [keys[layer] for layer in Layer] == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("menu", list(Menu), ids=lambda menu: menu.name)
def test_every_menu_has_actions(theme, menu):
    assert Actions(theme).of_menu(menu)
