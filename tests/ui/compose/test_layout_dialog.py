import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.compose.layouts_panel import COLUMNS, LayoutDialog
from spatialstudio.ui.compose.widgets.layout_tile import LayoutTile
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.run import commands as commands

TABBED = Qt.FocusPolicy.TabFocus


@pytest.fixture
def parent(qtbot):
    parent = QWidget()
    qtbot.addWidget(parent)
    return parent


@pytest.fixture
def dialog(theme, parent):
    dialog = LayoutDialog(theme, ("cat", "lamp"), parent)
    dialog.show()
    return dialog


def tile(dialog, name):
    return next(each for each in dialog.findChildren(LayoutTile) if each.text() == name)


def test_a_click_tells_the_prompt_and_closes(qtbot, dialog):
    with qtbot.waitSignal(dialog.prompt_picked) as picked:
        qtbot.mouseClick(tile(dialog, "Above"), Qt.MouseButton.LeftButton)
    assert picked.args == ["a cat above a lamp"]
    assert not dialog.isVisible()


def test_a_layout_is_picked_by_key(qtbot, dialog):
    with qtbot.waitSignal(dialog.prompt_picked) as picked:
        qtbot.keyClick(tile(dialog, "Between"), Qt.Key.Key_Space)
    assert picked.args == ["a cat between a lamp and a dog"]


def test_arrows_lead_from_tile_to_tile(qtbot, dialog):
    first = tile(dialog, "Left of")
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    second = dialog.focusWidget()
    qtbot.keyClick(second, Qt.Key.Key_Down)
    names = [each.text() for each in dialog.findChildren(LayoutTile)]
    reached = [names.index(each.text()) for each in (second, dialog.focusWidget())]
    assert reached == [1, 1 + COLUMNS]


def test_all_tiles_are_one_stop_of_tab(dialog):
    stops = [each.text() for each in dialog.findChildren(LayoutTile) if TABBED & each.focusPolicy()]
    assert stops == ["Left of"]


def test_each_says_its_prompt_to_screen_readers(dialog):
    assert tile(dialog, "Left of").accessibleDescription() == "a cat to the left of a lamp"


def test_a_layout_becomes_the_prompt_and_can_be_undone(qtbot, window, studio):
    window.prompt.use_prompt("a cat near a lamp")
    window.context.actions[commands.LAYOUTS].trigger()
    dialog = window.findChild(LayoutDialog)
    qtbot.mouseClick(tile(dialog, "Above"), Qt.MouseButton.LeftButton)
    assert window.findChild(PromptEditor).toPlainText() == "a cat above a lamp"
    window.context.edits.undo()
    assert window.findChild(PromptEditor).toPlainText() == "a cat near a lamp"
