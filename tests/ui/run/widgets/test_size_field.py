import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox, QToolButton

from spatialstudio.ui.run.widgets.fields import SizeField


@pytest.fixture
def field(qtbot, theme):
    field = SizeField(theme, 8, 4096)
    qtbot.addWidget(field)
    field.show_size(512, 768)
    field.show()
    return field


@pytest.fixture
def width(field):
    return field.findChildren(QSpinBox)[0]


@pytest.mark.parametrize(
    ("typed", "taken"), [("640", 640), ("643", 640), ("1", 64), ("9999", 1000)]
)
def test_what_is_typed_becomes_a_size_that_can_be_drawn(qtbot, field, width, typed, taken):
    width.selectAll()
    qtbot.keyClicks(width, typed)
    qtbot.keyClick(width, Qt.Key.Key_Return)
    assert width.value() == taken


def test_a_key_steps_by_one_unit(qtbot, field, width):
    with qtbot.waitSignal(field.size_picked) as picked:
        qtbot.keyClick(width, Qt.Key.Key_Up)
    assert picked.args == [520, 768]


def test_the_picture_can_be_laid_on_its_side(qtbot, field):
    with qtbot.waitSignal(field.size_picked) as picked:
        qtbot.mouseClick(field.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert picked.args == [768, 512]


def test_showing_a_size_does_not_echo_it(qtbot, field):
    with qtbot.assertNotEmitted(field.size_picked):
        field.show_size(64, 64)
