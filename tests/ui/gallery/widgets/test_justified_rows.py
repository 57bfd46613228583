"""Rows are as wide as they shall be, and every tile is found where it lies."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.ui.gallery.widgets.justified_rows import RowSizes, justify

SIZES = RowSizes(width=500, height=100, caption=20, gap=10, heading=30)


def test_a_full_row_is_exactly_as_wide_as_all():
    rows = justify([1.0] * 5, [0], SIZES)
    places = rows.places(0)
    assert places[-1].right() == pytest.approx(500, abs=1)
    assert len(places) == 5


def test_a_row_that_is_not_full_keeps_the_usual_height():
    rows = justify([1.0, 1.0], [0], SIZES)
    assert [place.height() for place in rows.places(0)] == [100, 100]


def test_every_section_begins_a_row_under_its_heading():
    rows = justify([1.0, 1.0, 1.0], [0, 2], SIZES)
    assert rows.headings == (0, 160)
    assert [row.start for row in rows.rows] == [0, 2]
    assert rows.rows[1].top == 190


def test_a_strip_does_not_fill_a_row_alone():
    rows = justify([40.0, 1.0], [0], SIZES)
    assert rows.rows[0].stop == 2


def test_nothing_has_no_rows():
    rows = justify([], [], SIZES)
    assert (rows.rows, rows.height) == ((), 0)


def test_going_down_lands_on_the_nearest_tile():
    rows = justify([1.0] * 12, [0], SIZES)
    assert rows.above_or_below(1, 1) == 6
    assert rows.above_or_below(6, -1) == 1
    assert rows.above_or_below(1, -3) == 1


def test_between_tiles_there_is_none():
    rows = justify([1.0] * 3, [0], SIZES)
    assert rows.tile_at(105, 50) is None
    assert rows.tile_at(50, 10) is None


@given(st.lists(st.floats(0.2, 4.0), min_size=1, max_size=60))
def test_every_tile_is_found_where_it_lies(ratios):
    rows = justify(ratios, [0], SIZES)
    for tile in range(len(ratios)):
        place = rows.place(tile)
        assert rows.tile_at(place.center().x(), place.center().y()) == tile
        assert place.right() <= SIZES.width + 1 or rows.rows[rows.row_of(tile)].height == 100
