import pytest
from PySide6.QtCore import QPoint, Qt

from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber


@pytest.fixture
def scrubber(qtbot):
    widget = StepScrubber()
    qtbot.addWidget(widget)
    widget.set_step_count(50)
    return widget


def test_the_user_picks_a_step(qtbot, scrubber):
    with qtbot.waitSignal(scrubber.step_picked) as picked:
        qtbot.keyClick(scrubber, Qt.Key.Key_Right)
    assert picked.args == [1]


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_click_goes_to_the_step_under_it(qtbot, scrubber, share):
    scrubber.resize(600, scrubber.sizeHint().height())
    at = QPoint(round(share * scrubber.width()), scrubber.height() // 2)
    qtbot.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=at)
    assert scrubber.value() == pytest.approx(49 * share, abs=1.5)


HANDLE = 14
STYLE = f"""QSlider::groove:horizontal {{ height: 4px; border-radius: 2px; }}
QSlider::handle:horizontal {{ border: 2px solid; width: {HANDLE - 4}px; margin: -5px 0; }}"""


@pytest.mark.parametrize("count", [5, 21])
def test_no_click_goes_past_the_nearest_step(qtbot, scrubber, count):
    scrubber.setStyleSheet(STYLE)
    scrubber.set_step_count(count)
    scrubber.resize(600, 30)
    scrubber.show()
    for x in range(scrubber.width()):
        scrubber.show_step(0)
        qtbot.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(x, 15))
        exact = (count - 1) * (x - HANDLE / 2) / (scrubber.width() - HANDLE)
        assert abs(scrubber.value() - min(max(exact, 0), count - 1)) < 0.6, x


def test_shift_goes_five_steps(qtbot, scrubber):
    qtbot.keyClick(scrubber, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert scrubber.value() == 5


def test_showing_a_step_does_not_echo_it(qtbot, scrubber):
    with qtbot.assertNotEmitted(scrubber.step_picked):
        scrubber.show_step(20)
    assert scrubber.value() == 20


def test_space_asks_to_play(qtbot, scrubber):
    with qtbot.waitSignal(scrubber.play_asked):
        qtbot.keyClick(scrubber, Qt.Key.Key_Space)


def test_without_steps_there_is_nothing_to_pick(scrubber):
    scrubber.set_step_count(0)
    assert not scrubber.isEnabled()
