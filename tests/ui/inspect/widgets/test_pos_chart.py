from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QGraphicsSimpleTextItem

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.plot_saving import write_plot
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.inspect.widgets.pos_chart import PosChart
from spatialstudio.ui.inspect.widgets.pos_curve import (
    GuidanceMark,
    Lanes,
    PosCurve,
    TimeContents,
    TimeLine,
)
from spatialstudio.ui.inspect.widgets.pos_lanes import DOT_EM, PAD_EM, spread, stretches
from spatialstudio.ui.theme.theme import em
from tests.ui.pdf_text import pdf_characters

NAME = "dog to the left of car"
MIDDLE = 5
HEIGHT = 40
SHIFT = Qt.KeyboardModifier.ShiftModifier
CONTENTS = TimeContents(
    first=TimeLine(
        name="Guided",
        curves=(
            PosCurve(NAME, 0, tuple((s, s / 10) for s in range(11)), bounds=((3, 0.25, 0.35),)),
        ),
        marks=(
            GuidanceMark(step=0, loss=0.9, step_size=5.0, passes=2, clipped=1),
            GuidanceMark(step=1, loss=None, step_size=None, passes=0),
        ),
        goal=0.9,
    ),
    second=TimeLine(name="Baseline", curves=(PosCurve(NAME, 1, ((0, 0.4), (10, 0.4))),)),
    differences=(PosCurve(NAME, 2, ((0, -0.4), (10, 0.6))),),
    step_count=11,
)


@pytest.fixture
def chart(qtbot, theme):
    chart = PosChart(theme)
    qtbot.addWidget(chart)
    chart.resize(500, 220)
    chart.show_contents(CONTENTS)
    chart.show()
    return chart


def test_its_digits_can_be_extracted_from_a_pdf(bundled_font, chart):
    assert set("01.") <= pdf_characters(chart.contents("pdf"))


def legend_of(chart):
    return [*chart.keys()]


def test_the_legend_names_curves_goal_and_shaded_areas(chart):
    assert [(key.name, key.is_area) for key in legend_of(chart)] == [
        (NAME, False),
        ("Baseline", False),
        ("goal 0.9", False),
        ("guided steps", True),
        ("strict to inclusive PoS", True),
    ]


def test_the_second_run_has_the_colour_of_its_curves_in_the_legend(chart, theme):
    def colour_of_second():
        return next(key.colour for key in legend_of(chart) if key.name == "Baseline")

    assert colour_of_second() == theme.mention(1)
    curves = (*CONTENTS.second.curves, PosCurve(NAME, 2, ((0, 0.4), (10, 0.4))))
    chart.show_contents(replace(CONTENTS, second=replace(CONTENTS.second, curves=curves)))
    assert colour_of_second() == theme.colour("muted")


def test_a_lane_shows_the_guidance_of_its_own_run(chart, monkeypatch):
    goals = []
    monkeypatch.setattr(chart._lower, "show_levels", lambda _high, goal: goals.append(goal))
    chart.show_lanes(Lanes.APART)
    assert chart._upper._guided_steps == (0,)
    assert chart._lower._guided_steps == ()
    marks = (GuidanceMark(step=2, loss=0.5, step_size=1.0, passes=1),)
    guided = replace(CONTENTS.second, marks=marks, goal=0.8)
    chart.show_contents(replace(CONTENTS, second=guided))
    assert chart._lower._guided_steps == (2,)
    assert goals == [None, 0.8]
    assert [key.name for key in legend_of(chart) if "goal" in key.name] == ["goal 0.9", "goal 0.8"]


def test_the_legend_names_only_areas_that_are_drawn(chart):
    curve = PosCurve(NAME, 0, ((0, 0.4), (10, 0.4)))
    chart.show_contents(TimeContents(first=TimeLine(name="", curves=(curve,)), step_count=11))
    assert [key.name for key in legend_of(chart)] == [NAME]


def test_the_labels_left_of_the_chart_are_not_clipped(chart):
    items = [i for i in chart.surface.scene().items() if isinstance(i, QGraphicsSimpleTextItem)]
    named = {item.text(): item.sceneBoundingRect().left() for item in items if item.isVisible()}
    assert named.keys() >= {"loss", "step size", "step"}
    assert min(named.values()) >= 0


