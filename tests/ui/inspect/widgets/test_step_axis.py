import pytest

from spatialstudio.ui.inspect.widgets.step_axis import StepAxis


@pytest.fixture
def axis():
    """Steps 0 to 20 over 200 pixels, from pixel 10."""
    return StepAxis(count=21, left=10, width=200)


@pytest.mark.parametrize(("x", "step"), [(10, 0), (210, 20), (114, 10), (-50, 0), (900, 20)])
def test_a_place_belongs_to_the_nearest_step(axis, x, step):
    assert axis.step_at(x) == step


def test_zooming_keeps_the_place_under_the_pointer(axis):
    assert axis.zoomed(0.5, 110).x_of(10) == pytest.approx(110)


def test_zooming_out_shows_all_again(axis):
    near = axis.zoomed(0.5, 110)
    assert near.is_zoomed
    assert near.zoomed(2.0, 30) == axis


def test_zooming_never_leaves_the_steps(axis):
    assert axis.zoomed(0.25, 10).start == 0
    assert axis.zoomed(0.25, 210).start == 15


def test_a_few_steps_stay_in_sight(axis):
    near = axis
    for _ in range(20):
        near = near.zoomed(0.5, 110)
    assert near.in_sight == 3


@pytest.mark.parametrize(("step", "start"), [(2, 2), (7, 5), (18, 13)])
def test_a_step_out_of_sight_moves_the_axis_as_little_as_needed(axis, step, start):
    near = StepAxis(count=21, left=10, width=200, start=5, span=5)
    assert near.showing(step).start == start


def test_few_steps_are_all_named():
    assert StepAxis(count=5).ticks() == (0, 1, 2, 3, 4)


def test_many_steps_are_named_evenly():
    assert StepAxis(count=50).ticks() == (0, 6, 12, 18, 24, 30, 36, 42, 48)


def test_only_steps_in_sight_are_named(axis):
    near = StepAxis(count=21, start=4.5, span=5)
    assert near.ticks() == (5, 6, 7, 8, 9)
