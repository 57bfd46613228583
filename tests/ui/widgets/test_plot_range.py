import pytest

from spatialstudio.ui.widgets.plot_range import PlotRange


@pytest.fixture
def whole():
    """Steps 0 to 20."""
    return PlotRange(low=0, high=20, least=3)


@pytest.fixture
def near():
    return PlotRange(low=0, high=20, least=3, start=5, span=5)


def test_zooming_keeps_the_place_under_the_pointer(whole):
    zoomed = whole.zoomed(0.5, 15)
    assert zoomed.length == 10
    assert (15 - zoomed.first) / zoomed.length == pytest.approx(15 / 20)


def test_zooming_out_shows_all_again(whole):
    zoomed = whole.zoomed(0.5, 10)
    assert zoomed.is_zoomed
    assert zoomed.zoomed(2.0, 2) == whole


def test_zooming_never_leaves_the_data(whole):
    assert whole.zoomed(0.25, 0).first == 0
    assert whole.zoomed(0.25, 20).last == 20


def test_a_least_stretch_stays_in_view(whole):
    zoomed = whole
    for _ in range(20):
        zoomed = zoomed.zoomed(0.5, 10)
    assert zoomed.length == 3


@pytest.mark.parametrize(("place", "first"), [(2, 2), (7, 5), (18, 13)])
def test_a_place_out_of_view_moves_the_range_as_little_as_needed(near, place, first):
    assert near.showing(place).first == first


@pytest.mark.parametrize(("by", "first"), [(2, 7), (-2, 3), (-9, 0), (40, 15)])
def test_panning_stops_where_the_data_ends(near, by, first):
    assert near.panned(by).first == first


def test_what_is_not_zoomed_cannot_be_panned(whole):
    assert whole.panned(3) == whole
