from collections import Counter
from itertools import combinations

from spatialstudio.ui.evaluate.commands import LAYER_COMMANDS
from spatialstudio.ui.framework.actions import may_meet
from spatialstudio.ui.framework.command import Menu
from spatialstudio.ui.framework.commands import QUIT
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.window.command_table import TABLE


def repeated(values):
    return [value for value, count in Counter(values).items() if count > 1]


def test_no_two_commands_share_an_id():
    assert repeated(command.id for command in TABLE) == []


def test_no_two_commands_share_keys_where_both_are_heard():
    shared = [
        (one.id, other.id)
        for one, other in combinations(TABLE, 2)
        if one.keys and one.keys == other.keys and may_meet(one, other)
    ]
    assert shared == []


def test_the_menu_file_ends_with_quit():
    assert [command for command in TABLE if command.menu is Menu.FILE][-1] == QUIT


def test_every_layer_has_a_key():
    assert set(LAYER_COMMANDS.values()) == set(Layer)


def test_the_layer_keys_follow_the_list():
    keys = {layer: command.keys for command, layer in LAYER_COMMANDS.items()}
    assert [keys[layer] for layer in Layer] == list("123456789")
