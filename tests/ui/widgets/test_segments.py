import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.widgets.segments import Segments


@pytest.fixture
def segments(qtbot):
    segments = Segments("View", {1: ("One", "first"), 2: ("Two", "second"), 3: ("Three", "third")})
    qtbot.addWidget(segments)
    segments.show_choice(1)
    segments.show()
    return segments


def button(segments, text):
    return next(each for each in segments.findChildren(QToolButton) if each.text() == text)


def test_a_click_picks(qtbot, segments):
    with qtbot.waitSignal(segments.choice_picked) as picked:
        qtbot.mouseClick(button(segments, "Two"), Qt.MouseButton.LeftButton)
    assert picked.args == [2]


@pytest.mark.parametrize(
    ("start", "key", "reached"),
    [
        (1, Qt.Key.Key_Right, 2),
        (2, Qt.Key.Key_Left, 1),
        (3, Qt.Key.Key_Right, 3),
    ],
    ids=["on", "back", "end"],
)
def test_arrows_pick(qtbot, segments, start, key, reached):
    segments.show_choice(start)
    with qtbot.waitSignal(segments.choice_picked) as picked:
        qtbot.keyClick(segments, key)
    assert picked.args == [reached]


def test_showing_a_choice_tells_nobody(qtbot, segments):
    with qtbot.assertNotEmitted(segments.choice_picked):
        segments.show_choice(3)
    assert button(segments, "Three").isChecked()


def test_screen_readers_hear_what_is_chosen(segments):
    assert button(segments, "Two").accessibleName() == "View: Two"
