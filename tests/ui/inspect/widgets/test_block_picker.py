import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.inspect.widgets.block_picker import (
    Block,
    BlockPicker,
    BlockState,
)

LEFT = Qt.MouseButton.LeftButton


def block(key, side, state=BlockState.AVAILABLE, selected=0):
    name = key.replace("_", " ")
    shape = (side, side)
    return Block(key=key, name=name, shape=shape, layers=2, state=state, selected=selected)


UNET = (
    block("down_1", 16, BlockState.INCLUDED),
    block("mid", 8),
    block("up_1", 16, BlockState.MEAN_ONLY),
    block("up_2", 16, BlockState.MISSING),
)


@pytest.fixture
def picker(qtbot, theme):
    picker = BlockPicker(theme)
    qtbot.addWidget(picker)
    picker.show_blocks(UNET)
    picker.resize(300, picker.sizeHint().height())
    picker.show()
    return picker


@pytest.mark.parametrize(("selected", "halves"), [(2, ["accent"] * 2), (1, ["accent", "raised"])])
def test_a_block_is_filled_by_the_share_of_its_selected_layers(picker, theme, selected, halves):
    picker.show_blocks((block("mid", 8, BlockState.INCLUDED, selected),))
    image, cell = picker.grab().toImage(), picker.cell(0)
    at = [cell.left() + share * cell.width() for share in (0.25, 0.75)]
    shown = [image.pixelColor(round(x), round(cell.center().y())) for x in at]
    assert shown == [theme.colour(role) for role in halves]
    said = "mid: 2 layers" if selected == 2 else "mid: 1 of 2 layers"
    assert picker.accessibleDescription().startswith(said)


@pytest.fixture
def toggled(picker):
    """Keys of the blocks that were taken in or out."""
    pronounced = []
    picker.block_toggled.connect(pronounced.append)
    return pronounced


def middle(picker, place):
    return picker.cell(place).center().toPoint()


def test_a_click_takes_a_block_in_or_out(qtbot, picker, toggled):
    qtbot.mouseClick(picker, LEFT, pos=middle(picker, 1))
    assert toggled == ["mid"]


def test_a_double_click_takes_a_block_alone(qtbot, picker):
    with qtbot.waitSignal(picker.block_singled) as singled:
        qtbot.mouseDClick(picker, LEFT, pos=middle(picker, 0))
    assert singled.args == ["down_1"]


def test_the_keyboard_does_the_same(qtbot, picker, toggled):
    qtbot.keyClick(picker, Qt.Key.Key_Right)
    qtbot.keyClick(picker, Qt.Key.Key_Space)
    assert toggled == ["mid"]
    with qtbot.waitSignal(picker.block_singled) as singled:
        qtbot.keyClick(picker, Qt.Key.Key_Return)
    assert singled.args == ["mid"]


@pytest.mark.parametrize("place", [2, 3], ids=["mean-only", "missing"])
def test_what_was_not_kept_cannot_be_picked(qtbot, picker, toggled, place):
    qtbot.mouseClick(picker, LEFT, pos=middle(picker, place))
    assert toggled == []


def test_the_block_under_the_keyboard_is_told_in_words(qtbot, picker):
    for _ in UNET:
        qtbot.keyClick(picker, Qt.Key.Key_Right)
    assert picker.accessibleDescription() == "up 2: 2 layers, 16 x 16, not recorded"


def test_coarser_blocks_stand_lower(picker):
    assert picker.cell(1).top() > picker.cell(0).top() == picker.cell(2).top()
    assert picker.cell(0).left() < picker.cell(1).left() < picker.cell(2).left()


def test_many_blocks_of_one_resolution_stand_in_lines(qtbot, picker):
    picker.show_blocks(tuple(block(f"block_{number}", 32) for number in range(57)))
    assert picker.cell(56).top() > picker.cell(0).top()
    assert all(picker.cell(place).right() <= picker.width() for place in range(57))


def test_states_look_different(picker):
    image = picker.grab().toImage()
    seen = {image.pixelColor(middle(picker, place)).name() for place in range(3)}
    assert len(seen) == 3
