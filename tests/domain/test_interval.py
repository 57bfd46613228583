from math import nan

from spatialstudio.domain.interval import Interval, IntervalMethod, no_interval


def test_an_interval_reads_as_a_figure_with_its_bounds():
    found = Interval(value=0.6316, low=0.5, high=0.75, n=20, method=IntervalMethod.T)
    assert found.text == "0.632 [0.5, 0.75]"


def test_a_figure_without_bounds_stands_alone():
    found = Interval(value=0.5, low=nan, high=nan, n=1, method=IntervalMethod.T)
    assert found.text == "0.5"


def test_no_values_have_a_dash():
    assert no_interval(IntervalMethod.T, missing=3).text == "-"


def test_a_rounding_error_is_shown_as_zero():
    found = Interval(value=1.7e-17, low=-0.3, high=0.3, n=9, method=IntervalMethod.BOOTSTRAP)
    assert found.text == "0.000 [-0.3, 0.3]"
