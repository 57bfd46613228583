"""One tile is current, others may be chosen with it, and both outlive other tiles."""

import pytest

from spatialstudio.ui.gallery.widgets.run_grid import GridSelection

KEYS = (10, 20, 30, 40, 50)


@pytest.fixture
def selection():
    selection = GridSelection()
    selection.pick(20)
    return selection


def test_picking_one_lets_go_of_the_others(selection):
    selection.pick(40)
    assert (selection.current, selection.chosen) == (40, {40})


def test_extending_a_selection_starts_at_its_anchor(selection):
    selection.stretch(KEYS, 40)
    selection.stretch(KEYS, 10)
    assert (selection.current, selection.chosen) == (10, {10, 20})


def test_toggling_adds_and_takes_away(selection):
    selection.toggle(40)
    selection.toggle(20)
    assert (selection.current, selection.chosen) == (20, {40})


def test_what_is_there_stays_chosen(selection):
    assert not selection.keep((20, 30), 30)
    assert selection.current == 20


def test_when_the_current_one_goes_its_neighbour_is_current(selection):
    assert selection.keep((10, 30), 30)
    assert (selection.current, selection.chosen) == (30, {30})


def test_with_nothing_left_nothing_is_chosen(selection):
    selection.keep((), None)
    assert (selection.current, selection.chosen) == (None, frozenset())
