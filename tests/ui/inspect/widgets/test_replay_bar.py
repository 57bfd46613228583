import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QSpinBox, QToolButton

from spatialstudio.ui.inspect.widgets.replay_bar import (
    FASTEST,
    PlayMode,
    ReplayBar,
    StepScrubber,
)

LAST = 3


@pytest.fixture
def replay(qtbot, theme):
    """A bar over four steps that plays as fast as it can."""
    bar = ReplayBar(theme)
    qtbot.addWidget(bar)
    bar.set_step_count(LAST + 1)
    bar.use_speed(FASTEST)
    bar.show()
    return bar


@pytest.fixture
def picked(replay):
    """The steps picked so far."""
    steps = []
    replay.step_picked.connect(steps.append)
    return steps


def button(bar, name):
    return next(each for each in bar.findChildren(QToolButton) if each.accessibleName() == name)


def test_playing_goes_through_all_steps_and_stops(qtbot, replay, picked):
    qtbot.mouseClick(button(replay, "Play the steps"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not replay.is_playing)
    assert picked == [1, 2, 3]


def test_playing_from_the_end_starts_over(qtbot, replay):
    replay.show_step(LAST, "Step 4 of 4")
    with qtbot.waitSignal(replay.step_picked) as picked:
        replay.toggle_play()
    assert picked.args == [0]
    replay.toggle_play()


def test_again_and_again_begins_anew_after_the_last(qtbot, replay, picked):
    qtbot.mouseClick(button(replay, "Loop"), Qt.MouseButton.LeftButton)
    qtbot.keyClick(replay.findChild(StepScrubber), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(picked) >= 6)
    replay.toggle_play()
    assert picked[:6] == [1, 2, 3, 0, 1, 2]


def test_back_and_forth_turns_at_both_ends(qtbot, replay, picked):
    qtbot.mouseClick(button(replay, "Play back and forth"), Qt.MouseButton.LeftButton)
    replay.toggle_play()
    qtbot.waitUntil(lambda: len(picked) >= 8)
    replay.toggle_play()
    assert picked[:8] == [1, 2, 3, 2, 1, 0, 1, 2]


def test_one_way_of_playing_puts_the_other_out(qtbot, replay):
    qtbot.mouseClick(button(replay, "Loop"), Qt.MouseButton.LeftButton)
    with qtbot.waitSignal(replay.mode_picked) as picked:
        qtbot.mouseClick(button(replay, "Play back and forth"), Qt.MouseButton.LeftButton)
    assert picked.args == [PlayMode.PING_PONG]
    assert not button(replay, "Loop").isChecked()


def test_the_speed_is_chosen_by_key(qtbot, replay):
    field = replay.findChild(QSpinBox)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert replay.speed == FASTEST - 5


@pytest.mark.parametrize(("asked", "speed"), [(1, 5), (30, 30), (500, 60)])
def test_the_speed_has_bounds(replay, asked, speed):
    replay.use_speed(asked)
    assert replay.speed == speed


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
    assert not button(replay, "Play the steps").isEnabled()


def test_the_halves_stand_one_above_the_other_where_there_is_little_room(qtbot, theme):
    room, bar = QScrollArea(), ReplayBar(theme)
    qtbot.addWidget(room)
    room.setWidgetResizable(True)
    room.setWidget(bar)
    room.resize(900, 200)
    room.show()
    scrubber, play = bar.findChild(StepScrubber), button(bar, "Play the steps")
    qtbot.waitUntil(lambda: scrubber.x() > play.geometry().right())
    room.resize(bar.minimumSizeHint().width() + 10, 200)
    qtbot.waitUntil(lambda: scrubber.y() > play.geometry().bottom())
    assert scrubber.geometry().right() <= bar.width()
