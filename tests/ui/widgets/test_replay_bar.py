import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from spatialstudio.ui.widgets.replay_bar import ReplayBar


@pytest.fixture
def replay(qtbot, theme):
    bar = ReplayBar(theme)
    qtbot.addWidget(bar)
    bar.set_step_count(4)
    bar.show()
    return bar


def test_playing_goes_through_all_steps_and_stops(qtbot, replay):
    picked = []
    replay.step_picked.connect(picked.append)
    qtbot.mouseClick(replay.findChild(QToolButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not replay.is_playing)
    assert picked == [1, 2, 3]


def test_playing_from_the_end_starts_over(qtbot, replay):
    replay.show_step(3, "Step 4 of 4")
    with qtbot.waitSignal(replay.step_picked) as picked:
        replay.toggle_play()
    assert picked.args == [0]
    replay.toggle_play()


def test_the_step_is_called_by_name(replay):
    replay.show_step(2, "Step 3 of 4")
    assert replay.findChild(QLabel).text() == "Step 3 of 4"


def test_live_is_offered_only_when_asked_for(qtbot, replay):
    live = replay.findChild(QPushButton)
    assert not live.isVisible()
    replay.show_live(offered=True)
    with qtbot.waitSignal(replay.live_asked):
        qtbot.mouseClick(live, Qt.MouseButton.LeftButton)


def test_without_steps_it_is_off(replay):
    replay.set_step_count(0)
    assert not replay.findChild(QToolButton).isEnabled()
