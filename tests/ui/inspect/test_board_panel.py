import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDockWidget

from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect import replay_commands
from spatialstudio.ui.inspect.board_panel import BoardPanel
from spatialstudio.ui.inspect.widgets.board_tray import BoardTray
from spatialstudio.ui.widgets.toast_cards import ToastKind
from spatialstudio.ui.window.workspaces import GALLERY


@pytest.fixture
def board(drawn):
    """The storyboard in sight, two steps pinned."""
    drawn.context.window_signals.workspace_asked.emit("inspect")
    drawn.findChild(QDockWidget, "storyboard").raise_()
    return drawn.panel(BoardPanel)


@pytest.fixture
def pin(qtbot, drawn, studio):
    """Pins steps by the command."""

    def pin_steps(*steps):
        for step in steps:
            before = len(studio.storyboard.frames)
            studio.session.pick_step(step)
            drawn.context.actions[replay_commands.PIN_FRAME].trigger()
            assert len(studio.storyboard.frames) == before + 1

    return pin_steps


def steps(studio):
    return [each.step for each in studio.storyboard.frames]


def test_steps_are_pinned_in_order_and_every_change_can_be_undone(qtbot, drawn, board, pin, studio):
    actions, tray = drawn.context.actions, board.findChild(BoardTray)
    assert not actions[replay_commands.EXPORT_BOARD].isEnabled()  # it is empty
    assert actions[replay_commands.PIN_FRAME].isEnabled()
    pin(1, 4)
    qtbot.waitUntil(lambda: tray.count() == 2)
    assert tray.item(1).text() == "Step 5 of 6, seed " + str(
        studio.session.run.request.sampling.seed
    )
    qtbot.keyClick(tray, Qt.Key.Key_Left, Qt.KeyboardModifier.ControlModifier)
    assert steps(studio) == [4, 1]
    qtbot.waitUntil(lambda: tray.keys[0] == studio.storyboard.frames[0].id)
    qtbot.keyClick(tray, Qt.Key.Key_Delete)
    assert steps(studio) == [1]
    for expected in ([4, 1], [1, 4], [1], []):
        actions[framework_commands.UNDO].trigger()
        assert steps(studio) == expected


def test_a_frame_leads_back_to_its_step(qtbot, board, pin, studio):
    pin(2)
    studio.session.pick_step(0)
    tray = board.findChild(BoardTray)
    qtbot.waitUntil(lambda: tray.count() == 1)
    qtbot.keyClick(tray, Qt.Key.Key_Return)
    assert studio.session.step == 2


def test_the_storyboard_is_exported_in_the_background(qtbot, board, pin, tmp_path):
    pin(1, 4)
    for path in (tmp_path / "board.svg", tmp_path / "board.csv"):
        board.export_to(path)
        qtbot.waitUntil(path.exists)
    with qtbot.waitSignal(board.problem_met):
        board.export_to(tmp_path / "board.doc")


def test_a_failed_write_is_reported_once_with_an_open_gallery(qtbot, drawn, board, pin, tmp_path):
    drawn.use_workspace(GALLERY)
    pin(0)
    with qtbot.waitSignal(board.problem_met):
        board.export_to(tmp_path / "board.doc")
    problems = [t for t in drawn.context.toasts.earlier if t.kind is ToastKind.PROBLEM]
    assert len(problems) == 1
