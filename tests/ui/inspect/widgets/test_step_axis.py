import pyqtgraph as pg
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtWidgets import QGraphicsScene

from spatialstudio.ui.inspect.widgets.step_axis import StepAxis, step_ticks
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.plot_range import PlotRange


@pytest.fixture
def axis(qtbot):
    scene, box = QGraphicsScene(), pg.ViewBox()
    scene.addItem(box)
    axis = StepAxis(scene, box)
    axis.place(QRectF(0, 0, em(30), em(1)), em(1))
    return axis, scene


def test_equal_labels_are_set_once(axis, monkeypatch):
    made, shown = axis[0], []
    monkeypatch.setattr(made, "setTicks", shown.append)
    for last in (3, 3, 4):
        made.show_steps(PlotRange(high=last), last + 1)
    assert shown == [
        [[(step, str(step + 1)) for step in range(4)]],
        [[(step, str(step + 1)) for step in range(5)]],
    ]


def test_a_narrow_axis_has_few_labels(axis, monkeypatch):
    made, shown = axis[0], []
    monkeypatch.setattr(made, "setTicks", shown.append)
    made.place(QRectF(0, 0, em(4), em(1)), em(1))
    made.show_steps(PlotRange(high=49), 50)
    assert shown == [[[(0, "1"), (49, "50")]]]


@pytest.mark.parametrize("count", [0, 1])
def test_an_axis_without_an_interval_names_each_step(count):
    assert step_ticks(PlotRange(high=1), count) == tuple(range(count))


def test_few_steps_are_all_named():
    assert step_ticks(PlotRange(high=4), 5) == (0, 1, 2, 3, 4)


def test_many_steps_are_named_evenly():
    assert step_ticks(PlotRange(high=49), 50) == (0, 6, 12, 18, 24, 30, 36, 42, 49)


def test_fewer_steps_are_named_where_there_is_little_room():
    assert step_ticks(PlotRange(high=49), 50, most=2) == (0, 49)


def test_only_steps_in_view_are_named():
    assert step_ticks(PlotRange(high=20, start=4.5, span=5), 21) == (5, 6, 7, 8, 9)