def test_a_saved_chart_is_light_in_the_dark_theme(chart, theme, tmp_path):
    write_plot(chart, tmp_path / "light.svg")
    theme.use(palette_of(ThemeChoice.DARK))
    write_plot(chart, tmp_path / "dark.svg")
    assert (tmp_path / "dark.svg").read_bytes() == (tmp_path / "light.svg").read_bytes()


def over(chart, step, height=HEIGHT):
    """Return a place over a step."""
    return QPoint(chart.position_of(step).x(), height)


def turn(chart, notches, keys=Qt.KeyboardModifier.NoModifier):
    """Turn the wheel over the middle; positive is away from the hand."""
    there = QPointF(over(chart, MIDDLE))
    event = QWheelEvent(
        there,
        chart.mapToGlobal(there),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(chart, event)


def drag(qtbot, chart, start, stop, keys=Qt.KeyboardModifier.NoModifier):
    qtbot.mousePress(chart, Qt.MouseButton.LeftButton, keys, start)
    held = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(stop),
        chart.mapToGlobal(QPointF(stop)),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        keys,
    )
    QApplication.sendEvent(chart, held)
    qtbot.mouseRelease(chart, Qt.MouseButton.LeftButton, keys, stop)


def colours_of(chart):
    image = chart.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def written(chart):
    """Return the values that stand beside the dots, lowest first."""
    texts = (each for each in chart.surface.scene().items() if hasattr(each, "text"))
    values = [each.text() for each in texts if each.isVisible() and each.text()[:1].isdigit()]
    return sorted(values)


def test_a_click_picks_the_step_under_it(qtbot, chart):
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=over(chart, MIDDLE))
    assert picked.args == [MIDDLE]


def test_a_click_on_what_guidance_did_jumps_there(qtbot, chart):
    chart.show_step(7)
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=over(chart, 0, 180))
    assert picked.args == [0]


def test_dragging_to_the_edge_picks_the_last_step(qtbot, chart):
    with qtbot.waitSignal(chart.step_picked, check_params_cb=lambda step: step == 10):
        drag(qtbot, chart, over(chart, 1), QPoint(chart.width() - 2, HEIGHT))


def test_showing_a_step_does_not_echo_it(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        chart.show_step(3)


@pytest.mark.parametrize(("notches", "step"), [(-1, 6), (1, 4)], ids=["down", "up"])
def test_the_wheel_goes_one_step(qtbot, chart, notches, step):
    chart.show_step(5)
    with qtbot.waitSignal(chart.step_picked) as picked:
        turn(chart, notches)
    assert picked.args == [step]


def test_the_wheel_stops_at_the_ends(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        turn(chart, 1)


def test_control_and_the_wheel_zoom_and_keep_the_step(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        turn(chart, 2, keys=Qt.KeyboardModifier.ControlModifier)
    assert chart.is_zoomed
    chart.show_all()
    assert not chart.is_zoomed


def test_a_zoomed_chart_follows_the_playhead(qtbot, chart):
    chart.zoom(0.3)
    chart.show_step(10)
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=over(chart, 7))
    assert picked.args == [7]
    assert over(chart, 7).x() < over(chart, 7.5).x() < chart.width() / 2


def test_shift_and_drag_brush_a_range_and_leave_the_playhead(qtbot, chart):
    brushed = []
    chart.span_picked.connect(brushed.append)
    with qtbot.assertNotEmitted(chart.step_picked):
        drag(qtbot, chart, over(chart, 8), over(chart, 2), SHIFT)
    assert brushed[-1] == (2, 8)


def test_a_range_of_one_step_is_none(qtbot, chart):
    brushed = []
    chart.span_picked.connect(brushed.append)
    qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, SHIFT, over(chart, MIDDLE))
    assert brushed[-1] is None


def test_the_values_can_be_heard(chart):
    chart.show_step(10)
    said = chart.accessibleDescription()
    assert f"{NAME}, Guided: 1.00" in said
    assert f"{NAME}, Baseline: 0.40" in said


def test_the_values_at_the_playhead_are_shown_next_to_it(chart):
    chart.show_step(10)
    assert written(chart) == ["0.40", "1.00"]
    chart.show_step(3)
    assert written(chart) == ["0.30"]


def test_another_runs_values_replace_those_at_the_playhead(chart):
    chart.show_step(3)
    curve = PosCurve(NAME, 0, tuple((step, 0.75) for step in range(11)))
    chart.show_contents(TimeContents(first=TimeLine(name="", curves=(curve,)), step_count=11))
    assert written(chart) == ["0.75"]


def test_an_arrow_moves_the_playhead_by_a_step(qtbot, chart):
    chart.show_step(5)
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.keyClick(chart, Qt.Key.Key_Right)
    assert picked.args == [6]
    with qtbot.waitSignal(chart.step_picked) as picked:
        qtbot.keyClick(chart, Qt.Key.Key_Left)
    assert picked.args == [5]


def test_an_arrow_stops_at_the_first_step(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        qtbot.keyClick(chart, Qt.Key.Key_Left)


def test_the_pointer_reads_the_numbers_of_a_step_without_picking_it(qtbot, chart):
    with qtbot.assertNotEmitted(chart.step_picked):
        qtbot.mouseMove(chart, over(chart, 3))
    assert chart.place == 3
    assert f"{NAME}, Guided: 0.30" in chart.text_at(chart.place)


def test_where_ties_matter_the_variants_are_named(chart):
    chart.show_step(3)
    assert "0.30 (strict 0.25, inclusive 0.35)" in chart.accessibleDescription()


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (
            0,
            "refinement passes: 2, updates clipped to the gradient limit: 1",
        ),
        (1, "Guidance paused"),
    ],
    ids=["acted", "rested"],
)
def test_what_guidance_did_can_be_heard(chart, step, told):
    chart.show_step(step + 5)
    chart.show_step(step)
    assert told in chart.accessibleDescription()


