import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt

from spatialstudio.ui.appearance import palette_of
from spatialstudio.ui.widgets.pos_chart import PosChart, spread
from spatialstudio.ui.widgets.pos_curve import PosCurve
from spatialstudio.ui.window_settings import ThemeChoice

GUIDED = PosCurve("dog to the left of car", 0, tuple((step, step / 10) for step in range(11)))
BASELINE = PosCurve("dog to the left of car", 0, ((0, 0.4), (10, 0.4)), is_baseline=True)


@pytest.fixture
def chart(qtbot, theme):
    chart = PosChart(theme)
    qtbot.addWidget(chart)
    chart.resize(500, 160)
    chart.show_curves((BASELINE, GUIDED), (0, 1, 2), 11)
    chart.show()
    return chart


def test_a_click_picks_the_step_under_it(qtbot, chart):
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(chart.width() // 2, 80))
    assert 4 <= picked.args[0] <= 6


def test_dragging_to_the_edge_picks_the_last_step(qtbot, chart):
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, pos=QPoint(100, 80))
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.mouseMove(chart, QPoint(chart.width() - 2, 80))
    assert picked.args == [10]


def test_showing_a_step_does_not_echo_it(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        chart.show_step(3)


def test_the_values_can_be_heard(chart):
    chart.show_step(10)
    said = chart.accessibleDescription()
    assert "guided: 1.00" in said
    assert "baseline: 0.40" in said


def colours_of(chart):
    image = chart.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def test_the_curve_is_drawn_in_its_subjects_hue(chart, theme):
    assert theme.mention(0).name() in colours_of(chart)


def test_the_curve_follows_the_theme(chart, theme):
    light = theme.mention(0).name()
    theme.use(palette_of(ThemeChoice.DARK))
    seen = colours_of(chart)
    assert theme.mention(0).name() in seen
    assert light not in seen


def test_curves_that_are_gone_leave_no_line(chart, theme):
    chart.show_curves((), (), 11)
    assert theme.mention(0).name() not in colours_of(chart)


@pytest.mark.parametrize("button", [Qt.MouseButton.LeftButton, Qt.MouseButton.RightButton])
def test_dragging_moves_the_playhead_and_never_the_field(qtbot, chart, button):
    chart.show_step(0)
    before = chart.grab().toImage()
    qtbot.mousePress(chart, button, pos=QPoint(250, 80))
    qtbot.mouseMove(chart, QPoint(400, 20))
    qtbot.mouseRelease(chart, button, pos=QPoint(400, 20))
    chart.show_step(0)
    assert chart.grab().toImage() == before


@pytest.mark.parametrize(
    ("wanted", "placed"),
    [
        ([], []),
        ([0.2, 0.8], [0.2, 0.8]),
        ([0.5, 0.5], [0.5, 0.7]),
        ([-0.3, 0.0], [0.0, 0.2]),
        ([1.0, 1.0, 1.2], [0.6, 0.8, 1.0]),
        ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
    ],
    ids=["none", "far apart", "one place", "too low", "too high", "no room to spare"],
)
def test_labels_stand_apart_and_within_their_bounds(wanted, placed):
    assert spread(np.array(wanted), 0.2, 0.0, 1.0) == pytest.approx(np.array(placed))


def test_an_empty_chart_picks_nothing(qtbot, chart):
    chart.show_curves((), (), 0)
    with qtbot.assertNotEmitted(chart.step_picked):
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(200, 80))
