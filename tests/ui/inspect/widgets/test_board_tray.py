import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt
from PySide6.QtGui import QDropEvent, QImage

from spatialstudio.ui.inspect.widgets.board_tray import BoardTray, TrayFrame

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def tray(qtbot):
    tray = BoardTray()
    qtbot.addWidget(tray)
    picture = QImage(8, 8, QImage.Format.Format_RGB888)
    picture.fill(0)
    tray.show_frames(tuple(TrayFrame(key, picture, f"Step {key}", "") for key in "abc"))
    tray.resize(900, 200)
    tray.show()
    return tray


def test_frames_stand_in_order_and_the_newest_is_current(tray):
    assert tray.keys == ("a", "b", "c")
    assert tray.current_key == "c"


@pytest.mark.parametrize(
    ("start", "key", "order"),
    [
        (2, Qt.Key.Key_Left, ("a", "c", "b")),
        (0, Qt.Key.Key_Right, ("b", "a", "c")),
    ],
    ids=["left", "right"],
)
def test_control_and_an_arrow_move_a_frame(qtbot, tray, start, key, order):
    tray.setCurrentRow(start)
    with qtbot.waitSignal(tray.order_picked) as picked:
        qtbot.keyClick(tray, key, CONTROL)
    assert picked.args == [order]


def test_a_frame_cannot_leave_the_tray(qtbot, tray):
    with qtbot.assertNotEmitted(tray.order_picked):
        qtbot.keyClick(tray, Qt.Key.Key_Right, CONTROL)


def test_delete_asks_for_removal(qtbot, tray):
    tray.setCurrentRow(1)
    with qtbot.waitSignal(tray.removal_asked) as asked:
        qtbot.keyClick(tray, Qt.Key.Key_Delete)
    assert asked.args == ["b"]


def test_enter_goes_to_the_frame(qtbot, tray):
    tray.setCurrentRow(0)
    with qtbot.waitSignal(tray.frame_picked) as picked:
        qtbot.keyClick(tray, Qt.Key.Key_Return)
    assert picked.args == ["a"]


def test_a_frame_dropped_on_another_takes_its_place(qtbot, tray):
    tray.setCurrentRow(2)
    place = QPointF(tray.visualItemRect(tray.item(0)).center())
    move, left = Qt.DropAction.MoveAction, Qt.MouseButton.LeftButton
    with qtbot.waitSignal(tray.order_picked) as picked:
        tray.dropEvent(QDropEvent(place, move, QMimeData(), left, Qt.KeyboardModifier.NoModifier))
    assert picked.args == [("c", "a", "b")]


def test_the_current_frame_stays_current_in_another_order(tray):
    tray.setCurrentRow(0)
    picture = QImage(8, 8, QImage.Format.Format_RGB888)
    tray.show_frames(tuple(TrayFrame(key, picture, "", "") for key in "bca"))
    assert tray.current_key == "a"