@pytest.mark.parametrize(
    ("lanes", "shows_difference"),
    [(Lanes.TOGETHER, False), (Lanes.APART, False), (Lanes.DIFFERENCE, True)],
    ids=lambda each: getattr(each, "value", ""),
)
def test_the_difference_has_a_separate_plot(chart, theme, lanes, shows_difference):
    chart.show_lanes(lanes)
    assert (theme.mention(2).name() in colours_of(chart)) is shows_difference


def test_the_curve_follows_the_theme(chart, theme):
    light = theme.mention(0).name()
    assert light in colours_of(chart)
    theme.use(palette_of(ThemeChoice.DARK))
    seen = colours_of(chart)
    assert theme.mention(0).name() in seen
    assert light not in seen


def test_no_line_strikes_a_figure_out(chart, theme):
    """Of the curve that runs on behind the figure, nothing but a breath is left there."""
    level = PosCurve(NAME, 0, tuple((step, 1.0) for step in range(11)))
    chart.show_contents(TimeContents(first=TimeLine(name="", curves=(level,)), step_count=11))
    chart.show_step(5)
    image, curve = chart.grab().toImage(), theme.mention(0).name()
    y = chart.surface.y() + round(chart.rows[0].area.top())
    after_the_dot = round(over(chart, 5).x() + em(DOT_EM) / 2 + em(PAD_EM) + 2)
    figure = range(after_the_dot, after_the_dot + em(1))
    beyond = range(after_the_dot + em(3), after_the_dot + em(4))
    assert curve in {image.pixelColor(x, y).name() for x in beyond}
    assert curve not in {image.pixelColor(x, y).name() for x in figure}


def test_curves_that_are_gone_leave_no_line(chart, theme):
    chart.show_contents(TimeContents(step_count=11))
    assert theme.mention(0).name() not in colours_of(chart)


def test_an_empty_chart_picks_nothing(qtbot, chart):
    chart.show_contents(TimeContents())
    with qtbot.assertNotEmitted(chart.step_picked):
        qtbot.mouseClick(chart, Qt.MouseButton.LeftButton, pos=QPoint(250, HEIGHT))


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


def test_guided_steps_are_shaded_in_stretches():
    assert stretches((0, 1, 2, 5, 7, 8)) == [(0, 2), (5, 5), (7, 8)]
    assert stretches(()) == []


def test_the_table_has_a_row_for_each_step(chart):
    table = chart.table()
    assert table.columns == (
        "step",
        f"{NAME}, Guided",
        f"{NAME}, Baseline",
        "loss",
        "step size",
        "passes",
        "clipped",
    )
    assert table.rows[0] == (1, 0.0, 0.4, 0.9, 5.0, 2, 1)
    assert table.rows[1] == (2, 0.1, None, None, None, 0, 0)
    assert len(table.rows) == 11
